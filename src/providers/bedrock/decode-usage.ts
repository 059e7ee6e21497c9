/**
 * Reads token counts. `inputTokens` excludes tokens that were read from or written to a cache, as our count does (user guide, "Prompt
 * caching").
 */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject, objectsIn } from '../../lib/json/json.ts'
import type { Target } from '../provider.ts'
import { partsOf, sideCount, reportedTotal } from '../token-count.ts'

type Json = Readonly<Record<string, unknown>>

/** `tier`: the member of the answer that names it. `details`: Claude's own, the only ones that count thinking apart from other output. */
export const decodeUsage = (usage: Json, tier: unknown, details?: unknown): Usage => {
  const input = reportedTotal(usage['inputTokens'], usage['cacheReadInputTokens'], usage['cacheWriteInputTokens'])
  const read = sideCount(usage['cacheReadInputTokens'])
  const written = sideCount(usage['cacheWriteInputTokens'])
  const output = reportedTotal(usage['outputTokens'])
  const thought = partsOf(output.tokens, [isObject(details) ? details['thinking_tokens'] : undefined])
  const [thinking = 0] = thought ?? []
  const kept = objectsIn(usage['cacheDetails'])
  const hours = kept.filter(({ ttl }) => ttl === '1h')
  const split = partsOf(
    written,
    hours.map(({ inputTokens }) => inputTokens),
  )
  // If the split is unknown, all writes count for an hour, which is the more expensive lifetime.
  const written1h = split === null ? written : split.reduce((sum, count) => sum + count, 0)
  const name = isObject(tier) ? tier['type'] : null
  return usageOf({
    inputFresh: input.tokens - read - written,
    inputCacheRead: read,
    inputCacheWrite5m: written - written1h,
    inputCacheWrite1h: written1h,
    unsplitWrites: Math.max(
      0,
      written -
        Math.max(
          written1h,
          kept.reduce((sum, { inputTokens }) => sum + sideCount(inputTokens), 0),
        ),
    ),
    output: output.tokens - thinking,
    outputReasoning: thinking,
    servedTier: typeof name === 'string' ? name : null,
    unreportedInput: input.unreported,
    unreportedOutput: output.unreported,
    estimated: split === null || thought === null,
  })
}

/**
 * In a stream, and only there, OpenAI's models include tokens that were read from or written to a cache in their input (measured in
 * Bifrost's issue 6942). Counts that could mean either are read in this way too: a whole answer to the same prompt has the lower count.
 */
export const streamedCounts = (usage: Json, { upstreamModel, modelId }: Pick<Target, 'upstreamModel' | 'modelId'>): Json => {
  if (!OPENAI.test(`${upstreamModel} ${modelId}`)) return usage
  const cached = sideCount(usage['cacheReadInputTokens']) + sideCount(usage['cacheWriteInputTokens'])
  const input = sideCount(usage['inputTokens'])
  return input < cached ? usage : { ...usage, inputTokens: input - cached }
}

const OPENAI = /\b(?:openai\.|gpt-)/
