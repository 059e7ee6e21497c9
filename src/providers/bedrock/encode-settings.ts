/** Encodes how the model should answer: `inferenceConfig`, fields for the model itself, and the effort of its thinking. */
import type { ReasoningSetting, SettingName } from '../../canonical/settings.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { encodeSampling } from '../anthropic/encode-settings.ts'
import { encodeReasoning as encodeClaudeReasoning } from '../anthropic/encode-reasoning.ts'
import { budgetBeside, effortOfBudget, nearestEffort } from '../thinking/effort.ts'
import { isPrefilled } from '../roles/turns.ts'
import type { Turn } from './encode-conversation.ts'
import type { EncodeContext } from './encode-context.ts'

export interface EncodedSettings {
  readonly inferenceConfig: JsonObject
  readonly additionalModelRequestFields: JsonObject
  /** `outputConfig.effort`. */
  readonly effort: string | undefined
}

/** `forced`: a call of a tool is demanded. */
export const encodeSettings = (turns: readonly Turn[], forced: boolean, context: EncodeContext): EncodedSettings => {
  const model = context.facts.thinking === 'claude' ? ofClaude(turns, forced, context) : ofOther(context)
  return { ...model, inferenceConfig: definedOnly({ ...model.inferenceConfig, stopSequences: encodeStop(context) }) }
}

const ofClaude = (turns: readonly Turn[], forced: boolean, context: EncodeContext): EncodedSettings => {
  const { maxTokens, thinking, effort } = encodeClaudeReasoning(context, {
    forced,
    unthoughtLoop: isUnthoughtLoop(turns),
    prefilled: isPrefilled(turns),
  })
  const thinks = thinking?.['type'] === 'enabled' || thinking?.['type'] === 'adaptive'
  const { temperature, top_p: topP, top_k: topK } = encodeSampling(context, thinks)
  // Unlike Anthropic's own API, this one needs no cap and uses the maximum by default; only a thinking budget has to be below a cap.
  const cap = context.setting('maxOutputTokens') ?? (thinking?.['type'] === 'enabled' ? maxTokens : undefined)
  return {
    inferenceConfig: definedOnly({ maxTokens: cap, temperature, topP }),
    additionalModelRequestFields: definedOnly({ top_k: topK, thinking: thinking as JsonObject | undefined }),
    effort,
  }
}

/** Results of tools were sent, and the turn with their calls does not begin with thinking. */
const isUnthoughtLoop = (turns: readonly Turn[]): boolean => {
  const results = turns.findLastIndex(({ role }) => role === 'user')
  if (results !== turns.findLastIndex(({ role }) => role !== 'system') || turns[results]?.blocks[0]?.type !== 'toolResult') return false
  return turns[results - 1]?.blocks[0]?.type !== 'reasoningContent'
}

const ofOther = (context: EncodeContext): EncodedSettings => {
  const inferenceConfig = definedOnly({
    maxTokens: raised(context),
    temperature: heldTo1(context),
    topP: sampled('topP', context),
  })
  const bounded = Object.keys(inferenceConfig).length > 0
  return {
    inferenceConfig,
    additionalModelRequestFields: { ...encodeTopK(context), ...encodeReasoning(context, bounded) },
    effort: undefined,
  }
}

const encodeTopK = (context: EncodeContext): JsonObject => {
  const topK = context.setting('topK')
  if (topK === undefined) return {}
  switch (context.facts.topK) {
    case 'top_k':
      return { top_k: topK }
    case 'k':
      return { k: topK }
    case 'inferenceConfig.topK':
      return { inferenceConfig: { topK } }
    case null:
      lost('topK', 'takes no top_k', context)
      return {}
  }
}

const raised = (context: EncodeContext): number | undefined => {
  const cap = context.setting('maxOutputTokens')
  const { leastTokens } = context.facts
  if (cap === undefined || cap >= leastTokens) return cap
  const message = `${cap} became ${leastTokens}, the least that ${context.target.upstreamModel} takes.`
  context.mapped(context.fieldOf('maxOutputTokens'), message)
  return leastTokens
}

