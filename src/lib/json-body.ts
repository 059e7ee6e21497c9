/**
 * A JSON object kept as the text it came in. Its top-level members are found without parsing their values, so that a
 * large body can be read for its few small fields and sent on with some of them replaced: key order, number forms,
 * white space and unknown members stay byte-identical.
 */
import { isExactInteger, parseExact } from './exact-json.ts'
import type { JsonValue } from './json.ts'

export interface JsonLimits {
  /** Nested containers, the outermost counted. */
  readonly depth: number
  /** Values in all. */
  readonly nodes: number
}

/** Deeper text than this overflows the stack of a serializer long before that of a parser (reliability.md 0.10). */
const JSON_LIMITS: JsonLimits = { depth: 64, nodes: 200_000 }

/** Not the JSON object that was expected; `message` is a sentence for the sender. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
}

/** Up to this many characters the whole text is parsed at once: it is strict to the last escape and costs little. */
const WHOLE_PARSE_MAX = 32_768

interface Member {
  readonly key: string
  readonly keyStart: number
  readonly start: number
  readonly end: number
}

/** For `with`: the JSON text to put, or null to remove the member. */
export type JsonChanges = Readonly<Record<string, string | null>>

export class JsonBody {
  readonly text: string
  readonly #members: readonly Member[]
  /** The members' values: all of them where the text was parsed as a whole, else those that were asked for. */
  readonly #values: Record<string, JsonValue>

  private constructor(text: string, members: readonly Member[], values: Record<string, JsonValue>) {
    this.text = text
    this.#members = members
    this.#values = values
  }

  /** Throws JsonTextError where the text is not one JSON object within the limits, or names a member twice. */
  static read(text: string, limits: JsonLimits = JSON_LIMITS): JsonBody {
    const members = scanMembers(text, limits)
    return new JsonBody(text, members, text.length <= WHOLE_PARSE_MAX ? membersOf(parse(text)) : newValues())
  }

  /** The same for text that a parser has accepted already. */
  static ofParsed(text: string): JsonBody {
    return new JsonBody(text, scanMembers(text, UNLIMITED), newValues())
  }

  get keys(): readonly string[] {
    return this.#members.map((member) => member.key)
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined
  }

  /** The JSON text of a member's value. */
  raw(key: string): string | undefined {
    const member = this.#find(key)
    return member === undefined ? undefined : this.text.slice(member.start, member.end)
  }

  /** A member's value, parsed at most once; undefined where it is absent. */
  get(key: string): JsonValue | undefined {
    const known = this.#values[key]
    if (known !== undefined) return known
    const raw = this.raw(key)
    if (raw === undefined) return undefined
    const value = plainNumber(parse(raw))
    this.#values[key] = value
    return value
  }

  /** As `get`, with null read as absent: clients send nulls for what they leave open. */
  value(key: string): Exclude<JsonValue, null> | undefined {
    return this.get(key) ?? undefined
  }

