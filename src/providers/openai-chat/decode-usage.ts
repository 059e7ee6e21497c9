/** What an answer used, wherever a vendor says it and whichever way it adds up. */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { reportedNanos } from '../reported-cost.ts'
import { tokenCount } from '../token-count.ts'

type Json = Readonly<Record<string, unknown>>

/** Beside the choices, inside the choice (Moonshot), or in a field of the vendor's own (Groq); null where there is none. */
export const usageObject = (chunk: Json, choice: Json | undefined): Json | null => {
  if (isObject(chunk['usage'])) return chunk['usage']
  const groq = chunk['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const inChoice = choice?.['usage']
  return isObject(inChoice) ? inChoice : null
}

/** The dialect's totals include what is cached and what is reasoning; ours are disjoint. Senseless counts are zero. */
export const decodeUsage = (usage: Json): Usage => {
  const prompt = objectOf(usage['prompt_tokens_details'])
  const completion = objectOf(usage['completion_tokens_details'])
  const input = tokenCount(usage['prompt_tokens'])
  const cacheRead = Math.min(
    input,
    tokenCount(prompt['cached_tokens']) || tokenCount(usage['prompt_cache_hit_tokens']) || tokenCount(usage['cached_tokens']),
  )
  const cacheWrite = Math.min(
    input - cacheRead,
    tokenCount(prompt['cache_write_tokens']) || tokenCount(prompt['cache_creation_input_tokens']),
  )
  const completed = tokenCount(usage['completion_tokens'])
  const thought = tokenCount(completion['reasoning_tokens'])
  // xAI counts its reasoning beside the completion, and in the total only.
  const beside = thought > 0 && tokenCount(usage['total_tokens']) === input + completed + thought
  const output = beside ? completed + thought : completed
  const reasoning = Math.min(output, thought)
  const searches = objectOf(usage['server_tool_use_details'] ?? usage['server_tool_use'])
  return usageOf({
    inputFresh: input - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: cacheWrite,
    output: output - reasoning,
    outputReasoning: reasoning,
    inputAudio: tokenCount(prompt['audio_tokens']),
    outputAudio: tokenCount(completion['audio_tokens']),
    outputImage: tokenCount(completion['image_tokens']),
    webSearches: tokenCount(searches['web_search_requests']) || tokenCount(usage['num_search_queries']),
    reportedCostNanos: reportedCost(usage),
  })
}

/** In dollars (OpenRouter), in dollars by kind and in total (Perplexity), or in ticks, ten of which are a nano-dollar (xAI). */
const reportedCost = (usage: Json): number | null => {
  const told = isObject(usage['cost']) ? usage['cost']['total_cost'] : usage['cost']
  const ticks = usage['cost_in_usd_ticks']
  return reportedNanos(told) ?? (Number.isSafeInteger(ticks) ? reportedNanos(Number(ticks) / TICKS_PER_DOLLAR) : null)
}

const TICKS_PER_DOLLAR = 10_000_000_000

const NOTHING: Json = {}

const objectOf = (value: unknown): Json => (isObject(value) ? value : NOTHING)
