import { mergedUsage } from '../merged-usage.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed } from '../relay-text.ts'
import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { Iteration, Usage } from '../../canonical/usage.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { costMembers } from '../cost-members.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { serverToolDetails, serverToolUse } from '../server-tool-usage.ts'

/** The `usage` of this dialect: its input counts are disjoint, as ours are; `output_tokens` includes the thinking. */
export const messagesUsage = (tail: AnswerTail): JsonObject => {
  const { usage } = tail
  const details = serverToolDetails(tail)
  return {
    ...counts(usage),
    output_tokens: outputTokens(usage),
    output_tokens_details: { thinking_tokens: usage.outputReasoning },
    server_tool_use: serverToolUse(tail),
    ...(tail.serverTools === undefined ? {} : { server_tool_use_details: details }),
    ...(tail.iterations === undefined ? {} : { iterations: tail.iterations.map(iterationUsage) }),
    ...UNKNOWN,
    inference_geo: usage.inferenceGeo,
    service_tier: tierName(usage),
    ...costs(tail),
  }
}

/** This dialect has another name for the default tier, and none for most others; typed clients refuse names that they do not know. */
const tierName = ({ servedTier }: Usage): string | null => {
  if (servedTier === 'default') return 'standard'
  return isTierName(servedTier) ? servedTier : null
}

const isTierName = (word: unknown): boolean => typeof word === 'string' && TIER_NAMES.has(word)

const TIER_NAMES: ReadonlySet<string> = new Set(['standard', 'priority', 'batch'])

const iterationUsage = ({ type, model, usage }: Iteration): JsonObject => ({
  type,
  model,
  ...counts(usage),
  output_tokens: outputTokens(usage),
})

/** The members that replace those of an upstream of this dialect; its other members keep their values. */
export const relayedUsage = (tail: AnswerTail): JsonObject => ({
  ...counts(tail.usage),
  output_tokens: outputTokens(tail.usage),
  ...costs(tail),
})

/** The final usage of an answer, as JSON text: the upstream's object with our members laid over it and missing keys added. */
export const endUsage = (upstream: string | undefined, tail: AnswerTail, head: Estimating): string => {
  const usage = bodyOfParsed(completeUsage(mergedUsage(upstream ?? null, relayedUsage(tail)), head))
  return usage.textWith(isTierName(usage.get('service_tier')) ? {} : { service_tier: JSON.stringify(tierName(tail.usage)) })
}

const costs = (tail: AnswerTail): JsonObject => costMembers(tail, 'upstream_inference_prompt_cost', 'upstream_inference_completions_cost')

/** The counts that `message_start` must contain before anything was counted: the provider's if they are known, else our estimate. */
export const startUsage = (known: Usage | null, head: Estimating, own: JsonObject): JsonObject => ({
  ...(known === null || inputTokens(known) === 0 ? ESTIMATED(head.inputTokensEstimate) : counts(known)),
  output_tokens: known === null ? 0 : outputTokens(known),
  output_tokens_details: null,
  server_tool_use: null,
  ...UNKNOWN,
  ...(known === null ? {} : { service_tier: tierName(known), inference_geo: known.inferenceGeo }),
  speed: own['speed'] ?? null,
})

const counts = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputFresh,
  cache_creation_input_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
  cache_read_input_tokens: usage.inputCacheRead,
  cache_creation: {
    ephemeral_5m_input_tokens: usage.inputCacheWrite5m,
    ephemeral_1h_input_tokens: usage.inputCacheWrite1h,
  },
})

const ESTIMATED = (inputEstimate: number): JsonObject => ({
  input_tokens: inputEstimate,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
})

/** Keys that typed clients require and that no event provides. */
const UNKNOWN: JsonObject = { service_tier: null, inference_geo: null, speed: null }

/** The estimate requires reading the whole request and nearly every provider reports the input, so it is computed only when needed. */
type Estimating = Pick<AnswerHead, 'inputTokensEstimate'>

/** The usage of an upstream of this dialect, as JSON text, with missing keys added and without a tier that the dialect has no name for. Anything but an object counts as empty. */
export const completeUsage = (json: string | undefined, head: Estimating): string => {
  const usage = bodyOfParsed(json?.startsWith('{') === true ? json : '{}')
  const tier = usage.get('service_tier')
  const missing = {
    ...missingMembers(usage, USAGE_NEEDS),
    ...(typeof tier === 'string' && !isTierName(tier) ? { service_tier: 'null' } : {}),
  }
  return usage.textWith('input_tokens' in missing ? { ...missing, input_tokens: String(head.inputTokensEstimate) } : missing)
}

const USAGE_NEEDS: Readonly<Record<string, string>> = {
  input_tokens: '0',
  output_tokens: '0',
  ...Object.fromEntries(
    [
      'cache_creation_input_tokens',
      'cache_read_input_tokens',
      'cache_creation',
      'output_tokens_details',
      'server_tool_use',
      ...Object.keys(UNKNOWN),
    ].map((name) => [name, 'null']),
  ),
}
