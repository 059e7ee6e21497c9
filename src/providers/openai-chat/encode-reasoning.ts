/** Encodes the reasoning setting in the words of one vendor of the dialect. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { asksForForm, lostForm } from '../thinking/summary-form.ts'
import { budgetBeside, effortOfBudget, nearestEffort, thinksNot } from '../thinking/effort.ts'
import type { ReasoningWords } from '../vendors/vendor.ts'

/** Returns members of the request. `field`: the client's path of the setting. */
export const encodeReasoning = (
  value: ReasoningSetting,
  field: string,
  { words, showsThinking }: { readonly words: ReasoningWords; readonly showsThinking: boolean },
  warn: (warning: Warning) => void,
): JsonObject => {
  if (value.summary !== undefined && !showsThinking) warn(lost(field, 'This provider gives no summary of its thinking here.'))
  else if (asksForForm(value)) warn(lost(field, lostForm('This provider', value)))
  if (thinksNot(value)) return off(words, field, warn)
  return { ...encodeBudget(value, words), ...encodeEffort(value, field, words, warn) }
}

/** The setting in the form of routers, which field rules later replace by the vendor's own fields. */
export const reasoningObject = ({ enabled, effort, maxTokens, summary, exclude }: ReasoningSetting): JsonObject =>
  definedOnly({ enabled, effort, max_tokens: maxTokens, summary, exclude })

const off = (words: ReasoningWords, field: string, warn: (warning: Warning) => void): JsonObject => {
  if (words.thinks === false) return {}
  if (words.toggle !== null) return toggled(words.toggle, false)
  if (words.efforts === 'any' || words.efforts.includes('none')) return { reasoning_effort: 'none' }
  const least = nearestEffort('none', words.efforts)
  if (least === null) {
    warn(lost(field, 'This model takes no setting that keeps it from thinking.'))
    return {}
  }
  warn({ code: 'mapped_field', field, message: `This model cannot be kept from thinking; it was asked for its lowest effort, ${least}.` })
  return { reasoning_effort: least }
}

const encodeBudget = ({ maxTokens }: ReasoningSetting, { budgetField }: ReasoningWords): JsonObject =>
  maxTokens === undefined || budgetField === null ? {} : { [budgetField]: maxTokens }

const encodeEffort = (
  { effort, maxTokens, enabled }: ReasoningSetting,
  field: string,
  words: ReasoningWords,
  warn: (warning: Warning) => void,
): JsonObject => {
  const { budgetField } = words
  const byBudget = maxTokens !== undefined && budgetField === null
  const wanted = effort ?? (byBudget ? effortOfBudget(maxTokens) : undefined)
  const on =
    words.toggle !== null && (wanted !== undefined || maxTokens !== undefined || enabled === true) ? toggled(words.toggle, true) : {}
  if (wanted === undefined) return on
  const budget = budgetField === null ? budgetBeside({ effort, maxTokens }) : null
  if (budget !== null) warn({ code: 'mapped_field', field, message: budget })
  const known = words.efforts === 'any' ? wanted : nearestEffort(wanted, words.efforts)
  if (known === null) {
    warn(lost(field, 'This model takes no effort of thinking of this kind.'))
    return on
  }
  if (effort === undefined || known !== effort) {
    const asked = effort === undefined ? `A budget of ${maxTokens} tokens` : `The effort ${effort}`
    warn({ code: 'mapped_field', field, message: `${asked} became the effort ${known}: this provider has no such word.` })
  }
  return { ...(words.toggleBesideEffort ? on : {}), reasoning_effort: known }
}

const toggled = (toggle: NonNullable<ReasoningWords['toggle']>, on: boolean): JsonObject => {
  switch (toggle) {
    case 'thinking':
      return { thinking: { type: on ? 'enabled' : 'disabled' } }
    case 'enable_thinking':
      return { enable_thinking: on }
    case 'reasoning':
      return { reasoning: { enabled: on } }
  }
}

const lost = (field: string, message: string): Warning => ({ code: 'unsupported_field', field, message })
