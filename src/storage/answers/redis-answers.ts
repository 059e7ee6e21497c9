/**
 * Cached answers of all nodes in Redis or Valkey, which deletes them when they expire. While the server is away there are no cached
 * answers, and no request waits for it: after a while, the next request starts another attempt to connect.
 */
import type { Clock } from '../../lib/clock.ts'
import { inTime } from '../../lib/in-time.ts'
import { openRedis, type RedisClient, requireAllKeys } from '../redis-client.ts'
import type { AnswerStore } from './answer-store.ts'

export interface RedisAnswersParts {
  readonly url: string
  /** Begins every name, so that unrelated services may share a server. */
  readonly prefix: string
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
  /** A server that does not answer within this time counts as away. */
  readonly timeoutMs: () => number
  /** Called with the reason when the server goes away, and with null when it is back. */
  readonly onAway: (thrown: unknown) => void
}

const RETRY_MS = 1000
/** Connecting takes longer than an answer: it may need a DNS lookup and TLS. */
const CONNECT_MS = 2000

export const createRedisAnswers = ({ url, prefix, clock, timeoutMs, onAway }: RedisAnswersParts): AnswerStore => {
  let client: RedisClient | null = null
  let connecting: Promise<void> | null = null
  let retryMs = Number.NEGATIVE_INFINITY
  let isAway = false
  let isClosed = false

  const goneAway = (thrown: unknown): void => {
    client = null
    retryMs = clock.monotonicMs() + RETRY_MS
    if (!isAway) onAway(thrown)
    isAway = true
  }

  const open = async (): Promise<void> => {
    const opening = openRedis(url)
    try {
      const opened = await inTime(opening, CONNECT_MS, clock)
      await inTime(requireAllKeys(opened), timeoutMs(), clock)
      // A replica, or a server whose disk or memory is full, accepts connections and reads but no writes.
      await inTime(opened.send('SET', [`${prefix}written`, '', 'PX', '1']), timeoutMs(), clock)
      client = opened
      if (isClosed) client.close()
      if (isAway) onAway(null)
      isAway = false
    } catch (thrown) {
      // The connection may still open when it is no longer wanted, or be open but refuse writes.
      opening.then(
        (late) => late.close(),
        () => undefined,
      )
      goneAway(thrown)
    }
    connecting = null
  }

  const connect = (): Promise<void> => (connecting ??= open())

  /** Resolves to null while the server is away. */
  const send = async (command: string, args: string[]): Promise<unknown> => {
    const using = client
    if (using === null) {
      if (!isClosed && clock.monotonicMs() >= retryMs) void connect()
      return null
    }
    try {
      return await inTime(using.send(command, args), timeoutMs(), clock)
    } catch (thrown) {
      // Another caller may have noticed already. Everything else that waits on the connection fails with it.
      if (client === using && !isClosed) {
        goneAway(thrown)
        using.close()
      }
      return null
    }
  }

  return {
    async find(name) {
      const sealed = await send('GET', [prefix + name])
      return typeof sealed === 'string' ? sealed : null
    },
    keep(name, sealed, ttlMs) {
      void send('SET', [prefix + name, sealed, 'PX', String(ttlMs)])
    },
    drop(name) {
      void send('DEL', [prefix + name])
    },
    connect,
    close() {
      isClosed = true
      client?.close()
    },
  }
}
