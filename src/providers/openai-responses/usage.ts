import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { reportedNanos } from '../reported-cost.ts'
import { tokenCount } from '../token-count.ts'

/** The dialect's totals include what is cached and what is thinking; ours are disjoint. Senseless counts are zero. */
export const decodeUsage = (usage: Readonly<Record<string, unknown>>, webSearches: number): Usage => {
  const inputDetails = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
  const outputDetails = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const input = tokenCount(usage['input_tokens'])
  const cacheRead = Math.min(input, tokenCount(inputDetails['cached_tokens']))
  const cacheWrite = Math.min(input - cacheRead, tokenCount(inputDetails['cache_write_tokens']))
  const output = tokenCount(usage['output_tokens'])
  const reasoning = Math.min(output, tokenCount(outputDetails['reasoning_tokens']))
  return usageOf({
    inputFresh: input - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: cacheWrite,
    output: output - reasoning,
    outputReasoning: reasoning,
    inputAudio: tokenCount(inputDetails['audio_tokens']),
    outputAudio: tokenCount(outputDetails['audio_tokens']),
    outputImage: tokenCount(outputDetails['image_tokens']),
    webSearches,
    reportedCostNanos: reportedNanos(usage['cost']),
  })
}
