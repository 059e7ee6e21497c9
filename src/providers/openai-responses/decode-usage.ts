import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json/json.ts'
import { reportedCost } from '../reported-cost.ts'
import { partsOf, reportedTotal } from '../token-count.ts'

/**
 * The dialect's totals include cached and reasoning tokens; our counts exclude each other. `servedTier`: the tier as the answer names it.
 */
export const decodeUsage = (usage: Readonly<Record<string, unknown>>, webSearches: number, servedTier: unknown = null): Usage => {
  const inputDetails = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
  const outputDetails = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const input = reportedTotal(usage['input_tokens'])
  const cached = partsOf(input.tokens, [inputDetails['cached_tokens'], inputDetails['cache_write_tokens']])
  const [cacheRead = 0, cacheWrite = 0] = cached ?? []
  const output = reportedTotal(usage['output_tokens'])
  const thinking = partsOf(output.tokens, [outputDetails['reasoning_tokens']])
  const [reasoning = 0] = thinking ?? []
  const heard = partsOf(input.tokens, [inputDetails['audio_tokens']])
  const made = partsOf(output.tokens, [outputDetails['audio_tokens'], outputDetails['image_tokens']])
  const [inputAudio = 0] = heard ?? []
  const [outputAudio = 0, outputImage = 0] = made ?? []
  return usageOf({
    inputFresh: input.tokens - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: cacheWrite,
    output: output.tokens - reasoning,
    outputReasoning: reasoning,
    inputAudio,
    outputAudio,
    outputImage,
    webSearches,
    reportedCostNanos: reportedCost(usage),
    servedTier: typeof servedTier === 'string' ? servedTier : null,
    unreportedInput: input.unreported,
    unreportedOutput: output.unreported,
    estimated: [cached, thinking, heard, made].includes(null),
  })
}
