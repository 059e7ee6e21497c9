/**
 * A JSON object kept as the text it came in. Its top-level members are found without parsing their values, so that a
 * large body can be read for its few small fields and sent on with some of them replaced: key order, number forms,
 * white space and unknown members stay byte-identical.
 */
import { isExactInteger, parseExact } from './exact-json.ts'
import { JSON_LIMITS, type JsonLimits, type JsonMember, JsonTextError, scanMembers } from './json-scan.ts'
import { type JsonChanges, spliceMembers } from './json-splice.ts'
import type { JsonValue } from './json.ts'

/** Up to this many characters the whole text is parsed at once: it is strict to the last escape and costs little. */
const WHOLE_PARSE_MAX = 32_768

/** Less than this is encoded again as fast as it is copied. */
const COPY_MIN = WHOLE_PARSE_MAX

export class JsonBody {
  readonly text: string
  readonly #members: readonly JsonMember[]
  /** The members' values: all of them where the text was parsed as a whole, else those that were asked for. */
  readonly #values: Record<string, JsonValue>

  /** The UTF-8 that the text was decoded from, until it is sent on; null where nobody kept it. */
  #source: Uint8Array | null

  private constructor(text: string, members: readonly JsonMember[], values: Record<string, JsonValue>, source: Uint8Array | null = null) {
    this.text = text
    this.#members = members
    this.#values = values
    this.#source = source
  }

  /**
   * Throws JsonTextError where the text is not one JSON object within the limits, or names a member twice. `source`: the
   * UTF-8 of the text, where it is at hand.
   */
  static read(text: string, limits: JsonLimits = JSON_LIMITS, source: Uint8Array | null = null): JsonBody {
    const members = scanMembers(text, limits)
    const large = text.length > WHOLE_PARSE_MAX
    return new JsonBody(text, members, large ? newValues() : membersOf(parse(text)), large ? source : null)
  }

  /** The same for text that a parser has accepted already. */
  static ofParsed(text: string): JsonBody {
    return new JsonBody(text, scanMembers(text), newValues())
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
    return new JsonBody(text, scanMembers(text), values)
  }

  /** The text that `with` would hold: for the last step of a body, which nobody reads again. */
  textWith(changes: JsonChanges): string {
    return spliceMembers(this.text, this.#members, changes)
  }

  /**
   * The same, to be sent: where one large member stays as it came, it is copied from the bytes that it came in. To put
   * the text together and to encode it costs several times as much. The bytes are given up with that: who sends a body
   * twice gets its text.
   */
  wireWith(changes: JsonChanges): string | Uint8Array<ArrayBuffer> {
    const source = this.#source
    this.#source = null
    const large =
      source === null ? undefined : this.#members.find(({ key, start, end }) => end - start >= COPY_MIN && !Object.hasOwn(changes, key))
    if (source === null || large === undefined) return this.textWith(changes)
    const [before, after, ...more] = this.textWith({ ...changes, [large.key]: SLOT }).split(SLOT)
    if (before === undefined || after === undefined || more.length > 0) return this.textWith(changes)
    const start = Buffer.byteLength(this.text.slice(0, large.start))
    const end = source.byteLength - Buffer.byteLength(this.text.slice(large.end))
    return Buffer.concat([Buffer.from(before), source.subarray(start, end), Buffer.from(after)])
  }

  #find(key: string): JsonMember | undefined {
    for (const member of this.#members) if (member.key === key) return member
    return undefined
  }
}

/** Stands for a value that is put in later. */
const SLOT = '"\\u0000value"'

/** Without a prototype: a member may be called `constructor`. */
const newValues = (): Record<string, JsonValue> => Object.create(null) as Record<string, JsonValue>

const membersOf = (value: JsonValue): Record<string, JsonValue> => {
  const members = Object.setPrototypeOf(value, null) as Record<string, JsonValue>
  for (const key in members) members[key] = plainNumber(members[key] ?? null)
  return members
}

/** A request's own settings are numbers (a seed, say), whose bytes are relayed; only what lies deeper is kept as written. */
const plainNumber = (value: JsonValue): JsonValue => (isExactInteger(value) ? Number(JSON.stringify(value)) : value)

const parse = (text: string): JsonValue => {
  try {
    return parseExact(text) as JsonValue
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
}

/** The parsed object, within the same limits. Throws JsonTextError. */
export const readJsonObject = (text: string, limits: JsonLimits = JSON_LIMITS): Record<string, JsonValue> => {
  scanMembers(text, limits)
  return parse(text) as Record<string, JsonValue>
}
