/**
 * The strings, long numbers and containers of a JSON text in order of appearance, found without parsing it, in steps.
 */
import type { Steps } from '../steps.ts'
import { parseJson } from './parse-json.ts'

/** Takes the places of a JSON text in order. `key` of a container is like that of a text. */
export interface JsonVisitor {
  text(text: JsonText): void
  open(key: string, isArray: boolean): void
  /** Returns further work to do before the walk goes on, if there is any. */
  close(): Steps<void> | undefined
}

export interface JsonText {
  readonly kind: 'string' | 'number'
  /** Offsets of the literal: of a string with its quotes, of a long number its digits. */
  readonly start: number
  readonly end: number
  readonly value: string
  /**
   * The name of the member whose value it is or, in an array, whose value the array is; '' at
   * the top. For a member's name, the name itself.
   */
  readonly key: string
  /** True if the string is a member's name rather than a value. */
  readonly isKey: boolean
}

/** Shorter numbers identify nothing by themselves; long ones may be account, card or telephone numbers. */
const NUMBER = /-?\d[\d.]{7,}(?:[eE][+-]?\d+)?/g
const LONG_NUMBER = 8

/** Units of text, and places, that are read in one step. */
const WORK_UNITS = 32_768
const PLACES_AT_ONCE = 64

/** `json` must be text that a scanner has accepted. Throws JsonTextError for an invalid escape. */
export function* walkJson(json: string, visitor: JsonVisitor): Steps<void> {
  /** For each open container, the name of the member whose value it is. */
  const open: string[] = []
  let key = ''
  let at = 0
  let places = 0
  const isStep = (): boolean => (places += 1) % PLACES_AT_ONCE === 0
  while (at < json.length) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) {
      const start = at
      at = endOfString(json, start)
      const isKey = json.charCodeAt(afterSpace(json, at)) === COLON
      const value = at - start <= WORK_UNITS ? shortText(json.slice(start, at)) : yield* longText(json, start, at)
      if (isKey) key = value
      visitor.text({ kind: 'string', start, end: at, value, key, isKey })
      if (isStep()) yield
      continue
    }
    if (unit === MINUS || (unit >= ZERO && unit <= NINE)) {
      const start = at
      while (at < json.length && isInNumber(json.charCodeAt(at))) at += 1
      if (at - start < LONG_NUMBER) continue
      for (const match of json.slice(start, at).matchAll(NUMBER)) {
        const from = start + match.index
        visitor.text({ kind: 'number', start: from, end: from + match[0].length, value: match[0], key, isKey: false })
        if (isStep()) yield
      }
      continue
    }
    if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      visitor.open(key, unit === OPEN_ARRAY)
      open.push(key)
      if (isStep()) yield
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) {
      key = open.pop() ?? ''
      const more = visitor.close()
      if (more !== undefined) yield* more
      if (isStep()) yield
    } else if (unit === COMMA) key = open.at(-1) ?? ''
    at += 1
    if (at % WORK_UNITS === 0) yield
  }
}

/** `replacements` are in order of appearance, and each `text` is JSON text. */
export const spliceJson = (json: string, replacements: readonly { start: number; end: number; text: string }[]): string => {
  const out: string[] = []
  let from = 0
  for (const { start, end, text } of replacements) {
    out.push(json.slice(from, start), text)
    from = end
  }
  out.push(json.slice(from))
  return out.join('')
}

const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const COMMA = 44
const COLON = 58
const QUOTE = 34
const BACKSLASH = 92
const MINUS = 45
const ZERO = 48
const NINE = 57
const POINT = 46
const PLUS = 43

const isInNumber = (unit: number): boolean =>
  (unit >= ZERO && unit <= NINE) || unit === POINT || unit === PLUS || unit === MINUS || unit === 69 || unit === 101

const shortText = (literal: string): string => (literal.includes('\\') ? (parseJson(literal) as string) : literal.slice(1, -1))

/** Escapes are decoded in pieces: a string that consists only of escapes takes long. */
function* longText(json: string, start: number, end: number): Steps<string> {
  const escape = json.indexOf('\\', start)
  if (escape < 0 || escape >= end) return json.slice(start + 1, end - 1)
  const pieces: string[] = []
  for (let from = start + 1; from < end - 1;) {
    const to = Math.min(from + WORK_UNITS, end - 1)
    const cut = to === end - 1 ? to : beforeEscape(json, from, to)
    pieces.push(parseJson(`"${json.slice(from, cut)}"`) as string)
    from = cut
    yield
  }
  return pieces.join('')
}

/** The last offset at or before `to` that is not inside an escape. */
const beforeEscape = (json: string, from: number, to: number): number => {
  let backslashes = 0
  while (to - 1 - backslashes >= from && json.charCodeAt(to - 1 - backslashes) === BACKSLASH) backslashes += 1
  if (backslashes % 2 === 1) return to - 1
  if (backslashes > 0) return to
  // The digits of `\u0041` may have been cut.
  const escape = json.lastIndexOf('\\u', to)
  if (escape < from || escape < to - 5) return to
  let before = 0
  while (escape - 1 - before >= from && json.charCodeAt(escape - 1 - before) === BACKSLASH) before += 1
  return before % 2 === 0 ? escape : to
}

const endOfString = (json: string, quote: number): number => {
  let from = quote + 1
  for (;;) {
    const end = json.indexOf('"', from)
    if (end < 0) return json.length
    let before = end - 1
    while (json.charCodeAt(before) === BACKSLASH) before -= 1
    if ((end - 1 - before) % 2 === 0) return end + 1
    from = end + 1
  }
}

const afterSpace = (json: string, from: number): number => {
  let at = from
  while (json.charCodeAt(at) <= 32) at += 1
  return at
}
