/**
 * Skips over JSON text value by value without building anything: finds where each value ends and what it uses of the limits.
 * Takes linear time: the end of a string is found by a search.
 */
import { cutText } from '../text/cut-text.ts'
import { JsonLimitError, type JsonLimits, JsonTextError } from './json-limits.ts'
import { isAscii, octetsOf } from '../octets.ts'
import { parseJson } from './parse-json.ts'

/** The span excludes the white space around the value. */
export interface JsonSpan {
  readonly start: number
  readonly end: number
}

/** An object or an array in a list. */
export interface JsonElement extends JsonSpan {
  /** How many values it contains, at all levels. */
  readonly values: number
  /** True if none of its values contains others. */
  readonly isFlat: boolean
}

const SPACE = 32
export const QUOTE = 34
const COMMA = 44
const COLON = 58
const ZERO = 48
const NINE = 57
export const BRACKET = 91
const BACKSLASH = 92
export const LETTER_U = 117
export const CLOSING_BRACKET = 93
export const BRACE = 123
export const CLOSING_BRACE = 125
/** Parsing a number of megabytes takes the engine a tenth of a second. */
const NUMBER_MAX = 1000
const SCALAR = /-?(?:0|[1-9]\d{0,1000})(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,1000})?|true|false|null/y

/** The remaining limits, and what was found. */
export interface Budget {
  readonly limits: JsonLimits
  nodes: number
  containers: number
  containersMost: number
  names: number
  nameCharacters: number
  numberCharacters: number
  spaces: number
  longIntegers: number
  /** Receives the beginning and the end of each part of a long text that a search for names may pass over; null if they are not wanted. */
  texts: number[] | null
}

export const budgetOf = (limits: JsonLimits): Budget => {
  const { nodes, containers, namesInAll: names, nameCharacters, numberCharacters, spaces } = limits
  return {
    limits,
    nodes,
    containers,
    containersMost: containers,
    names,
    nameCharacters,
    numberCharacters,
    spaces,
    longIntegers: 0,
    texts: null,
  }
}

/**
 * Returns the end of a value of any kind. It is not recursive: hostile nesting must not overflow the stack. If the value is a
 * list, `found` receives the non-empty objects and arrays in it.
 */
export const skipValue = (text: string, start: number, budget: Budget, found: JsonElement[] | null = null): number => {
  const { limits } = budget
  const kind = text.charCodeAt(start)
  // Most values contain no others, so nothing is set up for them.
  if (kind !== BRACE && kind !== BRACKET) {
    budget.nodes -= 1
    if (budget.nodes < 0) throw tooManyValues(limits)
    return kind === QUOTE ? skipString(text, start) : skipScalar(text, start, budget)
  }
  if (limits.names === 'unread') return skipAccepted(text, start, budget)
  let at = start
  /** The position of the last member's name. */
  let key = start
  /** The character that closes each open container. */
  const open: number[] = []
  /** The number of members in each open object. */
  const counts: number[] = []
  let elements = 0
  /** The names of the members of each open object, if they must differ; unused for arrays. */
  const names: Names[] = []
  /** The position of the list's current element, and what was left of the limits when it began. */
  let elementStart = start
  let nodesBefore = 0
  let containersBefore = 0
  for (;;) {
    budget.nodes -= 1
    if (budget.nodes < 0) throw tooManyValues(limits)
    const first = text.charCodeAt(at)
    if (first === QUOTE) {
      const from = at
      at = skipString(text, from)
      // Most texts are shorter, so the name before a text is looked at only then.
      if (at - from > LONG_TEXT && open[open.length - 1] === CLOSING_BRACE) {
        if (at - from - 2 > limits.identifierCharacters) refuseIdentifier(text, key, limits)
        passOver(text, key, from, at, budget)
      }
    } else if (first === BRACE || first === BRACKET) {
      // The outermost object is one level, and each open container is one more.
      if (open.length + 2 > limits.depth) throw tooDeep(limits)
      budget.containers -= 1
      if (budget.containers < 0) throw new JsonTextError(`The body holds more than ${budget.containersMost} objects and arrays.`)
      if (open.length === 1 && open[0] === CLOSING_BRACKET) {
        elements += 1
        if (elements > limits.elements) throw new JsonTextError(`A list in the body holds more than ${limits.elements} objects and arrays.`)
        elementStart = at
        nodesBefore = budget.nodes
        containersBefore = budget.containers
      }
      const closing = first === BRACE ? CLOSING_BRACE : CLOSING_BRACKET
      at = skipSpace(text, budget, at + 1)
      if (text.charCodeAt(at) === closing) at += 1
      else {
        open.push(closing)
        counts.push(1)
        names.push(null)
        key = at
        if (closing === CLOSING_BRACE) at = skipName(text, budget, names, at)
        continue
      }
    } else at = skipScalar(text, at, budget)

    // After a value: close the containers that end here, then go to the next value.
    for (;;) {
      if (open.length === 0) return at
      const closing = open[open.length - 1]
      at = skipSpace(text, budget, at)
      if (text.charCodeAt(at) !== closing) {
        at = skipComma(text, budget, at)
        if (closing === CLOSING_BRACE) {
          key = at
          at = skipName(text, budget, names, at)
          const last = counts.length - 1
          const count = (counts[last] ?? 0) + 1
          if (count > limits.members) throw new JsonTextError(`An object in the body has more than ${limits.members} members.`)
          counts[last] = count
        }
        break
      }
      at += 1
      open.pop()
      counts.pop()
      names.pop()
      if (found !== null && open.length === 1 && open[0] === CLOSING_BRACKET)
        found.push({
          start: elementStart,
          end: at,
          values: nodesBefore - budget.nodes,
          isFlat: containersBefore === budget.containers,
        })
    }
  }
}

