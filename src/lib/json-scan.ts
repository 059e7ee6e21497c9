/**
 * Walks over JSON text and says where the members or elements of its outermost value stand, without building any value.
 * Linear time: strings are skipped by a search for their end.
 */
import { cutText } from './cut-text.ts'
import { isAscii, octetsOf } from './octets.ts'

export interface JsonLimits {
  /** Nested containers, the outermost counted. */
  readonly depth: number
  /** Values in all. */
  readonly nodes: number
  /** Values in one field, those aside that hold conversations, tools or lists of them: a schema looks at each in one go. */
  readonly fieldNodes: number
  /** Objects and arrays in all, those of a conversation aside, which may have so many itself: it is read in steps. */
  readonly containers: number
  readonly conversation: number
  /** Objects and arrays that stand in the list of one field: messages, items, tools. */
  readonly elements: number
  /** The most members of the outermost object, and of any other one. */
  readonly fields: number
  readonly members: number
  /** Names of members in all, those of the outermost object aside. */
  readonly namesInAll: number
  /** Characters of the names of all members. */
  readonly nameCharacters: number
  /** Characters of a text that a member of an object beside the outermost one has as its name or id: they are compared and copied at once. */
  readonly identifierCharacters: number
  /** Characters of all numbers; the words `true`, `false` and `null` count as such. */
  readonly numberCharacters: number
  /** Characters that are written as an escape, in all; one by its number (`\u0061`) counts as four, which is what it costs. */
  readonly escapes: number
  /** Characters of white space between values, in all. */
  readonly spaces: number
  /** Values in all beside an integer of so many digits that it is kept as it was written, which takes several times as long. */
  readonly exactNodes: number
  /** Says whether an object within the outermost one may name a member twice: some parsers heed the first, others the last. */
  readonly names: 'once' | 'repeated'
}

/**
 * Deeper text than this overflows the stack of a serializer long before that of a parser
 * (docs/contract/requests.md#bounds). The others bound what reading a body costs at once, whatever it holds: a few tens
 * of milliseconds.
 */
export const JSON_LIMITS: JsonLimits = {
  depth: 64,
  nodes: 200_000,
  fieldNodes: 50_000,
  containers: 20_000,
  conversation: 40_000,
  elements: 20_000,
  fields: 1000,
  members: 10_000,
  namesInAll: 60_000,
  nameCharacters: 2_000_000,
  identifierCharacters: 65_536,
  numberCharacters: 5_000_000,
  escapes: 1_000_000,
  spaces: 2_000_000,
  exactNodes: 25_000,
  names: 'once',
}

const MANY = Number.MAX_SAFE_INTEGER

/** For text that was accepted before. */
export const UNLIMITED: JsonLimits = {
  depth: 1024,
  nodes: MANY,
  fieldNodes: MANY,
  containers: MANY,
  conversation: MANY,
  elements: MANY,
  fields: MANY,
  members: MANY,
  namesInAll: MANY,
  nameCharacters: MANY,
  identifierCharacters: MANY,
  numberCharacters: MANY,
  escapes: MANY,
  spaces: MANY,
  exactNodes: MANY,
  names: 'repeated',
}

/** Not the JSON object that was expected; `message` is a sentence for the sender. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
}

/** The text holds more than its limits allow; whether it is JSON was not found out. */
export class JsonLimitError extends JsonTextError {}

/** Without the white space around it. */
export interface JsonSpan {
  readonly start: number
  readonly end: number
}

/** The span is that of the value. */
export interface JsonMember extends JsonSpan {
  readonly key: string
  readonly keyStart: number
  /** It holds an integer of more digits than a double is sure to keep (lib/exact-json.ts). */
  readonly exact: boolean
  /** The elements of a conversation in a large text, where none of them is a plain value. */
  readonly elements?: readonly JsonElement[]
}

/** An object or an array in a list. */
export interface JsonElement extends JsonSpan {
  /** How many values it holds, those within others counted. */
  readonly values: number
  /** None of its values holds others. */
  readonly isFlat: boolean
}

