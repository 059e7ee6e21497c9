/**
 * JSON texts that differ only in one string, like the chunks of a stream: what was made from one of them fits the next one too, at the
 * price of two comparisons instead of a parse. Some texts also end with padding.
 */
import { jsonIn } from './json.ts'

/** Stands in a skeleton in place of the string's text. */
const SLOT = '\\u0000text'
const SLOT_VALUE = '\u0000text'
const PADDING_SLOT = '\\u0000padding'

/** The part of a text that differs from other texts of its pattern. */
export interface Filling {
  /** JSON text of the string, without its quotes. */
  readonly raw: string
  readonly padding: string
}

export interface JsonPattern {
  /** A JSON text of the pattern, with slots; `fillerOf` fills the slots of any text made from it. */
  readonly skeleton: string
  /** The skeleton, parsed. */
  readonly parsed: unknown
  /** The contents of the slots, and the string's value; null if the text does not match the pattern. */
  match(json: string): (Filling & { readonly value: string }) | null
}

/**
 * The pattern of `json`, which must contain `value` once. `stringOf` finds the string in the parsed text. Returns null if
 * the value also occurs elsewhere or is escaped differently.
 */
export const learnPattern = (json: string, value: string, stringOf: (parsed: unknown) => unknown): JsonPattern | null => {
  const quoted = JSON.stringify(value)
  const at = json.indexOf(quoted)
  if (at < 0 || json.includes(quoted, at + 1) || json.includes('\\u0000')) return null
  const before = json.slice(0, at + 1)
  const rest = json.slice(at + quoted.length - 1)
  const padded = PADDED.exec(rest)
  const after = padded?.[1] ?? rest
  const end = padded === null ? '' : PADDING_END
  const skeleton = before + SLOT + after + (padded === null ? '' : PADDING_SLOT) + end
  const parsed = jsonIn(skeleton)
  if (stringOf(parsed) !== SLOT_VALUE) return null

  return {
    skeleton,
    parsed,
    match(text) {
      if (!text.startsWith(before) || !text.endsWith(end)) return null
      const paddingEnd = text.length - end.length
      const paddingStart = end === '' ? paddingEnd : text.lastIndexOf('"', paddingEnd - 1) + 1
      const rawEnd = paddingStart - after.length
      if (rawEnd < before.length || !text.startsWith(after, rawEnd)) return null
      const padding = text.slice(paddingStart, paddingEnd)
      if (!PADDING.test(padding)) return null
      const raw = text.slice(before.length, rawEnd)
      const found = PLAIN.test(raw) ? raw : jsonIn(`"${raw}"`)
      return typeof found === 'string' ? { raw, padding, value: found } : null
    },
  }
}

/** `made` is a text that was made from a skeleton. Returns a function that puts fillings into it; null if the text has no slot left. */
export const fillerOf = (made: string): ((filling: Filling) => string) | null => {
  const [body = '', end, ...more] = made.split(PADDING_SLOT)
  const parts = body.split(SLOT)
  if (parts.length < 2 || more.length > 0) return null
  return end === undefined ? ({ raw }) => parts.join(raw) : ({ raw, padding }) => parts.join(raw) + padding + end
}

/** Padding against traffic analysis: a string of varying length in every chunk, as the last member of its object. */
const PADDED = /^(.*"obfuscation":")\w*"\}$/s
const PADDING_END = '"}'
const PADDING = /^\w*$/

/** The text of a string without escapes. */
const PLAIN = /^[ !#-[\]-\uffff]*$/
