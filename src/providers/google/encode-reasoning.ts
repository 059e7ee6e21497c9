/** Encodes how much a model should think, and whether to show it, in the form that its generation takes. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { budgetBeside, effortBeside } from '../thinking/effort.ts'
import type { Translation } from '../losses/translation.ts'
import type { GeminiModel, Thinking, ThinkingLevel } from './gemini-model.ts'

/** Returns `thinkingConfig`; undefined if the request does not set it, or if the model does not think. */
export const encodeReasoning = (translation: Translation, model: GeminiModel): JsonObject | undefined => {
  const asked = translation.setting('reasoning')
  if (asked === undefined) return undefined
  const field = translation.prompt.settings.reasoning?.field ?? 'reasoning'
  const lose = (message: string): void => translation.lose(field, message)
  const off = asked.enabled === false || asked.effort === 'none' || asked.maxTokens === 0
  const { thinking } = model
  if (thinking.by === 'nothing') {
    if (!off) lose(`${model.name} has no thinking settings.`)
    return undefined
  }
  if (off)
    return {
      includeThoughts: false,
      ...leastThinking(thinking, () => lose(`${model.name} cannot stop thinking; it is asked for as little as it can.`)),
    }
  const mapped = (message: string): void => translation.mapped(field, message)
  const amount = thinking.by === 'level' ? levelOf(asked, thinking, mapped) : budgetOf(asked, thinking, lose)
  if (asked.effort !== undefined && amount === null) lose(`${model.name} knows no effort ${asked.effort}.`)
  const beside = thinking.by === 'level' ? budgetBeside(asked) : effortBeside(asked)
  if (beside !== null) mapped(beside)
  return { includeThoughts: asked.exclude !== true, ...amount }
}

const leastThinking = (thinking: Exclude<Thinking, { by: 'nothing' }>, lose: () => void): JsonObject => {
  if (!thinking.canStop) lose()
  if (thinking.by === 'level') return { thinkingLevel: nearestLevel('minimal', thinking.levels) }
  return { thinkingBudget: thinking.canStop ? 0 : thinking.min }
}

/** Google's own table of an OpenAI effort in tokens; above it, the model's maximum. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: Number.POSITIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
}

const LEVELS: Readonly<Record<string, ThinkingLevel>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

const levelOf = (
  { enabled, effort, maxTokens }: ReasoningSetting,
  { levels, canStop }: Extract<Thinking, { by: 'level' }>,
  mapped: (message: string) => void,
): JsonObject | null => {
  if (effort === undefined) {
    // A model that can stop thinking is told to think; others do so by themselves.
    if (maxTokens === undefined) return canStop && enabled === true ? { thinkingLevel: nearestLevel('high', levels) } : {}
    const thinkingLevel = nearestLevel(levelOfBudget(maxTokens), levels)
    mapped(`A budget of ${maxTokens} tokens became the level ${thinkingLevel}: this model counts none.`)
    return { thinkingLevel }
  }
  const wanted = LEVELS[effort]
  if (wanted === undefined) return null
  const level = nearestLevel(wanted, levels)
  if (level !== effort) mapped(`The effort ${effort} became ${level}, the nearest that this model knows.`)
  return { thinkingLevel: level }
}

/** Models that lack a level in the middle have the one at the end; `minimal` and `low` stand for each other. */
const nearestLevel = (level: ThinkingLevel, levels: readonly ThinkingLevel[]): string => {
  if (levels.includes(level)) return level
  return (level === 'medium' ? levels.at(-1) : levels[0]) ?? level
}

/** The level whose own budget is nearest: Google refuses a budget together with a level. */
const levelOfBudget = (tokens: number): ThinkingLevel => {
  if (tokens < 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

const budgetOf = (
  { effort, maxTokens }: ReasoningSetting,
  { min, max }: Extract<Thinking, { by: 'budget' }>,
  lose: (message: string) => void,
): JsonObject | null => {
  const wanted = maxTokens ?? (effort === undefined ? undefined : BUDGETS[effort])
  if (wanted === undefined) return effort === undefined ? {} : null
  const thinkingBudget = Math.min(max, Math.max(min, wanted))
  if (maxTokens !== undefined && thinkingBudget !== maxTokens)
    lose(`The budget must be from ${min} to ${max} tokens; ${thinkingBudget} is sent.`)
  return { thinkingBudget }
}
