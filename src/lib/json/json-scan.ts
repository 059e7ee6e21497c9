/** Scans JSON text for the positions of the members or elements of its outermost value, without building any value. */
import { cutText } from '../text/cut-text.ts'
import { ACCEPTED, type JsonLimits, JsonTextError, WHOLE_PARSE_MAX } from './json-limits.ts'
import {
  BRACE,
  BRACKET,
  type Budget,
  budgetOf,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  countName,
  FEW,
  type JsonElement,
  type JsonSpan,
  LETTER_U,
  nameIn,
  passOver,
  QUOTE,
  repeatedName,
  skipColon,
  skipComma,
  skipSpace,
  skipString,
  skipValue,
} from './json-skip.ts'

/** The span is that of the value. */
export interface JsonMember extends JsonSpan {
  readonly key: string
  readonly keyStart: number
  /** True if the value contains an integer that a double is not sure to hold (lib/json/exact-json.ts). */
  readonly exact: boolean
  /** The elements of a conversation in a large text; present only if all of them are objects or arrays. */
  readonly elements?: readonly JsonElement[]
  /** The beginning and the end of each part of the value that a search for names may pass over; absent if there are none. */
  readonly texts?: readonly number[]
}

const MARKED = 'The body begins with a byte order mark: send UTF-8 without one.'

/** The members of the one object in `text`. Throws JsonTextError, also if `names` is `once` and a name occurs twice. */
export const scanMembers = (text: string, limits: JsonLimits = ACCEPTED, names: 'once' | 'repeated' = 'once'): JsonMember[] => {
  const budget = budgetOf(limits)
  let texts: number[] = (budget.texts = [])
  const members: JsonMember[] = []
  let at = skipSpace(text, budget, 0)
  if (text.charCodeAt(at) !== BRACE) throw new JsonTextError(text.startsWith('\uFEFF') ? MARKED : 'The body must be a JSON object.')
  at = skipSpace(text, budget, at + 1)
  if (text.charCodeAt(at) === CLOSING_BRACE) return atEnd(text, budget, at + 1, members)
  for (;;) {
    const keyStart = at
    const keyEnd = skipString(text, at)
    countName(budget, keyEnd - keyStart)
    const start = skipColon(text, budget, keyEnd)
    const { longIntegers, nodes } = budget
    const key = nameIn(text, keyStart, keyEnd)
    const isConversation = CONVERSATIONS.has(key)
    // The positions of elements are not needed for text that is parsed as a whole.
    const elements: JsonElement[] | null = isConversation && text.length > WHOLE_PARSE_MAX ? [] : null
    const before = budget.nodes
    const end = isConversation ? skipConversation(text, start, budget, elements) : skipValue(text, start, budget)
    if (members.length >= limits.fields) throw new JsonTextError(`The body has more than ${limits.fields} fields.`)
    if (nodes - budget.nodes > limits.fieldNodes && !LONG_FIELDS.has(key)) throw tooManyInField(key, limits)
    if (text.charCodeAt(start) === QUOTE) passOver(text, keyStart, start, end, budget)
    const exact = budget.longIntegers > longIntegers
    const whole = elements !== null && areAllValues(elements, before - budget.nodes) ? elements : undefined
    if (whole === undefined && texts.length === 0) members.push({ key, keyStart, start, end, exact })
    else {
      const member = { key, keyStart, start, end, exact, texts }
      members.push(whole === undefined ? member : { ...member, elements: whole })
      texts = budget.texts = []
    }
    at = skipSpace(text, budget, end)
    if (text.charCodeAt(at) === CLOSING_BRACE) break
    at = skipComma(text, budget, at)
  }
  atEnd(text, budget, at + 1, members)
  if (names === 'once') refuseRepeated(members)
  if (limits.nodes - budget.nodes > limits.exactNodes && budget.longIntegers > 0) {
    throw new JsonTextError(`The body holds more than ${limits.exactNodes} values and also an integer beyond ${Number.MAX_SAFE_INTEGER}.`)
  }
  return members
}

