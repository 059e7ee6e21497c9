import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { nanosOf } from '../../lib/money.ts'

/** The dialect's totals include what is cached and what is thinking; ours are disjoint. Senseless counts are zero. */
export const decodeUsage = (usage: Readonly<Record<string, unknown>>, webSearches: number): Usage => {
  const inputDetails = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
  const outputDetails = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const input = count(usage['input_tokens'])
  const cacheRead = Math.min(input, count(inputDetails['cached_tokens']))
  const cacheWrite = Math.min(input - cacheRead, count(inputDetails['cache_write_tokens']))
  const output = count(usage['output_tokens'])
  const reasoning = Math.min(output, count(outputDetails['reasoning_tokens']))
  const cost = usage['cost']
  return usageOf({
    inputFresh: input - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: cacheWrite,
    output: output - reasoning,
    outputReasoning: reasoning,
    inputAudio: count(inputDetails['audio_tokens']),
    outputAudio: count(outputDetails['audio_tokens']),
    outputImage: count(outputDetails['image_tokens']),
    webSearches,
    reportedCostNanos: typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? nanosOf(cost) : null,
  })
}

/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : 0
