/**
 * A JSON object kept as the text in which it came. Its top-level members are located without parsing their values, so that a few small
 * fields of a large body can be read and the body sent on with some of them replaced: key order, number forms, white space and unknown
 * members stay byte-identical. A large body stays in the bytes in which it came: only the requested members become text.
 */
import { compactPieces } from './compact-json.ts'
import { isExactInteger, keepingExact } from './exact-json.ts'
import { ACCEPTED, JSON_LIMITS, type JsonLimits, JsonTextError, UNLIMITED, WHOLE_PARSE_MAX } from './json-limits.ts'
import { type JsonMember, refuseEscapes, refuseRepeated, scanMembers } from './json-scan.ts'
import type { JsonElement } from './json-skip.ts'
import { type Searched, searchedOf } from './json-search-text.ts'
import { fillSlots, SLOT, slotsFor } from './json-slots.ts'
import { type JsonText, parseInSteps } from './json-steps.ts'
import { spliceMembers } from './json-splice.ts'
import { asIs, isAscii, ofOctets, octetsOf, textOf, type TextForm } from '../octets.ts'
import type { JsonValue, JsonChanges } from './json.ts'
import { atOnce, type Steps } from '../steps.ts'

export class JsonBody {
  /** The text, or its octets; the members' positions are offsets in it. */
  readonly #held: string
  readonly #form: TextForm
  readonly #members: readonly JsonMember[]
  /** The members' values: all of them if the text was parsed as a whole, otherwise those requested so far. */
  readonly #values: Record<string, JsonValue>
  readonly #isParsed: boolean

  #keys: readonly string[] | null = null

  #searched: Searched | null = null

  /** The bytes that the octets were read from, until they are sent on; null if they were not kept. */
  #source: Uint8Array | null = null

  /** How the text is scanned after a change. */
  readonly #limits: JsonLimits

  private constructor(
    held: string,
    form: TextForm,
    members: readonly JsonMember[],
    values: Record<string, JsonValue>,
    limits: JsonLimits = UNLIMITED,
    isParsed = false,
  ) {
    this.#held = held
    this.#form = form
    this.#members = members
    this.#values = values
    this.#limits = limits
    this.#isParsed = isParsed
  }

  /** Throws JsonTextError if the text is not one JSON object within the limits, or names a member twice. */
  static read(text: string, limits: JsonLimits = JSON_LIMITS): JsonBody {
    refuseEscapes(text, limits)
    const members = scanMembers(text, limits)
    if (text.length > WHOLE_PARSE_MAX) return new JsonBody(text, asIs, members, newValues())
    const parsed = parse(
      text,
      members.some(({ exact }) => exact),
    )
    return new JsonBody(text, asIs, members, membersOf(parsed), UNLIMITED, true)
  }

  /** Like `read`, for a body as received, in valid UTF-8. The bytes must not change afterwards. */
  static ofBytes(bytes: Uint8Array, limits: JsonLimits = JSON_LIMITS): JsonBody {
    return bytes.byteLength <= WHOLE_PARSE_MAX ? JsonBody.read(textOf(bytes), limits) : atOnce(JsonBody.readingBytes(bytes, limits))
  }

  /** Like `ofBytes`, in steps. Each copy of a body of megabytes is a step: allocating its memory costs more than copying. */
  static *readingBytes(bytes: Uint8Array, limits: JsonLimits = JSON_LIMITS): Steps<JsonBody> {
    const octets = octetsOf(bytes)
    yield
    refuseEscapes(octets, limits)
    yield
    const members = scanMembers(octets, limits, 'repeated')
    // Names must be compared as text.
    if (!areAscii(members)) {
      yield
      const text = textOf(bytes)
      yield
      return JsonBody.read(text, limits)
    }
    refuseRepeated(members)
    const body = new JsonBody(octets, ofOctets, members, newValues())
    body.#source = bytes
    return body
  }

  /** Like `read`, for text of any size of which only the requested members are parsed. */
  static ofScanned(text: string): JsonBody {
    return new JsonBody(text, asIs, scanMembers(text, UNLIMITED), newValues())
  }

  /** Like `read`, for text that a parser has accepted already. */
  static ofParsed(text: string): JsonBody {
    return new JsonBody(text, asIs, scanMembers(text), newValues(), ACCEPTED)
  }

  /** The whole body as text; a large body must be decoded for it. */
  get text(): string {
    return this.#form.text(this.#held)
  }

  /** The beginning of the text, at most this many bytes; no character is split. */
  beginning(mostBytes: number): string {
    const text = this.#form.text(this.#held.slice(0, mostBytes))
    return Buffer.byteLength(text) <= mostBytes
      ? text.replace(/\uFFFD{1,3}$/, '')
      : Buffer.from(text)
          .subarray(0, mostBytes)
          .toString()
          .replace(/\uFFFD{1,3}$/, '')
  }

