/** JSON of megabytes is parsed and written piece by piece, because the engine does either in one go, which takes tens of milliseconds. */
import { isExactInteger, parseExact } from './exact-json.ts'
import { JsonTextError } from './json-limits.ts'
import { elementsFrom } from './json-scan.ts'
import { skipString } from './json-skip.ts'
import { scanTree } from './json-tree.ts'
import { isObject, type JsonValue } from './json.ts'
import type { Steps } from '../steps.ts'
import { textPieces } from '../text/text-pieces.ts'

/** Characters that are parsed or written at once. */
const PIECE = 128 * 1024

export interface JsonText {
  /**
   * The text or its octets: JSON's own characters are unchanged in it, and positions are offsets in it. It
   * is valid as far as a scan can see (json-scan.ts).
   */
  readonly held: string
  /** The text between two of these positions. */
  read(start: number, end: number): string
  /** Throws if the text is not JSON. */
  parse(text: string): JsonValue
  /** The ends of the long values found so far, by their beginnings. */
  readonly ends: Map<number, number>
}

/** Like `parseExact`, in steps. May also throw JsonTextError. */
export const parseExactInSteps = (text: string): Steps<unknown> => parseTextInSteps(text, (json) => parseExact(json) as JsonValue)

/** Like `JSON.parse`, in steps. May also throw JsonTextError. */
export const parseJsonInSteps = (text: string): Steps<JsonValue> => parseTextInSteps(text, (json) => JSON.parse(json) as JsonValue)

function* parseTextInSteps(text: string, parse: JsonText['parse']): Steps<JsonValue> {
  if (text.length <= PIECE) return parse(text)
  // The engine joins the pieces of a text when a character is read.
  const start = text.search(NO_SPACE)
  yield
  const held = { held: text, read: (from: number, to: number) => text.slice(from, to), parse, ends: new Map() }
  const end = text.trimEnd().length
  // For objects and arrays, a scan finds where each text ends.
  if (text[start] === '"' && skipString(text, start) !== end) throw behindJson()
  return yield* parseInSteps(held, start, end)
}

const NO_SPACE = /[^ \n\r\t]|$/

/** Like `parse` of all text between the positions, in steps. */
export function* parseInSteps(text: JsonText, start: number, end: number): Steps<JsonValue> {
  const { held, read, parse, ends } = text
  if (end - start <= PIECE) return parse(read(start, end))
  yield
  if (held[start] === '"') return yield* parseString(text, start, end)
  if (held[start] === '[') return yield* parseElements(text, start, end)
  const tree = scanTree(held, 1, start, ends)
  if (tree.end !== end) throw behindJson()
  yield
  if (tree.members === undefined) return parse(read(start, end))
  const members: [string, JsonValue][] = []
  for (const { start: valueStart, end: valueEnd, nameStart = 0 } of tree.members.values()) {
    const name = parse(read(nameStart, skipString(held, nameStart))) as string
    members.push([name, yield* parseInSteps(text, valueStart, valueEnd)])
  }
  return Object.fromEntries(members)
}

/** Neighbouring elements are parsed together, before the elements after them are located. */
function* parseElements(text: JsonText, start: number, end: number): Steps<JsonValue> {
  const { held, read, parse, ends } = text
  const values: JsonValue[] = []
  const elements = elementsFrom(held, start, ends)
  let from = 0
  let to = 0
  const parsed = function* (): Steps<void> {
    if (to - from > PIECE) values.push(yield* parseInSteps(text, from, to))
    else if (to > from) for (const value of parse(`[${read(from, to)}]`) as readonly JsonValue[]) values.push(value)
    yield
  }
  for (;;) {
    const { done, value } = elements.next()
    if (done === true) {
      yield* parsed()
      if (value !== end) throw behindJson()
      return values
    }
    if (to > from && value.end - from > PIECE) {
      yield* parsed()
      from = value.start
    } else if (to === from) from = value.start
    to = value.end
  }
}