/** The elements of the one array in `text`. Throws JsonTextError. */
export const scanElements = (text: string): JsonSpan[] => {
  const budget = budgetOf(ACCEPTED)
  const elements: JsonSpan[] = []
  let at = skipSpace(text, budget, 0)
  if (text.charCodeAt(at) !== BRACKET) throw new JsonTextError('The text must be a JSON array.')
  at = skipSpace(text, budget, at + 1)
  if (text.charCodeAt(at) === CLOSING_BRACKET) return atEnd(text, budget, at + 1, elements)
  for (;;) {
    const start = at
    const end = skipValue(text, start, budget)
    elements.push({ start, end })
    at = skipSpace(text, budget, end)
    if (text.charCodeAt(at) === CLOSING_BRACKET) return atEnd(text, budget, at + 1, elements)
    at = skipComma(text, budget, at)
  }
}

/** Yields the elements of the array at `from`, each located on demand; returns the offset after the array. Throws JsonTextError. */
export function* elementsFrom(text: string, from: number): Generator<JsonSpan, number, undefined> {
  const budget = budgetOf(ACCEPTED)
  let at = skipSpace(text, budget, from + 1)
  for (let first = true; text.charCodeAt(at) !== CLOSING_BRACKET; first = false) {
    if (!first) at = skipComma(text, budget, at)
    const end = skipValue(text, at, budget)
    yield { start: at, end }
    at = skipSpace(text, budget, end)
  }
  return at + 1
}

/** The fields that hold a conversation on the various interfaces. */
const CONVERSATIONS: ReadonlySet<string> = new Set(['messages', 'input'])

/** Fields whose elements are read one by one. */
const LONG_FIELDS: ReadonlySet<string> = new Set([...CONVERSATIONS, 'system', 'tools', 'functions', 'items'])

const tooManyInField = (key: string, { fieldNodes }: JsonLimits): JsonTextError =>
  new JsonTextError(`The field "${cutText(key, 64)}" of the body holds more than ${fieldNodes} values.`)

/** `values` is the number of values in the list of these elements, including the list itself. */
const areAllValues = (elements: readonly JsonElement[], values: number): boolean =>
  elements.length > 0 && elements.reduce((sum, element) => sum + 1 + element.values, 1) === values

const skipConversation = (text: string, start: number, budget: Budget, elements: JsonElement[] | null): number => {
  const { containers, containersMost } = budget
  budget.containers = budget.containersMost = budget.limits.conversation
  const end = skipValue(text, start, budget, elements)
  budget.containers = containers
  budget.containersMost = containersMost
  return end
}

/** Throws JsonTextError if `text` has more escapes than the limit. */
export const refuseEscapes = (text: string, { escapes }: JsonLimits): void => {
  // Each escape takes at least two characters.
  if (text.length < 2 * escapes) return
  let count = 0
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    count += text.charCodeAt(at + 1) === LETTER_U ? 4 : 1
    if (count > escapes) throw new JsonTextError(`The body holds more than ${escapes} escaped characters.`)
  }
}

/** Throws JsonTextError if two members have the same name. */
export const refuseRepeated = (members: readonly JsonMember[]): void => {
  const seen = members.length > FEW ? new Set<string>() : null
  for (let position = 0; position < members.length; position += 1) {
    const key = members[position]?.key ?? ''
    let repeated = seen?.has(key) ?? false
    if (seen === null) for (let before = 0; before < position; before += 1) repeated ||= members[before]?.key === key
    else seen.add(key)
    if (repeated) throw repeatedName(key)
  }
}

const atEnd = <Found>(text: string, budget: Budget, start: number, found: Found): Found => {
  const at = skipSpace(text, budget, start)
  if (at < text.length) throw new JsonTextError(`Text after the end of the JSON object, at character ${at}.`)
  return found
}
