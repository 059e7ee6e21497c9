/** Counts of tokens. `inputTokens` leaves out what a cache was read or written for, as ours does (user guide, "Prompt caching"). */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'

/** Senseless counts are zero. Thinking is not told apart from the rest of the output. */
export const decodeUsage = (usage: Readonly<Record<string, unknown>>): Usage => {
  const details: unknown[] = Array.isArray(usage['cacheDetails']) ? usage['cacheDetails'] : []
  const told1h = details.reduce<number>(
    (sum, detail) => sum + (isObject(detail) && detail['ttl'] === '1h' ? count(detail['inputTokens']) : 0),
    0,
  )
  const written = count(usage['cacheWriteInputTokens'])
  const written1h = Math.min(told1h, written)
  return usageOf({
    inputFresh: count(usage['inputTokens']),
    inputCacheRead: count(usage['cacheReadInputTokens']),
    inputCacheWrite5m: written - written1h,
    inputCacheWrite1h: written1h,
    output: count(usage['outputTokens']),
  })
}

/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : 0