/** Like `skipValue`, for a container in text that a parser judges: only strings, brackets and numbers are looked at. */
const skipAccepted = (text: string, start: number, budget: Budget): number => {
  let at = start
  /** The outermost object is one level. */
  let level = 1
  do {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = skipString(text, at)
    else if (code <= SPACE || code === COMMA || code === COLON) at += 1
    else if (code === BRACE || code === BRACKET) {
      level += 1
      if (level > budget.limits.depth) throw tooDeep(budget.limits)
      at += 1
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      level -= 1
      at += 1
    } else at = skipScalar(text, at, budget)
  } while (level > 1)
  return at
}

const tooDeep = ({ depth }: JsonLimits): JsonTextError => new JsonTextError(`The body is nested deeper than ${depth} levels.`)

/** `start` and `end` are those of a string, and `key` is the position of its name. */
export const passOver = (text: string, key: number, start: number, end: number, { texts }: Budget): void => {
  if (texts === null || end - start <= LONG_TEXT) return
  TEXT_MEMBER.lastIndex = key
  if (!TEXT_MEMBER.test(text)) return
  let from = start + 1
  while (from < start + BEGINNING) from += text.charCodeAt(from) !== BACKSLASH ? 1 : text.charCodeAt(from + 1) === LETTER_U ? 6 : 2
  if (from < end - 1) texts.push(from, end - 1)
}

/** Members whose strings are words for a model or of one, on all interfaces: they name nothing that the service or a provider acts on. */
const TEXT_MEMBER = /"(?:content|text|input|output|thinking|reasoning|reasoning_content|instructions|system|description)"/y
const LONG_TEXT = 128
/** The characters of a long text that a search still sees, at least: some rules ask whether it begins with white space. */
const BEGINNING = 16

/** Throws JsonTextError if the member whose name stands at `key` is a name or an id. */
const refuseIdentifier = (text: string, key: number, { identifierCharacters }: JsonLimits): void => {
  const member = nameIn(text, key, skipString(text, key))
  if (IDENTIFIERS.has(member))
    throw new JsonTextError(`The member "${member}" at character ${key} of the body has more than ${identifierCharacters} characters.`)
}

/** The members for names and ids of tools and calls on all interfaces. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['name', 'id', 'call_id', 'tool_call_id', 'tool_use_id'])

/** `names` has an entry for each open container, the innermost last. */
const skipName = (text: string, budget: Budget, names: Names[], start: number): number => {
  const { limits } = budget
  const end = skipString(text, start)
  budget.names -= 1
  if (budget.names < 0) throw new JsonTextError(`The objects in the body have more than ${limits.namesInAll} members.`)
  countName(budget, end - start)
  if (limits.names === 'once') takeName(names, names.length - 1, text, start, end)
  return skipColon(text, budget, end)
}

/** `length` includes the quotes. */
export const countName = (budget: Budget, length: number): void => {
  budget.nameCharacters -= length - 2
  if (budget.nameCharacters >= 0) return
  throw new JsonTextError(`The names of the members in the body have more than ${budget.limits.nameCharacters} characters in all.`)
}

const tooManyValues = ({ nodes }: JsonLimits): JsonLimitError => new JsonLimitError(`The body holds more than ${nodes} values.`)

export const skipSpace = (text: string, budget: Budget, start: number): number => {
  // A read past the end would make all of these reads slow, in compiled code too. Nearly all JSON is written without white space.
  if (start >= text.length || text.charCodeAt(start) > 32) return start
  let at = start
  for (;;) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
      budget.spaces -= at - start
      if (budget.spaces < 0) throw tooManySpaces(budget.limits)
      return at
    }
    at += 1
    if (at - start > SHORT_SPACE) {
      budget.spaces -= at - start
      return skipLongSpace(text, budget, at)
    }
  }
}

