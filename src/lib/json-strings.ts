/** The strings inside a JSON text, found without parsing it, and replaced without touching a byte beside them. */
import { JsonTextError } from './json-scan.ts'

export interface JsonString {
  /** Offsets of the literal, quotes included; of a long number, its digits. */
  readonly start: number
  readonly end: number
  readonly value: string
  /** The member that it is the value of, or, in arrays, that its array is; '' at the top. A member's own name has itself. */
  readonly key: string
  /** It is the name of a member. */
  readonly isKey: boolean
  /** A number that is long enough to be an account's, a card's, a telephone's. */
  readonly isNumber: boolean
}

/** Shorter numbers say nothing by themselves. */
const NUMBER = /-?\d[\d.]{7,}(?:[eE][+-]?\d+)?/g

/** `json` is text that a parser has accepted. In order of appearance; long numbers too. */
export const jsonStrings = (json: string): JsonString[] => {
  const found: JsonString[] = []
  /** For each open container, the member that it stands for. */
  const open: string[] = []
  let key = ''
  let at = 0
  for (;;) {
    const quote = json.indexOf('"', at)
    const gapEnd = quote < 0 ? json.length : quote
    for (let place = at; place < gapEnd; place += 1) {
      const character = json.charCodeAt(place)
      if (character === OPEN_OBJECT || character === OPEN_ARRAY) open.push(key)
      else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) open.pop()
      else if (character === COMMA) key = open.at(-1) ?? ''
    }
    if (gapEnd - at >= LONG_NUMBER) {
      for (const match of json.slice(at, gapEnd).matchAll(NUMBER)) {
        const start = at + match.index
        found.push({ start, end: start + match[0].length, value: match[0], key, isKey: false, isNumber: true })
      }
    }
    if (quote < 0) return found
    const end = endOfString(json, quote)
    const raw = json.slice(quote, end)
    const value = raw.includes('\\') ? unescaped(raw) : raw.slice(1, -1)
    const colon = afterSpace(json, end)
    const isKey = json.charCodeAt(colon) === COLON
    if (isKey) key = value
    found.push({ start: quote, end, value, key, isKey, isNumber: false })
    at = end
  }
}

/** `replacements` in order of appearance, as JSON text. */
export const spliceJson = (json: string, replacements: readonly { start: number; end: number; text: string }[]): string => {
  let out = ''
  let from = 0
  for (const { start, end, text } of replacements) {
    out += json.slice(from, start) + text
    from = end
  }
  return out + json.slice(from)
}

const LONG_NUMBER = 8
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON, BACKSLASH] = [123, 125, 91, 93, 44, 58, 92]

/** A large body is parsed as it is read: a fault in an escape may show only here. */
const unescaped = (raw: string): string => {
  try {
    return JSON.parse(raw) as string
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
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