const behindJson = (): JsonTextError => new JsonTextError('There is text after the end of the JSON.')

function* parseString({ held, read, parse }: JsonText, start: number, end: number): Steps<string> {
  const pieces: string[] = []
  const inner = held.slice(start + 1, end - 1)
  let escape = inner.indexOf('\\')
  for (let from = 0; from < inner.length;) {
    let to = Math.min(from + PIECE, inner.length)
    // No escape and no character of several octets is cut.
    while (escape >= 0 && escape < to) {
      const behind = escape + (inner[escape + 1] === 'u' ? 6 : 2)
      to = Math.min(Math.max(to, behind), inner.length)
      escape = inner.indexOf('\\', behind)
    }
    while (to < inner.length && isWithinCharacter(inner.charCodeAt(to))) to += 1
    pieces.push(parse(`"${read(start + 1 + from, start + 1 + to)}"`) as string)
    from = to
    yield
  }
  return pieces.join('')
}

/** A UTF-8 octet that continues a character. In text that is not held as octets, these are ordinary characters. */
const isWithinCharacter = (code: number): boolean => code >= 0x80 && code < 0xc0

/** Like JSON.stringify, in steps. */
export function* writeInSteps(value: unknown): Steps<string> {
  const large = new Set()
  if (sizeWithin(value, PIECE, large) >= 0) return JSON.stringify(value)
  const pieces: string[] = []
  yield* write(value, pieces, large)
  return pieces.join('')
}

/** `large` contains the values that are known to be too large for one piece. */
function* write(value: unknown, pieces: string[], large: Set<unknown>): Steps<void> {
  if ((!large.has(value) && sizeWithin(value, PIECE, large) >= 0) || isExactInteger(value)) pieces.push(JSON.stringify(value))
  else if (typeof value === 'string') yield* writeString(value, pieces)
  else if (Array.isArray(value)) {
    let separator = '['
    let size = 0
    for (const element of value as readonly unknown[]) {
      pieces.push(separator)
      yield* write(element ?? null, pieces, large)
      separator = ','
      size += pieces.at(-1)?.length ?? 0
      if (size > PIECE) {
        size = 0
        yield
      }
    }
    pieces.push(']')
  } else if (isObject(value)) {
    let separator = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      pieces.push(`${separator}${JSON.stringify(name)}:`)
      yield* write(member, pieces, large)
      separator = ','
      yield
    }
    pieces.push(separator === '{' ? '{}' : '}')
  }
}

function* writeString(text: string, pieces: string[]): Steps<void> {
  pieces.push('"')
  for (const piece of textPieces(text, PIECE)) {
    pieces.push(JSON.stringify(piece).slice(1, -1))
    yield
  }
  pieces.push('"')
}

/** True if the JSON of a value has at most about this many characters. It looks at no more of the value than that. */
export const fitsWithin = (value: unknown, characters: number): boolean => sizeWithin(value, characters, new Set()) >= 0

/**
 * About how many of `most` characters the value leaves; negative if it does not fit, in which case not all of it was looked at. A value
 * longer than half a piece is remembered, because a deeply nested one would be measured again at each level.
 */
const sizeWithin = (value: unknown, most: number, large: Set<unknown>): number => {
  if (typeof value === 'string') return most - value.length - 2
  if (typeof value !== 'object' || value === null) return most - 4
  const left = sizeOfMembers(value, most - 2, large)
  if (left < 0 && most > PIECE / 2) large.add(value)
  return left
}

const sizeOfMembers = (value: object, most: number, large: Set<unknown>): number => {
  let left = most
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      left = sizeWithin(element, left - 1, large)
      if (left < 0) return left
    }
    return left
  }
  for (const [name, member] of Object.entries(value)) {
    left = sizeWithin(member, left - name.length - 4, large)
    if (left < 0) return left
  }
  return left
}
