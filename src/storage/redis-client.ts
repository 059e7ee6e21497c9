/** A connection to Redis or Valkey through the runtime's own client. This is one of the few files that may use the runtime directly. */

export interface RedisClient {
  send(command: string, args: string[]): Promise<unknown>
  /** Fails every request that waits for an answer. */
  close(): void
}

const CONNECT_MS = 1000

/**
 * `url` is `redis://…`, `rediss://…` or `valkey://…`. The client does not reconnect by itself,
 * and queues nothing while it is disconnected.
 */
export const openRedis = async (url: string): Promise<RedisClient> => {
  const client = new Bun.RedisClient(url, { autoReconnect: false, enableOfflineQueue: false, connectionTimeout: CONNECT_MS })
  try {
    await client.connect()
    return client
  } catch (thrown) {
    client.close()
    throw thrown
  }
}
