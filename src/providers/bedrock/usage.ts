/** Counts of tokens. `inputTokens` leaves out what a cache was read or written for, as ours does (user guide, "Prompt caching"). */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { tokenCount } from '../token-count.ts'

/** Senseless counts are zero. Thinking is not told apart from the rest of the output. */
export const decodeUsage = (usage: Readonly<Record<string, unknown>>): Usage => {
  const details: unknown[] = Array.isArray(usage['cacheDetails']) ? usage['cacheDetails'] : []
  const told1h = details.reduce<number>(
    (sum, detail) => sum + (isObject(detail) && detail['ttl'] === '1h' ? tokenCount(detail['inputTokens']) : 0),
    0,
  )
  const written = tokenCount(usage['cacheWriteInputTokens'])
  const written1h = Math.min(told1h, written)
  return usageOf({
    inputFresh: tokenCount(usage['inputTokens']),
    inputCacheRead: tokenCount(usage['cacheReadInputTokens']),
    inputCacheWrite5m: written - written1h,
    inputCacheWrite1h: written1h,
    output: tokenCount(usage['outputTokens']),
  })
}
