/** Reasoning efforts, of which each provider knows some, and token budgets for reasoning, which most do not know. */
import type { ReasoningSetting } from '../../canonical/settings.ts'

const LADDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The nearest of `known`: the same effort, else the next lower one that still thinks, else the next higher; null if there is none. */
export const nearestEffort = (effort: string, known: readonly string[]): string | null => {
  if (known.includes(effort)) return effort
  const rung = LADDER.indexOf(effort)
  if (rung < 0) return null
  const lower = LADDER.slice(1, rung).findLast((name) => known.includes(name))
  return lower ?? LADDER.slice(rung + 1).find((name) => known.includes(name)) ?? null
}

/** The request asks for an answer without thinking. */
export const thinksNot = ({ enabled, effort, maxTokens }: ReasoningSetting): boolean =>
  enabled === false || effort === 'none' || (effort === undefined && maxTokens === 0)

/** The effort for a token budget, for a provider that does not count thinking tokens. */
export const effortOfBudget = (tokens: number): string => (tokens < 4096 ? 'low' : tokens < 16_384 ? 'medium' : 'high')

type Asked = { readonly [Member in 'effort' | 'maxTokens']?: ReasoningSetting[Member] | undefined }

/** The warning text if an effort is used instead of the budget beside it; null if only one of them was asked for. */
export const budgetBeside = ({ effort, maxTokens }: Asked): string | null =>
  effort === undefined || maxTokens === undefined ? null : `The effort ${effort} counts; the budget of ${maxTokens} tokens was left out.`

/**
 * The warning text if a budget is used instead of the effort beside it, for a model that counts its thinking tokens: the budget is more
 * exact.
 */
export const effortBeside = ({ effort, maxTokens }: Asked): string | null =>
  effort === undefined || maxTokens === undefined ? null : `The budget of ${maxTokens} tokens counts; the effort ${effort} was left out.`
