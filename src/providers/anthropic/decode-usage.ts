/**
 * Reads token counts, which a stream sends twice: the later counts are cumulative and replace the earlier ones
 * (docs/contract/budgets.md#usage).
 */
import { addedUsage, usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject, listOf, objectsIn } from '../../lib/json/json.ts'
import { isSenseless, partsOf, sideCount, tokenCount, reportedTotal } from '../token-count.ts'

type Json = Readonly<Record<string, unknown>>

/** The start of a stream reports a number of output tokens although nothing has been said yet, so it is ignored. */
export const startedUsage = (reported: Json): Json => ({ ...reported, output_tokens: undefined })

/**
 * Adds what `later` reports to the counts that are known: members that are absent, zero or not a valid count leave the earlier value. The start
 * of a stream counts the first call; if that one compacted the conversation, the end counts only the calls that answered.
 */
export const mergeUsage = (known: Record<string, unknown>, later: Json): void => {
  if (listOf(later['iterations']).some(isCompaction)) Object.assign(known, NO_INPUT)
  for (const [name, value] of Object.entries(later))
    if (value !== null && value !== undefined && !isWorse(known[name], value)) known[name] = value
}

/** Without a prototype, since its names are those that a provider writes. */
export const noUsage = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>

const isCompaction = (call: unknown): boolean => isObject(call) && call['type'] === 'compaction'

const NO_INPUT: Json = {
  input_tokens: undefined,
  cache_read_input_tokens: undefined,
  cache_creation_input_tokens: undefined,
  cache_creation: undefined,
}

const isWorse = (earlier: unknown, later: unknown): boolean =>
  typeof earlier === 'number' && (tokenCount(earlier) ?? 0) > 0 && (tokenCount(later) ?? 0) === 0

/** The dialect's input counts exclude each other, as ours do. */
export const decodeUsage = (usage: Json): Usage => {
  const split = isObject(usage['cache_creation']) ? usage['cache_creation'] : {}
  const hour = split['ephemeral_1h_input_tokens']
  const minutes = split['ephemeral_5m_input_tokens']
  const reported = usage['cache_creation_input_tokens']
  const input = reportedTotal(usage['input_tokens'], usage['cache_read_input_tokens'], reported, hour, minutes)
  const read = sideCount(usage['cache_read_input_tokens'])
  // The end of a stream repeats the sum, but not the split by lifetime.
  const written = tokenCount(reported) === 0 ? sideCount(hour) + sideCount(minutes) : sideCount(reported)
  const written1h = Math.min(sideCount(hour), written)
  const details = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const tools = isObject(usage['server_tool_use']) ? usage['server_tool_use'] : {}
  const output = reportedTotal(usage['output_tokens'])
  const thought = partsOf(output.tokens, [details['thinking_tokens']])
  const [thinking = 0] = thought ?? []
  const tier = tierOf(usage)
  const { beside, advised } = callsBeside(usage['iterations'])
  return usageOf({
    inputFresh: sideCount(usage['input_tokens']),
    inputCacheRead: read,
    inputCacheWrite5m: written - written1h,
    inputCacheWrite1h: written1h,
    unsplitWrites: Math.max(0, written - written1h - sideCount(minutes)),
    output: output.tokens - thinking,
    outputReasoning: thinking,
    webSearches: sideCount(tools['web_search_requests']),
    servedTier: tier,
    inferenceGeo: geographyOf(usage),
    unreportedInput: input.unreported,
    unreportedOutput: output.unreported,
    estimated:
      thought === null ||
      sideCount(hour) + sideCount(minutes) > written ||
      isSenseless(tools['web_search_requests']) ||
      // The advisor is another model, whose prices may be others.
      advised,
    beside,
  })
}

interface CallsBeside {
  readonly beside: Usage | null
  readonly advised: boolean
}

/**
 * The top-level counts leave out the calls that compacted the conversation (the SDK's `BetaUsage.iterations`), and those of an advisor
 * (decisions/0167). A stream may report counts thousands of times after one list of calls, so a list is read once.
 */
const callsBeside = (iterations: unknown): CallsBeside => {
  const calls = listOf(iterations)
  if (calls.length === 0) return NONE_BESIDE
  const known = readCalls.get(calls)
  if (known !== undefined) return known
  const besides = objectsIn(calls).filter(({ type }) => BESIDE.has(type))
  const read = {
    beside: besides.map(decodeUsage).reduce<Usage | null>((sum, usage) => (sum === null ? usage : addedUsage(sum, usage)), null),
    advised: besides.some(({ type }) => type === 'advisor_message'),
  }
  readCalls.set(calls, read)
  return read
}

const NONE_BESIDE: CallsBeside = { beside: null, advised: false }
const readCalls = new WeakMap<readonly unknown[], CallsBeside>()

const BESIDE: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])

/** Models that run in any geography report `not_available`. */
const geographyOf = ({ inference_geo: geography }: Json): string | null =>
  typeof geography === 'string' && geography !== 'not_available' ? geography : null

/** The fast speed is a tier under another name; if the reported speed is the standard one, so is the tier. */
const tierOf = ({ speed, service_tier: tier }: Json): string | null => {
  if (speed === 'fast') return 'fast'
  if (speed === 'standard' && tier !== 'priority') return 'default'
  return typeof tier === 'string' ? tier : null
}
