/** Reads the usage of an answer, in whichever place and by whichever way of counting a vendor reports it. */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json/json.ts'
import { cacheWrites } from '../cache-writes.ts'
import { reportedCost } from '../reported-cost.ts'
import { isSenseless, partsOf, sideCount, tokenCount, reportedTotal } from '../token-count.ts'

type Json = Readonly<Record<string, unknown>>

/** Finds it beside the choices, inside the choice (Moonshot), or in a field of the vendor's own (Groq); null if there is none. */
export const usageObject = (chunk: Json, choice: Json | undefined): Json | null => {
  if (isObject(chunk['usage'])) return chunk['usage']
  const groq = chunk['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const inChoice = choice?.['usage']
  return isObject(inChoice) ? inChoice : null
}

/**
 * The dialect's totals include cached and reasoning tokens; our counts exclude each other. `servedTier`: the tier as the answer names it.
 */
export const decodeUsage = (reportedUsage: Json, servedTier: unknown = null): Usage => {
  const usage = inWordsOfDialect(reportedUsage)
  const prompt = objectOf(usage['prompt_tokens_details'])
  const completion = objectOf(usage['completion_tokens_details'])
  const input = reportedTotal(usage['prompt_tokens'], besidePrompt(usage, prompt, completion))
  const cached = cacheParts(
    input.tokens,
    firstReported(prompt['cached_tokens'], usage['prompt_cache_hit_tokens'], usage['cached_tokens'], usage['cache_read_input_tokens']),
    firstReported(
      prompt['cache_write_tokens'],
      prompt['cache_creation_input_tokens'],
      prompt['cache_creation_tokens'],
      usage['cache_creation_input_tokens'],
    ),
  )
  const [cacheRead = 0, cacheWrite = 0] = cached ?? []
  const kept = cacheWrites(cacheWrite, prompt, usage)
  const completed = reportedTotal(usage['completion_tokens'])
  const reported = completion['reasoning_tokens'] ?? thoughtWithin(usage)
  const thought = sideCount(reported)
  const unexplained = restOfTotal(usage, input.tokens, prompt, completion)
  // xAI reports reasoning beside the completion and counts it only in the total; Vercel's gateway does not even do that for Gemini. Google's
  // endpoint of this dialect shows it nowhere but in the total.
  const isTotalled = tokenCount(usage['total_tokens']) === input.tokens + completed.tokens + thought
  const beside = thought > 0 && (isTotalled || thought > RECOUNTED_MAX * completed.tokens) ? thought : unexplained
  const output = completed.tokens + beside
  const thinking = partsOf(output, [unexplained > 0 ? unexplained : reported])
  const [reasoning = 0] = thinking ?? []
  const heard = partsOf(input.tokens, [prompt['audio_tokens']])
  const made = partsOf(output, [completion['audio_tokens'], completion['image_tokens']])
  const [inputAudio = 0] = heard ?? []
  const [outputAudio = 0, outputImage = 0] = made ?? []
  const { web_search_requests: searches } = objectOf(usage['server_tool_use_details'] ?? usage['server_tool_use'])
  return usageOf({
    inputFresh: input.tokens - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: kept.minutes,
    inputCacheWrite1h: kept.hours,
    unsplitWrites: kept.unsplit,
    output: output - reasoning,
    outputReasoning: reasoning,
    inputAudio,
    outputAudio,
    outputImage,
    webSearches: sideCount(searches) || sideCount(usage['num_search_queries']),
    reportedCostNanos: reportedCost(usage),
    servedTier: typeof servedTier === 'string' ? servedTier : null,
    unreportedInput: input.unreported,
    unreportedOutput: completed.unreported,
    estimated: kept.estimated || [cached, thinking, heard, made].includes(null) || isSenseless(searches, usage['num_search_queries']),
  })
}

/** The most by which reasoning exceeds the completion of which it is a part, where a router counts the two with different tokenizers. */
const RECOUNTED_MAX = 2

/** Null if they cannot be right. Behind OpenRouter, Gemini reads the same tokens that it writes to its cache. */
const cacheParts = (input: number, read: unknown, written: unknown): readonly number[] | null => {
  const parts = partsOf(input, [read, written])
  if (parts !== null || partsOf(input, [written]) === null) return parts
  const [cacheRead] = partsOf(input, [read]) ?? []
  return cacheRead === undefined ? null : [cacheRead, input - cacheRead]
}

/**
 * Some proxies pass on the counts under the names of the server behind them. Anthropic's count of the input excludes cached tokens, which
 * it reports beside it; that of OpenAI's Responses includes them.
 */
const inWordsOfDialect = (usage: Json): Json => {
  const { prompt_tokens: prompt, completion_tokens: completion, input_tokens: input, output_tokens: output, total_tokens: total } = usage
  if ((prompt ?? completion ?? null) !== null || (input ?? output ?? null) === null) return usage
  const cached = sideCount(usage['cache_read_input_tokens']) + sideCount(usage['cache_creation_input_tokens'])
  return {
    ...usage,
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total ?? sideCount(input) + sideCount(output) + cached,
    prompt_tokens_details: usage['prompt_tokens_details'] ?? usage['input_tokens_details'],
    completion_tokens_details: usage['completion_tokens_details'] ?? usage['output_tokens_details'],
  }
}

/**
 * Tokens of a prompt that are not among those of the prompt, and that only the total holds: cached ones of Portkey's gateway, which counts
 * as Anthropic does, those of some servers of Grok (github.com/vercel/ai, packages/xai, `convertXaiChatUsage`), and those of speech at
 * Mistral. Reasoning may stand beside the completion, too. Grok at Azure leaves cached ones out of the total as well: they are more than
 * the prompt, whose tokens are all accounted for by kind.
 */
const besidePrompt = (usage: Json, details: Json, completion: Json): number => {
  const read = sideCount(details['cached_tokens'])
  const asked = sideCount(usage['prompt_tokens'])
  const spoken = sideCount(details['audio_tokens'])
  const byKind = sideCount(details['text_tokens']) + spoken + sideCount(details['image_tokens'])
  if (asked > 0 && byKind === asked && read > asked) return read
  const rest = sideCount(usage['total_tokens']) - asked - sideCount(usage['completion_tokens'])
  const cached = sideCount(usage['cache_read_input_tokens']) + sideCount(usage['cache_creation_input_tokens'])
  if (rest === cached || rest === spoken) return rest
  const thought = sideCount(completion['reasoning_tokens'])
  return rest !== thought && (rest === read || rest === read + thought) ? read : 0
}

/** SGLang counts thinking beside its details, but within the completion. Perplexity counts under the same name what is not within it. */
const thoughtWithin = (usage: Json): unknown =>
  sideCount(usage['reasoning_tokens']) <= sideCount(usage['completion_tokens']) ? usage['reasoning_tokens'] : undefined

/**
 * The tokens by which the total exceeds the prompt and the completion, if they can only be thinking. Zero if thinking is reported, if a
 * count is missing, or if the difference could be any other reported count (docs/contract/budgets.md#usage).
 */
const restOfTotal = (usage: Json, input: number, prompt: Json, completion: Json): number => {
  const asked = countOrNull(usage['prompt_tokens'])
  const said = countOrNull(usage['completion_tokens'])
  const total = countOrNull(usage['total_tokens'])
  if (!asked || !total || said === null || total <= input + said) return 0
  // Mistral includes speech input in the total, and may report it in seconds alone.
  if (
    [completion['reasoning_tokens'], usage['reasoning_tokens'], usage['prompt_audio_seconds']].some(
      (told) => told !== undefined && told !== null,
    )
  )
    return 0
  const rest = total - asked - said
  const parts = [...Object.values(prompt), ...Object.values(completion)].filter((told) => typeof told === 'number')
  if (parts.length > DETAILS_MAX) return 0
  const sums = parts.flatMap((one, index) => parts.slice(index + 1).map((other) => one + other))
  return [...Object.values(usage), ...parts, ...sums].includes(rest) ? 0 : rest
}

/** More details than any provider reports; the limit exists because each is combined with each other. */
const DETAILS_MAX = 32

const countOrNull = (value: unknown): number | null => (value === undefined || value === null ? null : tokenCount(value))

/** The first value that is not zero or absent. */
const firstReported = (...reported: readonly unknown[]): unknown => reported.find(saysSomething)

const saysSomething = (value: unknown): boolean => tokenCount(value) !== 0

const NOTHING: Json = {}

const objectOf = (value: unknown): Json => (isObject(value) ? value : NOTHING)