  /** The text, or its octets. */
  get held(): string {
    return this.#held
  }

  /**
   * Well-formed JSON for a search for names and kinds, in ASCII only: other characters may be in it as text or as octets. Of long words for
   * or of the model, which are most of a conversation, it has the beginning.
   */
  get searchable(): string {
    return this.#search().text
  }

  /** The length of the text in UTF-8. */
  get byteLength(): number {
    return this.#form.byteLength(this.#held)
  }

  /** The UTF-8 without the white space between tokens, in pieces; a large body is not decoded for it. */
  *compactBytes(): Generator<Uint8Array> {
    for (const piece of compactPieces(this.#held)) yield this.#form.bytes(piece)
  }

  get keys(): readonly string[] {
    return (this.#keys ??= this.#members.map((member) => member.key))
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined
  }

  /** The JSON text of a member's value. */
  raw(key: string): string | undefined {
    const member = this.#find(key)
    return member === undefined ? undefined : this.#rawOf(member)
  }

  /** The value's text in the held form, like `held`; nothing is decoded for it. */
  rawHeld(key: string): string | undefined {
    const member = this.#find(key)
    return member === undefined ? undefined : this.#held.slice(member.start, member.end)
  }

  /** The length of `rawHeld`; 0 if the member is absent. */
  sizeOf(key: string): number {
    const member = this.#find(key)
    return member === undefined ? 0 : member.end - member.start
  }

  /** The value's part of `searchable`. */
  rawSearchable(key: string): string | undefined {
    if (!this.has(key)) return undefined
    const { text, values } = this.#search()
    for (const value of values) if (value.key === key) return text.slice(value.start, value.end)
    return undefined
  }

  #search(): Searched {
    return (this.#searched ??= searchedOf(this.#held, this.#members))
  }

  /** The positions in `held` of a list's elements; undefined if the scan did not record them. */
  elementsOf(key: string): readonly JsonElement[] | undefined {
    return this.#find(key)?.elements
  }

  /** True if a member's value is the same text in both bodies, held in the same form. */
  sharesMember(key: string, other: JsonBody): boolean {
    return this.#form === other.#form && this.has(key) && this.rawHeld(key) === other.rawHeld(key)
  }

  /**
   * If a text is this one with another value of one member, and that value is a plain string, returns its JSON text; undefined otherwise.
   * Nothing of the text is scanned for it.
   */
  stringPutIn(key: string, text: string): string | undefined {
    const member = this.#form === asIs ? this.#find(key) : undefined
    if (member === undefined) return undefined
    if (!text.startsWith(this.#held.slice(0, member.start)) || !text.endsWith(this.#held.slice(member.end))) return undefined
    // Where the two ends overlap, this is empty, which is no string.
    const put = text.slice(member.start, text.length - (this.#held.length - member.end))
    return PLAIN_STRING.test(put) ? put : undefined
  }

  /** The body without its members' values (names and punctuation), like `held`. */
  get heldFrame(): string {
    let frame = ''
    let from = 0
    for (const { start, end } of this.#members) {
      frame += this.#held.slice(from, start)
      from = end
    }
    return frame + this.#held.slice(from)
  }

  /** A member's value, parsed at most once; undefined if it is absent. */
  get(key: string): JsonValue | undefined {
    const known = this.#values[key]
    if (known !== undefined || this.#isParsed) return known
    const member = this.#find(key)
    if (member === undefined) return undefined
    const value = plainNumber(parse(this.#rawOf(member), member.exact))
    this.#values[key] = value
    return value
  }

  /** Parses members before they are requested; all of them if `keys` is absent. Throws JsonTextError. */
  *reading(keys?: readonly string[]): Steps<void> {
    for (const { key, start, end, exact } of this.#members) {
      if (this.#values[key] !== undefined || keys?.includes(key) === false) continue
      this.#values[key] = plainNumber(yield* parseInSteps(this.#jsonText(exact), start, end))
      yield
    }
  }

  /** Like `get`, in steps. A value that was not parsed yet is not kept. Throws JsonTextError. */
  *parsing(key: string): Steps<JsonValue | undefined> {
    const known = this.#values[key]
    const member = known === undefined ? this.#find(key) : undefined
    return member === undefined ? known : plainNumber(yield* parseInSteps(this.#jsonText(member.exact), member.start, member.end))
  }

  /** Like `readJsonObject`, in steps. Throws JsonTextError. */
  *readingAll(): Steps<Record<string, JsonValue>> {
    const values: [string, JsonValue][] = []
    for (const { key, start, end, exact } of this.#members) {
      values.push([key, yield* parseInSteps(this.#jsonText(exact), start, end)])
      yield
    }
    return Object.fromEntries(values)
  }

  /** Like `get`, but null counts as absent: clients send null for settings that they leave open. */
  value(key: string): Exclude<JsonValue, null> | undefined {
    return this.get(key) ?? undefined
  }

  /** The same object with members replaced in place, added at the end, or removed. */
  with(changes: JsonChanges): JsonBody {
    return atOnce(this.changing(changes))
  }

  /** Like `with`, in steps: a change of megabytes is encoded, spliced in and scanned, each in a step of its own. */
  *changing(changes: JsonChanges): Steps<JsonBody> {
    const put = this.#form.changes(changes)
    yield
    const held = spliceMembers(this.#held, this.#members, put)
    if (held === this.#held) return this
    // The engine joins the pieces of a text when a character is read.
    void held.charCodeAt(held.length - 1)
    yield
    // The text that is put in is well-formed; the scan finds the new positions.
    const values = newValues()
    for (const { key } of this.#members) {
      const known = this.#values[key]
      if (known !== undefined && changes[key] === undefined) values[key] = known
    }
    const members = scanMembers(held, this.#limits)
    return this.#form === asIs || areAscii(members)
      ? new JsonBody(held, this.#form, members, values, this.#limits)
      : JsonBody.ofParsed(this.#form.text(held))
  }

  /** The text that `with` would hold. Use it for the last change of a body, which is not read again. */
  textWith(changes: JsonChanges): string {
    return this.#form.text(this.#spliced(changes))
  }

  /**
   * True if the bytes in which the body came are still available for `writingWire` to copy from: the body is large and was not sent yet.
   */
  get hasBytes(): boolean {
    return this.#source !== null
  }

  /** Like `writingWire`, at once. */
  wireWith(changes: JsonChanges): string | Uint8Array<ArrayBuffer> {
    return atOnce(this.writingWire(changes))
  }

  /**
   * The body with these changes, encoded for sending. Unchanged members of a large body are copied from the bytes in which they came, and
   * its large changes are encoded one by one; to build the whole text and encode it would cost several times as much. The bytes are
   * released by the first call: a caller that sends a body twice gets text the second time.
   */
  *writingWire(changes: JsonChanges): Steps<string | Uint8Array<ArrayBuffer>> {
    const source = this.#source
    this.#source = null
    const slots = source === null ? [] : slotsFor(this.#members, changes)
    if (source === null || slots.length === 0) return this.textWith(changes)
    const held = this.#spliced({ ...changes, ...Object.fromEntries(slots.map(({ key }) => [key, SLOT])) }).split(SLOT)
    if (held.length !== slots.length + 1) return this.textWith(changes)
    return yield* fillSlots(source, slots, held)
  }

  #spliced(changes: JsonChanges): string {
    return spliceMembers(this.#held, this.#members, this.#form.changes(changes))
  }

  #rawOf({ start, end }: JsonMember): string {
    return this.#textBetween(start, end)
  }

  #jsonText(exact: boolean): JsonText {
    return { held: this.#held, read: (from, to) => this.#textBetween(from, to), parse: (json) => parse(json, exact), ends: new Map() }
  }

  #textBetween(start: number, end: number): string {
    return this.#source === null ? this.#form.text(this.#held.slice(start, end)) : textOf(this.#source.subarray(start, end))
  }

  #find(key: string): JsonMember | undefined {
    for (const member of this.#members) if (member.key === key) return member
    return undefined
  }
}

const areAscii = (members: readonly JsonMember[]): boolean => members.every(({ key }) => isAscii(key))

/** Without escapes, so that nothing but its last character can end it. */
const PLAIN_STRING = /^"[^"\\]*"$/

/** Without a prototype: a member may be called `constructor`. */
const newValues = (): Record<string, JsonValue> => Object.create(null) as Record<string, JsonValue>

const membersOf = (value: JsonValue): Record<string, JsonValue> => {
  const members = Object.setPrototypeOf(value, null) as Record<string, JsonValue>
  for (const key in members) members[key] = plainNumber(members[key] ?? null)
  return members
}

/**
 * A request's own settings (a seed, for example) become plain numbers, because their bytes are relayed anyway;
 * only integers at deeper levels are kept as written.
 */
const plainNumber = (value: JsonValue): JsonValue => (isExactInteger(value) ? Number(JSON.stringify(value)) : value)

const parse = (text: string, exact: boolean): JsonValue => {
  // Many of the requested members are null.
  if (text === 'null') return null
  try {
    return (exact ? keepingExact(text) : JSON.parse(text)) as JsonValue
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
}

/** The parsed object, within the same limits. Throws JsonTextError. */
export const readJsonObject = (text: string, limits: JsonLimits = JSON_LIMITS): Record<string, JsonValue> => {
  refuseEscapes(text, limits)
  const members = scanMembers(text, limits)
  const exact = members.some((member) => member.exact)
  return parse(text, exact) as Record<string, JsonValue>
}

/** Reads a body that may be left out: undefined if there is none. Throws JsonTextError. */
export const readOptionalObject = (text: string): Record<string, JsonValue> | undefined =>
  text.trim() === '' ? undefined : readJsonObject(text)
