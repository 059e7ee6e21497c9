import { PICTURE_TOKENS, usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json/json.ts'
import { cacheWrites } from '../cache-writes.ts'
import { reportedCost } from '../reported-cost.ts'
import { isSenseless, partsOf, reportedTotal, sideCount, tokenCount } from '../token-count.ts'

/** The work of a provider's own tools for an answer. */
export interface ToolWork extends Pick<Usage, 'webSearches' | 'fileSearches' | 'containers'> {
  readonly pictures: number
  /** The counts of the models that wrote drawings (`svg`), and their names; neither the answer's usage nor `tool_usage` holds them. */
  readonly authored: Usage | null
  readonly authors: readonly string[]
}

/**
 * The dialect's totals include cached and reasoning tokens; our counts exclude each other. `response` is the answer, which has the counts in
 * its `usage`, and those of tools and the name of its tier beside them.
 */
export const decodeUsage = (
  usage: Readonly<Record<string, unknown>>,
  work: ToolWork = NO_WORK,
  response: Readonly<Record<string, unknown>> = {},
): Usage => {
  const servedTier = response['service_tier']
  const inputDetails = isObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
  const outputDetails = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const input = reportedTotal(usage['input_tokens'], besideInput(usage, inputDetails['cached_tokens']))
  const cached = partsOf(input.tokens, [inputDetails['cached_tokens'], inputDetails['cache_write_tokens']])
  const [cacheRead = 0, cacheWrite = 0] = cached ?? []
  const kept = cacheWrites(cacheWrite, inputDetails, usage)
  const output = reportedTotal(usage['output_tokens'])
  const thinking = partsOf(output.tokens, [outputDetails['reasoning_tokens']])
  const [reasoning = 0] = thinking ?? []
  const heard = partsOf(input.tokens, [inputDetails['audio_tokens']])
  const made = partsOf(output.tokens, [outputDetails['audio_tokens'], outputDetails['image_tokens']])
  const [inputAudio = 0] = heard ?? []
  const [outputAudio = 0, outputImage = 0] = made ?? []
  // A model that draws by itself counts its pictures among its output.
  const drawn = drawnTokens(response['tool_usage'], outputImage > 0 ? 0 : work.pictures)
  return usageOf({
    inputFresh: input.tokens - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: kept.minutes,
    inputCacheWrite1h: kept.hours,
    unsplitWrites: kept.unsplit,
    output: output.tokens - reasoning,
    outputReasoning: reasoning,
    inputAudio,
    outputAudio,
    outputImage,
    // OpenAI counts what it charges for; an answer may hold calls that cost nothing, and one call may be several searches.
    webSearches: reportedSearches(response['tool_usage']) ?? work.webSearches,
    fileSearches: work.fileSearches,
    containers: work.containers,
    drawn: drawn.tokens,
    reportedCostNanos: reportedCost(usage),
    servedTier: typeof servedTier === 'string' ? servedTier : null,
    unreportedInput: input.unreported,
    unreportedOutput: output.unreported,
    estimated:
      drawn.estimated ||
      kept.estimated ||
      [cached, thinking, heard, made].includes(null) ||
      work.authors.some((author) => author !== response['model']),
    beside: work.authored,
  })
}

/** Some servers of Grok count cached tokens beside the input, and only their total holds both (github.com/vercel/ai, packages/xai). */
const besideInput = (usage: Readonly<Record<string, unknown>>, cached: unknown): number => {
  const rest = sideCount(usage['total_tokens']) - sideCount(usage['input_tokens']) - sideCount(usage['output_tokens'])
  return rest === sideCount(cached) ? rest : 0
}

export const NO_WORK: ToolWork = { webSearches: 0, fileSearches: 0, containers: 0, pictures: 0, authored: null, authors: [] }

/** The work of tools before the answer has ended: a client that leaves now pays for it. */
export const usageSoFar = ({ webSearches, fileSearches, containers, pictures, authored }: ToolWork): Usage =>
  usageOf({
    webSearches,
    fileSearches,
    containers,
    beside: authored,
    drawn: drawnTokens(null, pictures).tokens,
    unreportedInput: true,
    unreportedOutput: true,
  })

/** Null if the answer reports no count, or no plausible one. */
const reportedSearches = (toolUsage: unknown): number | null => {
  const count = isObject(toolUsage) && isObject(toolUsage['web_search']) ? toolUsage['web_search']['num_requests'] : null
  return count === undefined || count === null ? null : tokenCount(count)
}

const drawnTokens = (toolUsage: unknown, pictures: number): { readonly tokens: number; readonly estimated: boolean } => {
  const counts = isObject(toolUsage) && isObject(toolUsage['image_gen']) ? toolUsage['image_gen'] : {}
  const { input_tokens: input, output_tokens: output } = counts
  const tokens = sideCount(input) + sideCount(output)
  const estimated = isSenseless(input, output) || (pictures > 0 && sideCount(output) === 0)
  return { tokens: estimated ? Math.max(tokens, pictures * PICTURE_TOKENS) : tokens, estimated }
}
