/** Encodes how much the model may say, and how much of that may be thinking. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import { effortBeside, nearestEffort } from '../thinking/effort.ts'
import type { Target } from '../provider.ts'
import type { ModelContext } from './encode-context.ts'

export interface EncodedReasoning {
  /** `max_tokens`, which the dialect requires; thinking counts towards it. */
  readonly maxTokens: number
  readonly thinking?: Readonly<Record<string, unknown>>
  /** `output_config.effort`. */
  readonly effort?: string
}

/** Used if neither the request nor the catalogue names a cap. */
const MAX_TOKENS = 8192

/** The dialect requires a cap; a client that names none gets the maximum. */
export const defaultMaxTokens = (target: Target): number => target.maxCompletionTokens ?? MAX_TOKENS

export const BUDGET_MIN = 1024

/** The share of the cap that thinking may use, so that room is left for an answer. */
const BUDGET_SHARE = 0.8

/**
 * The budget for each effort, for models that take only budgets. Together with MAX_TOKENS all of them fit the smallest cap of these models,
 * 32,000.
 */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 4096, medium: 8192, high: 16_384, xhigh: 22_000, max: 22_000 }

export interface Around {
  /** A call of a tool is demanded. */
  readonly forced: boolean
  /** The conversation ends with the beginning of the answer. */
  readonly prefilled: boolean
  /** The model is in the middle of calling tools and has not thought, or its thinking could not be kept. */
  readonly unthoughtLoop: boolean
}

/** A request for thinking is encoded in the way that the model understands, unless a cap or a demanded tool makes thinking impossible. */
export const encodeReasoning = (context: ModelContext, around: Around): EncodedReasoning => {
  const { rules, target } = context
  const reasoning = context.setting('reasoning')
  const cap = context.setting('maxOutputTokens')
  const maxTokens = cap ?? defaultMaxTokens(target)
  const field = context.fieldOf('reasoning')
  const asked = askedOf(reasoning)
  if (reasoning === undefined || asked === 'none') {
    // Even if thinking is not asked for, a model that thinks anyway can be asked to show it.
    return reasoning === undefined || rules.thinkingOff === 'silence'
      ? { maxTokens }
      : { maxTokens, thinking: adaptive(reasoning, context) }
  }
  if (asked === 'off') return { maxTokens, ...without(context, field) }
  const obstacle = obstacleTo(context, around)
  if (obstacle !== null) {
    context.lose(field, `${obstacle} It was left out.`)
    return { maxTokens }
  }
  const decides = reasoning.maxTokens === undefined || (around.forced && rules.forcedTools === 'without-budget')
  if (rules.thinking === 'adaptive' || (rules.thinking === 'either' && decides)) {
    if (reasoning.maxTokens !== undefined)
      context.mapped(field, `${target.upstreamModel} decides itself how many tokens it thinks; the budget was left out.`)
    return { maxTokens, thinking: adaptive(reasoning, context), ...effortMember(reasoning.effort, field, context) }
  }
  return budgeted(reasoning, cap, field, around, context)
}

const askedOf = (reasoning: ReasoningSetting | undefined): 'none' | 'off' | 'on' => {
  if (reasoning === undefined) return 'none'
  if (reasoning.enabled === false || reasoning.effort === 'none') return 'off'
  return reasoning.enabled === true || reasoning.effort !== undefined || reasoning.maxTokens !== undefined ? 'on' : 'none'
}

const without = ({ rules, target, mapped }: ModelContext, field: string): Omit<EncodedReasoning, 'maxTokens'> => {
  switch (rules.thinkingOff) {
    case 'silence':
      return {}
    case 'disabled':
      return { thinking: { type: 'disabled' } }
    case 'between_tools':
      mapped(field, `${target.upstreamModel} cannot be kept from thinking between the calls of tools.`)
      return { thinking: { type: 'between_tools' } }
    case 'never':
      mapped(field, `${target.upstreamModel} cannot be kept from thinking; it was asked for its lowest effort.`)
      return { effort: 'low' }
  }
}

const obstacleTo = ({ rules, target }: ModelContext, { forced, prefilled }: Around): string | null => {
  if (rules.thinking === 'none') return `${target.upstreamModel} does not think.`
  if (prefilled) return `${target.upstreamModel} cannot think before it continues the beginning of an answer.`
  return forced && rules.forcedTools === 'without-thinking'
    ? `${target.upstreamModel} cannot think where the call of a tool is demanded.`
    : null
}

const adaptive = (reasoning: ReasoningSetting, context: ModelContext): Readonly<Record<string, unknown>> => ({
  type: 'adaptive',
  ...displayMember(reasoning, context),
})

const displayMember = ({ exclude }: ReasoningSetting, { rules }: ModelContext): { display?: string } => {
  if (exclude !== true) return rules.display === 'hidden' ? { display: 'summarized' } : {}
  // For such a model, thinking is removed on its way to the client (formats/hide-thinking.ts).
  return rules.display === 'unknown' ? {} : { display: 'omitted' }
}

/** The same effort, or the nearest lower one that the model knows; its lowest if none is lower. */
const effortMember = (effort: string | undefined, field: string, { rules, target, mapped }: ModelContext): { effort?: string } => {
  const lowest = rules.efforts[0]
  if (effort === undefined || lowest === undefined) return {}
  const nearest = nearestEffort(effort, rules.efforts) ?? lowest
  if (nearest !== effort) mapped(field, `${target.upstreamModel} has no effort ${effort}; ${nearest} was sent.`)
  return { effort: nearest }
}

export const unthought = ({ upstreamModel }: Target): string =>
  `${upstreamModel} cannot begin to think between a call of a tool and its answer.`

const budgeted = (
  reasoning: ReasoningSetting,
  cap: number | undefined,
  field: string,
  { unthoughtLoop }: Around,
  context: ModelContext,
): EncodedReasoning => {
  const { rules, target, lose, mapped } = context
  const wanted = Math.max(BUDGET_MIN, reasoning.maxTokens ?? BUDGETS[reasoning.effort ?? 'medium'] ?? BUDGET_MIN)
  // A cap is a promise on cost: the budget shrinks to fit it, and the cap does not grow.
  const maxTokens = cap ?? target.maxCompletionTokens ?? MAX_TOKENS + wanted
  if (unthoughtLoop || maxTokens <= BUDGET_MIN) {
    const capped = `${target.upstreamModel} thinks with at least ${BUDGET_MIN} tokens, which the cap on output does not leave.`
    lose(field, `${unthoughtLoop ? unthought(target) : capped} It was left out.`)
    return { maxTokens: cap ?? defaultMaxTokens(target) }
  }
  const budget = Math.min(wanted, Math.max(BUDGET_MIN, Math.floor(maxTokens * BUDGET_SHARE)))
  if (reasoning.maxTokens !== undefined && budget !== reasoning.maxTokens)
    mapped(field, `A budget of ${budget} tokens for thinking was sent: it is at least ${BUDGET_MIN} and within the cap on output.`)
  const beside = rules.efforts.length === 0 ? effortBeside(reasoning) : null
  if (beside !== null) mapped(field, beside)
  return {
    maxTokens,
    thinking: { type: 'enabled', budget_tokens: budget, ...displayMember(reasoning, context) },
    ...effortMember(reasoning.effort, field, context),
  }
}