/** The members of the one object that `text` holds. Throws JsonTextError, also where `names` is once and a name stands twice. */
export const scanMembers = (text: string, limits: JsonLimits = UNLIMITED, names: 'once' | 'repeated' = 'once'): JsonMember[] => {
  const budget = budgetOf(limits)
  const members: JsonMember[] = []
  let at = skipSpace(text, budget, 0)
  if (text.charCodeAt(at) !== BRACE) throw new JsonTextError('The body must be a JSON object.')
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
    const elements: JsonElement[] | null = isConversation && text.length > LONG_TEXT ? [] : null
    const before = budget.nodes
    const end = isConversation ? skipConversation(text, start, budget, elements) : skipValue(text, start, budget)
    if (members.length >= limits.fields) throw new JsonTextError(`The body has more than ${limits.fields} fields.`)
    if (nodes - budget.nodes > limits.fieldNodes && !LONG_FIELDS.has(key)) throw tooManyInField(key, limits)
    const member = { key, keyStart, start, end, exact: budget.longIntegers > longIntegers }
    members.push(elements !== null && areAllValues(elements, before - budget.nodes) ? { ...member, elements } : member)
    at = skipSpace(text, budget, end)
    if (text.charCodeAt(at) === CLOSING_BRACE) break
    at = skipComma(text, budget, at)
  }
  atEnd(text, budget, at + 1, members)
  if (names === 'once') refuseRepeated(members)
  if (limits.nodes - budget.nodes > limits.exactNodes && budget.longIntegers > 0) {
    throw new JsonTextError(`The body holds more than ${limits.exactNodes} values, and an integer of more than 15 digits beside them.`)
  }
  return members
}