  /** The same object with members replaced in place, added at the end, or removed. */
  with(changes: JsonChanges): JsonBody {
    const text = spliceMembers(this.text, this.#members, changes)
    if (text === this.text) return this
    // What is put in is well formed; the scan finds the new positions.
    const values = newValues()
    for (const { key } of this.#members) {
      const known = this.#values[key]
      if (known !== undefined && changes[key] === undefined) values[key] = known
    }
    return new JsonBody(text, scanMembers(text, UNLIMITED), values)
  }

  /** The text that `with` would hold: for the last step of a body, which nobody reads again. */
  textWith(changes: JsonChanges): string {
    return spliceMembers(this.text, this.#members, changes)
  }

  #find(key: string): Member | undefined {
    for (const member of this.#members) if (member.key === key) return member
    return undefined
  }
}

/** Without a prototype: a member may be called `constructor`. */
const newValues = (): Record<string, JsonValue> => Object.create(null) as Record<string, JsonValue>

const membersOf = (value: JsonValue): Record<string, JsonValue> => {
  const members = Object.setPrototypeOf(value, null) as Record<string, JsonValue>
  for (const key in members) members[key] = plainNumber(members[key] ?? null)
  return members
}

/** A request's own settings are numbers (a seed, say), whose bytes are relayed; only what lies deeper is kept as written. */
const plainNumber = (value: JsonValue): JsonValue => (isExactInteger(value) ? Number(JSON.stringify(value)) : value)

const UNLIMITED: JsonLimits = { depth: 1024, nodes: Number.MAX_SAFE_INTEGER }

const parse = (text: string): JsonValue => {
  try {
    return parseExact(text) as JsonValue
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
}

const spliceMembers = (text: string, members: readonly Member[], changes: JsonChanges): string => {
  let out = ''
  let cursor = 0
  let kept = 0
  for (const [position, member] of members.entries()) {
    const change = Object.hasOwn(changes, member.key) ? changes[member.key] : undefined
    if (change === undefined) {
      kept += 1
      continue
    }
    if (change !== null) {
      out += text.slice(cursor, member.start) + change
      cursor = member.end
      kept += 1
      continue
    }
    out += text.slice(cursor, member.keyStart)
    const next = members[position + 1]
    cursor = next === undefined ? member.end : next.keyStart
    // The last member goes: so does the comma before it, which was copied already.
    if (next === undefined && kept > 0) out = out.slice(0, out.lastIndexOf(','))
  }
  const last = members.at(-1)
  const end = last === undefined ? text.indexOf('{') + 1 : last.end
  let added = ''
  const known = new Set(members.map((member) => member.key))
  for (const [key, change] of Object.entries(changes)) {
    if (change === null || known.has(key)) continue
    added += `${kept > 0 ? ',' : ''}${JSON.stringify(key)}:${change}`
    kept += 1
  }
  return out + text.slice(cursor, end) + added + text.slice(end)
}

const QUOTE = 34
const BACKSLASH = 92
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The members of the one object that `text` holds. Linear time: strings are skipped by a search for their end. */
const scanMembers = (text: string, limits: JsonLimits): Member[] => {
  const scanner = new Scanner(text, limits)
  const members = scanner.object()
  scanner.end()
  return members
}

class Scanner {
  readonly #text: string
  readonly #limits: JsonLimits
  #at = 0
  #nodes = 0

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  elements(): JsonSpan[] {
    this.#space()
    if (!this.#take('[')) throw new JsonTextError('The text must be a JSON array.')
    const elements: JsonSpan[] = []
    this.#space()
    if (this.#take(']')) return elements
    for (;;) {
      const start = this.#at
      this.#value()
      elements.push({ start, end: this.#at })
      this.#space()
      if (this.#take(']')) return elements
      this.#expect(',')
      this.#space()
    }
  }

  object(names: 'once' | 'repeated' = 'once'): Member[] {
    this.#space()
    if (this.#text[this.#at] !== '{') throw new JsonTextError('The body must be a JSON object.')
    this.#at += 1
    const members: Member[] = []
    const seen = new Set<string>()
    this.#space()
    if (this.#take('}')) return members
    for (;;) {
      const keyStart = this.#at
      const key = this.#key()
      if (names === 'once' && seen.has(key)) throw new JsonTextError(`The body names "${key.slice(0, 64)}" twice.`)
      seen.add(key)
      this.#space()
      const start = this.#at
      this.#value()
      members.push({ key, keyStart, start, end: this.#at })
      this.#space()
      if (this.#take('}')) return members
      this.#expect(',')
      this.#space()
    }
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw new JsonTextError(`Text after the end of the JSON object, at character ${this.#at}.`)
  }

  /** Skips one value of any kind, without recursion: hostile nesting must not touch the stack. */
  #value(): void {
    const open: boolean[] = [] // one entry for each open container: true for an object
    for (;;) {
      this.#nodes += 1
      if (this.#nodes > this.#limits.nodes) throw new JsonTextError(`The body holds more than ${this.#limits.nodes} values.`)
      const first = this.#text[this.#at]
      if (first === '"') this.#string()
      else if (first === '{' || first === '[') {
        // The outermost object is one level, and so is each open container.
        if (open.length + 2 > this.#limits.depth) throw new JsonTextError(`The body is nested deeper than ${this.#limits.depth} levels.`)
        const isObject = first === '{'
        this.#at += 1
        this.#space()
        if (!this.#take(isObject ? '}' : ']')) {
          open.push(isObject)
          if (isObject) this.#memberKey()
          continue
        }
      } else this.#scalar()
      if (!this.#next(open)) return
    }
  }

  /** After a value: closes containers and stands at the next value; false when the outermost one has ended. */
  #next(open: boolean[]): boolean {
    while (open.length > 0) {
      const isObject = open.at(-1) === true
      this.#space()
      if (this.#take(isObject ? '}' : ']')) {
        open.pop()
        continue
      }
      this.#expect(',')
      this.#space()
      if (isObject) this.#memberKey()
      return true
    }
    return false
  }

  #memberKey(): void {
    this.#string()
    this.#space()
    this.#expect(':')
    this.#space()
  }

  #key(): string {
    const start = this.#at
    this.#string()
    const raw = this.#text.slice(start, this.#at)
    this.#space()
    this.#expect(':')
    return raw.includes('\\') ? (parse(raw) as string) : raw.slice(1, -1)
  }

  #string(): void {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) this.#fail()
    let from = this.#at + 1
    for (;;) {
      const quote = this.#text.indexOf('"', from)
      if (quote < 0) throw new JsonTextError('The body is not valid JSON: a string does not end.')
      let before = quote - 1
      while (this.#text.charCodeAt(before) === BACKSLASH) before -= 1
      from = quote + 1
      if ((quote - 1 - before) % 2 === 0) break
    }
    this.#at = from
  }

  #scalar(): void {
    SCALAR.lastIndex = this.#at
    if (!SCALAR.test(this.#text)) this.#fail()
    this.#at = SCALAR.lastIndex
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.#at += 1
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #expect(character: string): void {
    if (!this.#take(character)) this.#fail()
  }

  #fail(): never {
    throw new JsonTextError(
      this.#at >= this.#text.length
        ? 'The body is not valid JSON: it ends too early.'
        : `The body is not valid JSON, at character ${this.#at}.`,
    )
  }
}

/** The parsed object, within the same limits. Throws JsonTextError. */
export const readJsonObject = (text: string, limits: JsonLimits = JSON_LIMITS): Record<string, JsonValue> => {
  scanMembers(text, limits)
  return parse(text) as Record<string, JsonValue>
}

interface JsonSpan {
  readonly start: number
  readonly end: number
}

/** Where the elements of a JSON array's text stand in it, without the white space around them. Throws JsonTextError. */
export const jsonElements = (arrayText: string): JsonSpan[] => {
  const scanner = new Scanner(arrayText, UNLIMITED)
  const elements = scanner.elements()
  scanner.end()
  return elements
}

/** A JSON array's text with elements replaced, or removed where `edit` gives null; every other byte stays. */
export const editElements = (arrayText: string, edit: (elementText: string, index: number) => string | null): string => {
  const elements = jsonElements(arrayText)
  let out = ''
  let cursor = 0
  let kept = 0
  for (const [index, { start, end }] of elements.entries()) {
    const given = arrayText.slice(start, end)
    const put = edit(given, index)
    if (put !== null) {
      kept += 1
      if (put === given) continue
      out += arrayText.slice(cursor, start) + put
      cursor = end
      continue
    }
    out += arrayText.slice(cursor, start)
    const next = elements[index + 1]
    cursor = next === undefined ? end : next.start
    // The last element goes: so does the comma before it, which was copied already.
    if (next === undefined && kept > 0) out = out.slice(0, out.lastIndexOf(','))
  }
  return out + arrayText.slice(cursor)
}

/**
 * The text of an object inside a body with members changed as by `JsonBody.with`. Such an object may name a member twice,
 * and to every parser the last one counts: a change is made to all of that name.
 */
export const editMembers = (objectText: string, changes: JsonChanges): string =>
  spliceMembers(objectText, nestedMembers(objectText), changes)

/** The JSON text of a member of an object inside a body: the last one of that name. */
export const rawMember = (objectText: string, key: string): string | undefined => {
  const member = nestedMembers(objectText).findLast((one) => one.key === key)
  return member === undefined ? undefined : objectText.slice(member.start, member.end)
}

const nestedMembers = (objectText: string): Member[] => {
  const scanner = new Scanner(objectText, UNLIMITED)
  const members = scanner.object('repeated')
  scanner.end()
  return members
}
