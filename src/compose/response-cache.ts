/** The response cache, in the memory of this process or in the Redis of all of them. */
import { createResponseCache, type ResponseCache } from '../inference/cache/response-cache.ts'
import type { Clock } from '../lib/clock.ts'
import type { AnswerStore } from '../storage/answers/answer-store.ts'
import { createMemoryAnswers } from '../storage/answers/memory-answers.ts'
import type { TextSeal } from '../storage/sealed-config.ts'
import type { Metrics } from '../telemetry/metrics.ts'

const MEMORY_BYTES = 128 * 1024 * 1024

export const composeResponseCache = (parts: {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly seal: TextSeal
  readonly secret: Uint8Array
  /** Where the answers of all nodes lie; null: each keeps its own. */
  readonly shared: AnswerStore | null
  readonly onError: (thrown: unknown, doing: string) => void
}): ResponseCache => {
  const { clock, metrics, seal, secret, shared, onError } = parts
  const memory = createMemoryAnswers(MEMORY_BYTES, clock)
  metrics.gauge('patchbay_response_cache_bytes', 'Bytes of kept answers in the memory of this process.', () => memory.bytes)
  return createResponseCache({ store: shared ?? memory, seal, secret, clock, onError })
}
