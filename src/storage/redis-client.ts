/** A connection to Redis or Valkey, through the runtime's own client: one of the few files that may touch the runtime. */

export interface RedisClient {
  send(command: string, args: string[]): Promise<unknown>
  /** Every request that waits for an answer is refused. */
  close(): void
}

const CONNECT_MS = 1000

/** `url`: `redis://…`, `rediss://…`, `valkey://…`. It is connected again when that is asked for alone, and nothing waits in a queue for that. */
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
