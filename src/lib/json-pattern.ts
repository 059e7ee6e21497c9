/**
 * JSON texts that are alike but for one string, as the chunks of a stream are: what was once made of one of them fits
 * the next, which costs two comparisons and not a parser. Some have padding at their end as well.
 */

/** Stands in a skeleton where the string's text stands in the others. */
const SLOT = '\\u0000text'
const SLOT_VALUE = '\u0000text'
const PADDING_SLOT = '\\u0000padding'

/** The part of one text that differs from others of its pattern. */
export interface Filling {
  /** JSON text of the string, without its quotes. */
  readonly raw: string
  readonly padding: string
}

export interface JsonPattern {
  /** A JSON text of the pattern, with slots; `fillerOf` fills the slots in any text made from it. */
  readonly skeleton: string
  /** The text, parsed. */
  readonly parsed: unknown
  /** The values of the slots, and the string; null for a text that is not of the pattern. */
  match(json: string): (Filling & { readonly value: string }) | null
}

/**
 * The pattern of `json`, which holds `value` once. `stringOf` finds the string in the parsed text: a value that also
 * stands elsewhere, or is spelled in another way, makes no pattern, and the answer is null.
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
  const parsed = parsedOrNull(skeleton)
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
      const found = PLAIN.test(raw) ? raw : parsedOrNull(`"${raw}"`)
      return typeof found === 'string' ? { raw, padding, value: found } : null
    },
  }
}

/** `made`: a text that was made of a skeleton. The answer puts fillings into it; null where it has no slot any more. */
export const fillerOf = (made: string): ((filling: Filling) => string) | null => {
  const [body = '', end, ...more] = made.split(PADDING_SLOT)
  const parts = body.split(SLOT)
  if (parts.length < 2 || more.length > 0) return null
  return end === undefined ? ({ raw }) => parts.join(raw) : ({ raw, padding }) => parts.join(raw) + padding + end
}

/** Padding against traffic analysis: a string of another length in every chunk, the last member of its object. */
const PADDED = /^(.*"obfuscation":")\w*"\}$/s
const PADDING_END = '"}'
const PADDING = /^\w*$/

/** The text of a string without escapes. */
const PLAIN = /^[ !#-[\]-\uffff]*$/

const parsedOrNull = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