const tooManySpaces = ({ spaces }: JsonLimits): JsonTextError =>
  new JsonTextError(`The body holds more than ${spaces} characters of white space between its values.`)

/** Longer white space is not a usual layout; the engine searches for its end. */
const SHORT_SPACE = 32
const SPACES = /[ \n\r\t]{1,65536}/y

const skipLongSpace = (text: string, budget: Budget, start: number): number => {
  SPACES.lastIndex = start
  let at = start
  for (; SPACES.test(text); at = SPACES.lastIndex) {
    budget.spaces -= SPACES.lastIndex - at
    if (budget.spaces < 0) throw tooManySpaces(budget.limits)
  }
  return at
}

/** Skips the separator and the white space around it. */
export const skipColon = (text: string, budget: Budget, start: number): number => {
  const at = skipSpace(text, budget, start)
  if (text.charCodeAt(at) !== COLON) fail(text, at)
  return skipSpace(text, budget, at + 1)
}

export const skipComma = (text: string, budget: Budget, at: number): number => {
  if (text.charCodeAt(at) !== COMMA) fail(text, at)
  return skipSpace(text, budget, at + 1)
}

/** Returns the offset after the string whose opening quote is at `start`. Throws JsonTextError. */
export const skipString = (text: string, start: number): number => {
  if (text.charCodeAt(start) !== QUOTE) fail(text, start)
  let quote = text.indexOf('"', start + 1)
  while (text.charCodeAt(quote - 1) === BACKSLASH && isEscaped(text, quote)) quote = nextQuote(text, quote + 1)
  if (quote < 0) throw new JsonTextError('The body is not valid JSON: a string does not end.')
  return quote + 1
}

/** If one quote is escaped, many are: looking at the next characters costs less than a search for each quote. */
const nextQuote = (text: string, start: number): number => {
  const nearby = Math.min(start + NEARBY, text.length)
  let at = start
  for (; at < nearby; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return text.indexOf('"', at)
}

const NEARBY = 64

const isEscaped = (text: string, quote: number): boolean => {
  let before = quote - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

const skipScalar = (text: string, start: number, budget: Budget): number => {
  SCALAR.lastIndex = start
  if (!SCALAR.test(text)) fail(text, start)
  const end = SCALAR.lastIndex
  if (end - start > NUMBER_MAX) throw new JsonTextError(`A number in the body has more than ${NUMBER_MAX} characters.`)
  budget.numberCharacters -= end - start
  if (budget.numberCharacters < 0)
    throw new JsonTextError(`The numbers in the body have more than ${budget.limits.numberCharacters} characters in all.`)
  if (end - start >= LONG && isWholeNumber(text, start, end) && !Number.isSafeInteger(Number(text.slice(start, end))))
    budget.longIntegers += 1
  return end
}

/** The shortest integer that a double cannot hold has this many digits. */
const LONG = 16

const isWholeNumber = (text: string, start: number, end: number): boolean => {
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) return false
  }
  return true
}

/** A list of the first few names, a set of more; null before the first name. */
type Names = string[] | Set<string> | null

/** Adds the name to those of its object. Throws JsonTextError if the object has that name already. */
const takeName = (objects: Names[], at: number, text: string, start: number, end: number): void => {
  const name = nameIn(text, start, end)
  addName(objects, at, name)
  // In octets, the escaped and the unescaped form of one name are different texts.
  if (name.length < end - start - 2 && !isAscii(name)) addName(objects, at, octetsOf(Buffer.from(name)))
}

const addName = (objects: Names[], at: number, name: string): void => {
  const known = objects[at] ?? null
  if (known === null) objects[at] = [name]
  else if (Array.isArray(known)) {
    if (known.includes(name)) throw repeatedName(name)
    if (known.length < FEW) known.push(name)
    else objects[at] = new Set([...known, name])
  } else if (known.has(name)) throw repeatedName(name)
  else known.add(name)
}

export const repeatedName = (name: string): JsonTextError => new JsonTextError(`The body names "${cutText(name, 64)}" twice.`)

export const nameIn = (text: string, start: number, end: number): string => {
  const name = text.slice(start + 1, end - 1)
  if (!name.includes('\\')) return name
  return parseJson(text.slice(start, end)) as string
}

/** A few names are compared faster than they are put into a set. */
export const FEW = 16

const fail = (text: string, at: number): never => {
  throw new JsonTextError(
    at >= text.length ? 'The body is not valid JSON: it ends too early.' : `The body is not valid JSON, at character ${at}.`,
  )
}