const sampled = (name: 'temperature' | 'topP', context: EncodeContext): number | undefined => {
  const value = context.setting(name)
  if (value === undefined || context.facts.sampling) return value
  // The default says nothing, so it may go without a word.
  if (value !== 1) lost(name, `takes no ${context.fieldOf(name)}`, context)
  return undefined
}

/** `bounded`: the request sets a cap, a temperature or top_p. */
const encodeReasoning = (context: EncodeContext, bounded: boolean): JsonObject => {
  const reasoning = context.setting('reasoning')
  if (reasoning === undefined) return {}
  const { facts, target, mapped } = context
  const field = context.fieldOf('reasoning')
  if (facts.thinking === null) {
    lost('reasoning', 'has no word here for how much it thinks', context)
    return {}
  }
  if (reasoning.enabled === false || reasoning.effort === 'none') {
    if (facts.thinking === 'reasoningConfig') return { reasoningConfig: { type: 'disabled' } }
    // The only models with this word do not think unless they are asked to.
    if (facts.thinking === 'reasoning_config') return {}
    if (facts.efforts.includes('none')) return effortMember('none', facts.thinking)
    mapped(field, `${target.upstreamModel} cannot be kept from thinking; it was asked for its lowest effort.`)
    return effortMember(facts.efforts[0] ?? 'low', facts.thinking)
  }
  const asked = askedEffort(reasoning)
  if (asked === undefined) return {}
  const budget = budgetBeside(reasoning)
  if (budget !== null) mapped(field, budget)
  const nearest = nearestEffort(asked, facts.efforts) ?? 'medium'
  // At its highest effort Nova takes neither a cap nor a temperature; a cap is a promise on cost, so the effort is lowered.
  const effort = facts.thinking === 'reasoningConfig' && nearest === 'high' && bounded ? 'medium' : nearest
  if (effort !== reasoning.effort && (reasoning.effort !== undefined || reasoning.maxTokens !== undefined))
    mapped(field, `The nearest that ${target.upstreamModel} knows is the effort ${effort}; it was sent.`)
  return facts.thinking === 'reasoningConfig'
    ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } }
    : effortMember(effort, facts.thinking)
}

const effortMember = (effort: string, word: EncodeContext['facts']['thinking']): JsonObject =>
  word === 'reasoning'
    ? { reasoning: { effort } }
    : word === 'reasoning_config'
      ? { reasoning_config: effort }
      : { reasoning_effort: effort }

const askedEffort = ({ effort, maxTokens, enabled }: ReasoningSetting): string | undefined => {
  if (effort !== undefined) return effort
  if (maxTokens !== undefined) return effortOfBudget(maxTokens)
  return enabled === true ? 'medium' : undefined
}

/** Temperatures go up to 1 in Converse, and up to 2 in other dialects. */
const heldTo1 = (context: EncodeContext): number | undefined => {
  const temperature = sampled('temperature', context)
  if (temperature === undefined || temperature <= 1) return temperature
  context.mapped(context.fieldOf('temperature'), `${context.target.providerName} knows temperatures up to 1; 1 was sent.`)
  return 1
}

/** The dialect refuses an empty sequence, and Claude refuses one without a visible character. */
const encodeStop = (context: EncodeContext): readonly string[] | undefined => {
  const stop = context.setting('stop')
  if (stop !== undefined && stop.length > 0 && !context.facts.stops) {
    lost('stop', 'takes no stop sequences', context)
    return undefined
  }
  const kept = stop?.filter((sequence) => (context.rules.claude ? sequence.trim() : sequence) !== '')
  if (stop !== undefined && kept?.length !== stop.length) lost('stop', 'takes no stop sequence like one of these', context)
  return kept === undefined || kept.length === 0 ? undefined : kept
}

const lost = (name: SettingName, why: string, { lose, fieldOf, target }: EncodeContext): void =>
  lose(fieldOf(name), `${target.upstreamModel} ${why}; it was left out.`)
