/** A connection to Redis or Valkey through the runtime's own client. This is one of the few files that may use the runtime directly. */
export interface RedisClient {
  send(command: string, args: string[]): Promise<unknown>
  /** Fails every request that waits for an answer. */
  close(): void
}

const CONNECT_MS = 1000

/**
 * `url` is `redis://…`, `rediss://…` or `valkey://…`. The client does not reconnect by itself,
 * and queues nothing while it is disconnected. Rejects with the reason if there is no connection.
 */
export const openRedis = async (url: string): Promise<RedisClient> => {
  const client = new Bun.RedisClient(url, { autoReconnect: false, enableOfflineQueue: false, connectionTimeout: CONNECT_MS })
  try {
    await client.connect()
    return client
  } catch (thrown) {
    client.close()
    throw new Error(await reasonFor(new URL(url)), { cause: thrown })
  }
}

/**
 * Rejects if the server has no keys or only a part of them: the client does not ask the primary that a Sentinel watches, nor the other
 * shards of a cluster, so that some keys would be counted and others not. Servers outside a cluster refuse the first question, and users
 * may lack the right to ask the second.
 */
export const requireAllKeys = async (client: RedisClient): Promise<void> => {
  const [info, role] = await Promise.all([client.send('CLUSTER', ['INFO']).catch(() => ''), client.send('ROLE', []).catch(() => null)])
  if (Array.isArray(role) && role[0] === 'sentinel') throw new Error(SENTINEL)
  if (Number(/^cluster_size:(\d+)/m.exec(String(info))?.[1] ?? 1) > 1) throw new Error(ONE_SHARD)
}

const SENTINEL = 'It is a Sentinel, which has no keys itself: give an address that follows the primary of Redis or Valkey.'

const ONE_SHARD = 'It is one of several shards of a cluster: give the address of a Redis or Valkey that has all keys.'

/** The client says of every failure that the connection was closed, so a plain connection shows which one it is. */
const reasonFor = async ({ hostname, port, host }: URL): Promise<string> => {
  const code = await new Promise<string | null>((resolve) => {
    const socket = process
      .getBuiltinModule('node:net')
      .connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port || DEFAULT_PORT), timeout: PROBE_MS })
    const end = (found: string | null): void => {
      socket.destroy()
      resolve(found)
    }
    socket.on('connect', () => end(null))
    socket.on('timeout', () => end('ETIMEDOUT'))
    socket.on('error', (thrown: NodeJS.ErrnoException) => end(thrown.code ?? thrown.message))
  })
  return code === null
    ? `${host} accepts connections, but not this client: check the user and the password in its URL, and rediss:// for a server with TLS, whose certificate must be signed by a public authority or by one in NODE_EXTRA_CA_CERTS.`
    : `${host} cannot be reached: ${code}.`
}

const DEFAULT_PORT = 6379
/** Nobody waits for the reason longer than this. */
const PROBE_MS = 200
