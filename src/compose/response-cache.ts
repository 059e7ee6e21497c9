/** The response cache, in the memory of this process or in the Redis that all processes share. */
import { createResponseCache, type ResponseCache } from '../inference/cache/response-cache.ts'
import type { Clock } from '../lib/clock.ts'
import type { AnswerStore } from '../storage/answers/answer-store.ts'
import { createMemoryAnswers } from '../storage/answers/memory-answers.ts'
import { createRedisAnswers } from '../storage/answers/redis-answers.ts'
import type { TextSeal } from '../storage/rows/seal.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Reloadable } from './reloadable.ts'

export interface RedisPlace {
  readonly url: string
  /** Begins all names of this service. */
  readonly prefix: string
}

const MEMORY_BYTES = 128 * 1024 * 1024

export interface ComposedResponseCache extends Pick<AnswerStore, 'connect' | 'close'> {
  readonly responseCache: ResponseCache
}

export const composeResponseCache = (parts: {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly reloadable: Reloadable
  readonly seal: TextSeal
  readonly secret: Uint8Array
  /** The Redis that stores the answers of all nodes; null if each node keeps its own. */
  readonly redis: RedisPlace | null
  readonly onError: (thrown: unknown, doing: string) => void
}): ComposedResponseCache => {
  const { clock, log, metrics, reloadable, seal, secret, redis, onError } = parts
  const memory = createMemoryAnswers(MEMORY_BYTES, clock)
  metrics.gauge('patchbay_response_cache_bytes', 'Bytes of kept answers in the memory of this process.', () => memory.bytes)
  const store =
    redis === null
      ? memory
      : createRedisAnswers({
          url: redis.url,
          prefix: `${redis.prefix}answer:`,
          clock,
          timeoutMs: () => reloadable.settings.storeTimeoutMs,
          onAway(thrown) {
            if (thrown === null) log.info({ store: 'Redis' }, 'answers are kept and found again')
            else log.warn({ store: 'Redis', error: thrown }, 'no answers are kept or found: every request is a miss')
          },
        })
  return { responseCache: createResponseCache({ store, seal, secret, clock, onError }), connect: store.connect, close: store.close }
}
