/** Translates the amount of thinking: one object in chat and Responses, two fields in Messages (docs/contract/requests.md#reasoning). */
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import { pathsOf } from '../request-fields/setting-spellings.ts'
import type { Translate, Translation } from './translation.ts'

export const translateReasoning: Translate = (values, translation) => {
  const reasoning = read(values, translation)
  if (translation.to !== 'messages') return [reasoning]
  if (ASKS.some((member) => reasoning[member] !== undefined)) return writeThinking(reasoning, translation)
  // Messages cannot only show or hide thinking: `thinking` would turn it on.
  for (const [index, path] of pathsOf(translation.from, 'reasoning').entries()) if (values[index] !== null) translation.lost(path)
  return []
}

/** The members that turn thinking on or off. */
const ASKS = ['effort', 'enabled', 'max_tokens']

/** The members that chat and Responses share. */
const MEMBERS = ['effort', 'summary', 'enabled', 'max_tokens', 'exclude']

const read = (values: readonly JsonValue[], translation: Translation): JsonObject => {
  const [first = null, second = null, third = null] = values
  if (translation.from === 'messages') return readThinking(first, second, translation)
  const reasoning = isObject(first) ? first : {}
  for (const [member, value] of Object.entries(reasoning)) {
    if (value !== null && !MEMBERS.includes(member)) translation.lost(`reasoning.${member}`)
  }
  return present({
    ...Object.fromEntries(MEMBERS.map((member) => [member, reasoning[member] ?? null])),
    effort: reasoning['effort'] ?? (second === 'default' ? null : second),
    // include_reasoning: false hides the reasoning, true shows it unchanged (docs/contract/requests.md#reasoning).
    exclude: reasoning['exclude'] ?? (third === false ? true : null),
  })
}

const readThinking = (thinking: JsonValue, effort: JsonValue, { changed, lost }: Translation): JsonObject => {
  if (!isObject(thinking)) return present({ effort })
  const { type, budget_tokens: budget = null, display = null } = thinking
  if (type === 'disabled') {
    // Claude takes pains with an answer without thinking, too; on the other interfaces an effort would turn thinking on.
    if (effort !== null) lost('output_config.effort')
    return { enabled: false }
  }
  if (type === 'between_tools')
    changed('thinking.type', 'Thinking is on everywhere: this interface cannot restrict it to the time between tool calls.')
  return present({
    effort,
    max_tokens: budget,
    enabled: effort === null && budget === null ? true : null,
    summary: display === 'summarized' ? 'auto' : null,
    exclude: display === 'omitted' ? true : null,
  })
}

/** Returns `thinking` and `output_config.effort`. */
const writeThinking = (reasoning: JsonObject, { changed }: Translation): readonly JsonValue[] => {
  const { effort = null, max_tokens: budget = null } = reasoning
  if (effort === 'none' || reasoning['enabled'] === false) return [{ type: 'disabled' }, null]
  const shown = reasoning['summary'] === undefined ? null : 'summarized'
  const display = reasoning['exclude'] === true ? 'omitted' : shown
  if (effort === 'minimal') changed('reasoning.effort', 'minimal became low, the least effort of this interface.')
  return [
    present(budget === null ? { type: 'adaptive', display } : { type: 'enabled', budget_tokens: budget, display }),
    effort === 'minimal' ? 'low' : effort,
  ]
}

const present = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