/** The elements of the one array that `text` holds. Throws JsonTextError. */
export const scanElements = (text: string): JsonSpan[] => {
  const budget = budgetOf(UNLIMITED)
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

/** Where the elements of the array at `from` stand, each found when it is asked for; its result is where the array ends. Throws JsonTextError. */
export function* elementsFrom(text: string, from: number): Generator<JsonSpan, number, undefined> {
  const budget = budgetOf(UNLIMITED)
  let at = skipSpace(text, budget, from + 1)
  for (let first = true; text.charCodeAt(at) !== CLOSING_BRACKET; first = false) {
    if (!first) at = skipComma(text, budget, at)
    const end = skipValue(text, at, budget)
    yield { start: at, end }
    at = skipSpace(text, budget, end)
  }
  return at + 1
}

/** A value with what it holds: members by name, the last of a name counting, or elements. */
export interface JsonTree extends JsonSpan {
  /** Where the name of a member begins. */
  readonly nameStart?: number
  readonly members?: ReadonlyMap<string, JsonTree>
  readonly elements?: readonly JsonTree[]
}

/** One pass over a value: its containers are opened down to `levels`, and all positions are those of `text`. Throws JsonTextError. */
export const scanTree = (text: string, levels: number, from?: number): JsonTree => {
  const budget = budgetOf(UNLIMITED)
  return treeAt(text, levels, from ?? skipSpace(text, budget, 0), budget)
}

const treeAt = (text: string, levels: number, from: number, budget: Budget): JsonTree => {
  const first = levels === 0 ? 0 : text.charCodeAt(from)
  if (first === BRACE) return objectTree(text, levels, from, budget)
  if (first === BRACKET) return listTree(text, levels, from, budget)
  return { start: from, end: skipValue(text, from, budget) }
}

const objectTree = (text: string, levels: number, start: number, budget: Budget): JsonTree => {
  const members = new Map<string, JsonTree>()
  let at = skipSpace(text, budget, start + 1)
  while (text.charCodeAt(at) !== CLOSING_BRACE) {
    const nameStart = members.size > 0 ? skipComma(text, budget, at) : at
    const nameEnd = skipString(text, nameStart)
    const value = treeAt(text, levels - 1, skipColon(text, budget, nameEnd), budget)
    members.set(nameIn(text, nameStart, nameEnd), { ...value, nameStart })
    at = skipSpace(text, budget, value.end)
  }
  return { start, end: at + 1, members }
}

const listTree = (text: string, levels: number, start: number, budget: Budget): JsonTree => {
  const elements: JsonTree[] = []
  let at = skipSpace(text, budget, start + 1)
  while (text.charCodeAt(at) !== CLOSING_BRACKET) {
    const element = treeAt(text, levels - 1, elements.length > 0 ? skipComma(text, budget, at) : at, budget)
    elements.push(element)
    at = skipSpace(text, budget, element.end)
  }
  return { start, end: at + 1, elements }
}

/** The elements of the list that `text` is, each opened down to `levels` when it is asked for: one pass for all. Throws JsonTextError. */
export function* treesFrom(text: string, levels: number): Generator<JsonTree, void, undefined> {
  const budget = budgetOf(UNLIMITED)
  let at = skipSpace(text, budget, skipSpace(text, budget, 0) + 1)
  for (let first = true; text.charCodeAt(at) !== CLOSING_BRACKET; first = false) {
    const tree = treeAt(text, levels, first ? at : skipComma(text, budget, at), budget)
    yield tree
    at = skipSpace(text, budget, tree.end)
  }
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const ZERO = 48
const NINE = 57
const BRACKET = 91
const BACKSLASH = 92
const LETTER_U = 117
const CLOSING_BRACKET = 93
const BRACE = 123
const CLOSING_BRACE = 125
/** To parse a number of megabytes takes the engine a tenth of a second. */
const NUMBER_MAX = 1000
const SCALAR = /-?(?:0|[1-9]\d{0,1000})(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,1000})?|true|false|null/y

/** The rest of the limits, and what was found. */
interface Budget {
  readonly limits: JsonLimits
  nodes: number
  containers: number
  containersMost: number
  names: number
  nameCharacters: number
  numberCharacters: number
  spaces: number
  longIntegers: number
}

const budgetOf = (limits: JsonLimits): Budget => {
  const { nodes, containers, namesInAll: names, nameCharacters, numberCharacters, spaces } = limits
  return { limits, nodes, containers, containersMost: containers, names, nameCharacters, numberCharacters, spaces, longIntegers: 0 }
}

/** The fields of the interfaces that hold one. */
const CONVERSATIONS: ReadonlySet<string> = new Set(['messages', 'input'])

/** Fields whose elements are read one by one. */
const LONG_FIELDS: ReadonlySet<string> = new Set([...CONVERSATIONS, 'system', 'tools', 'functions', 'items'])

const tooManyInField = (key: string, { fieldNodes }: JsonLimits): JsonTextError =>
  new JsonTextError(`The field "${cutText(key, 64)}" of the body holds more than ${fieldNodes} values.`)

/** A shorter text is parsed as a whole, and nobody asks where its elements stand. */
const LONG_TEXT = 32_768

/** `values`: all of the list that holds these elements, itself counted. */
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

/**
 * Where one value of any kind ends. Without recursion: hostile nesting must not touch the stack. `found` gets the objects and arrays in it
 * that are not empty, where it is a list.
 */
const skipValue = (text: string, start: number, budget: Budget, found: JsonElement[] | null = null): number => {
  const { limits } = budget
  const kind = text.charCodeAt(start)
  // Most values hold no others: nothing is set up for them.
  if (kind !== BRACE && kind !== BRACKET) {
    budget.nodes -= 1
    if (budget.nodes < 0) throw tooManyValues(limits)
    return kind === QUOTE ? skipString(text, start) : skipScalar(text, start, budget)
  }
  let at = start
  /** Where the name of the last member begins. */
  let key = start
  /** The character that closes each open container. */
  const open: number[] = []
  /** Values in each of them. */
  const counts: number[] = []
  let elements = 0
  /** The names of the members of each, where they must differ; those of an array are none. */
  const names: Names[] = []
  /** Where the element of the list begins that is being passed, and what was left of the budget then. */
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
      // Nearly no text is so long: the name before it is looked at where one is.
      if (at - from - 2 > limits.identifierCharacters && open[open.length - 1] === CLOSING_BRACE) refuseIdentifier(text, key, limits)
    } else if (first === BRACE || first === BRACKET) {
      // The outermost object is one level, and so is each open container.
      if (open.length + 2 > limits.depth) throw new JsonTextError(`The body is nested deeper than ${limits.depth} levels.`)
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

    // Behind a value: the containers that end here, then the next value.
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

/** Throws JsonTextError where the member whose name stands at `key` names or identifies. */
const refuseIdentifier = (text: string, key: number, { identifierCharacters }: JsonLimits): void => {
  const member = nameIn(text, key, skipString(text, key))
  if (IDENTIFIERS.has(member))
    throw new JsonTextError(`The member "${member}" at character ${key} of the body has more than ${identifierCharacters} characters.`)
}

/** The names and ids of tools and calls on all interfaces. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['name', 'id', 'call_id', 'tool_call_id', 'tool_use_id'])

/** `names`: of the open containers, the innermost last. */
const skipName = (text: string, budget: Budget, names: Names[], start: number): number => {
  const { limits } = budget
  const end = skipString(text, start)
  budget.names -= 1
  if (budget.names < 0) throw new JsonTextError(`The objects in the body have more than ${limits.namesInAll} members.`)
  countName(budget, end - start)
  if (limits.names === 'once') takeName(names, names.length - 1, text, start, end)
  return skipColon(text, budget, end)
}

/** `length`: with its quotes. */
const countName = (budget: Budget, length: number): void => {
  budget.nameCharacters -= length - 2
  if (budget.nameCharacters >= 0) return
  throw new JsonTextError(`The names of the members in the body have more than ${budget.limits.nameCharacters} characters in all.`)
}

const tooManyValues = ({ nodes }: JsonLimits): JsonLimitError => new JsonLimitError(`The body holds more than ${nodes} values.`)

const skipSpace = (text: string, budget: Budget, start: number): number => {
  // A read behind the end would make each of these reads slow, in the compiled code too. Nearly all JSON is written without white space.
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

/** Longer white space is no usual layout: it is searched through by the engine. */
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

/** Throws JsonTextError where `text` has more escapes than it may. */
export const refuseEscapes = (text: string, { escapes }: JsonLimits): void => {
  // Each takes two characters at least.
  if (text.length < 2 * escapes) return
  let count = 0
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    count += text.charCodeAt(at + 1) === LETTER_U ? 4 : 1
    if (count > escapes) throw new JsonTextError(`The body holds more than ${escapes} escaped characters.`)
  }
}

/** The separator and the white space around it. */
const skipColon = (text: string, budget: Budget, start: number): number => {
  const at = skipSpace(text, budget, start)
  if (text.charCodeAt(at) !== COLON) fail(text, at)
  return skipSpace(text, budget, at + 1)
}

const skipComma = (text: string, budget: Budget, at: number): number => {
  if (text.charCodeAt(at) !== COMMA) fail(text, at)
  return skipSpace(text, budget, at + 1)
}

/** Where the string ends that begins with the quote at `start`. Throws JsonTextError. */
export const skipString = (text: string, start: number): number => {
  if (text.charCodeAt(start) !== QUOTE) fail(text, start)
  let quote = text.indexOf('"', start + 1)
  while (text.charCodeAt(quote - 1) === BACKSLASH && isEscaped(text, quote)) quote = nextQuote(text, quote + 1)
  if (quote < 0) throw new JsonTextError('The body is not valid JSON: a string does not end.')
  return quote + 1
}

/** Where quotes are escaped, there are many: to look at the next characters costs less than to search for each. */
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
  if (end - start >= LONG && isWholeNumber(text, start, end)) budget.longIntegers += 1
  return end
}

/** The shortest integer that a double cannot hold has so many digits. */
const LONG = 16

const isWholeNumber = (text: string, start: number, end: number): boolean => {
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) return false
  }
  return true
}

/** Few in a list, more in a set; null before the first. */
type Names = string[] | Set<string> | null

/** Puts the name that stands there to those of its object. Throws JsonTextError where it stands there already. */
const takeName = (objects: Names[], at: number, text: string, start: number, end: number): void => {
  const name = nameIn(text, start, end)
  addName(objects, at, name)
  // In octets a name that is escaped and one that is not are two texts of the same name.
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

const repeatedName = (name: string): JsonTextError => new JsonTextError(`The body names "${cutText(name, 64)}" twice.`)

const nameIn = (text: string, start: number, end: number): string => {
  const name = text.slice(start + 1, end - 1)
  if (!name.includes('\\')) return name
  try {
    return JSON.parse(text.slice(start, end)) as string
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
}

/** Few names are compared faster than put into a set. */
const FEW = 16

/** Throws JsonTextError where two members have one name. */
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

const fail = (text: string, at: number): never => {
  throw new JsonTextError(
    at >= text.length ? 'The body is not valid JSON: it ends too early.' : `The body is not valid JSON, at character ${at}.`,
  )
}
