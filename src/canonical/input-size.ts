/** The size of a body's input, for when its tokens have not been counted. */
import type { JsonBody } from '../lib/json/json-body.ts'
import { atOnce, startPace, type Steps } from '../lib/steps.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'
import { hundredthsOf, mostHundredths, wholeTokens } from './token-bound.ts'
import { mayHoldStrayMedia, strayMedia } from './stray-media.ts'

export interface InputSize extends Pick<ConversationMedia, 'images' | 'linked'> {
  /** Bytes of the JSON without its media. */
  readonly textBytes: number
  /** Decoded bytes of media other than images. */
  readonly mediaBytes: number
  /** Pages of PDFs, and tokens of other text files. */
  readonly pages: number
  readonly fileTokens: number
}

/** Fields that hold text. If they hold parts, a server may look for media in them as in a conversation. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['system', 'systeminstruction', 'instructions', 'prompt'])

/** `measuringInput` caches its result with the body, so this is cheap even where the caller cannot wait. */
export const inputSizeOf = (body: JsonBody): InputSize => atOnce(measuringInput(body))

/**
 * Parses a conversation only if a search of its text finds a word for media. `before`: a body that was already measured and shares
 * many members with this one, such as the client's body when this is the one sent upstream. Throws JsonTextError.
 */
export function* measuringInput(body: JsonBody, before: JsonBody | null = null): Steps<InputSize> {
  return (yield* measuring(body, before)).size
}

function* measuring(body: JsonBody, before: JsonBody | null): Steps<Measured> {
  const known = MEASURED.get(body)
  if (known !== undefined) return known
  let { characters, images, bytes, linked, pages, fileTokens } = NO_MEDIA
  const members = new Map<string, Member>()
  for (const key of body.keys) {
    const member = memberOf(before, body, key) ?? {
      media: isPlain(body, key) ? NO_MEDIA : withoutTexts(yield* mediaIn(body, key)),
      hundredths: null,
    }
    members.set(key, member)
    const { media } = member
    characters += media.characters
    images += media.images
    bytes += media.bytes
    linked += media.linked
    pages += media.pages
    fileTokens += media.fileTokens
  }
  const { byteLength } = body
  const size = { textBytes: Math.max(0, byteLength - characters), images, mediaBytes: bytes, linked, pages, fileTokens }
  const measured: Measured = { size, members, heldAs: body.held.length < byteLength ? 'text' : 'octets' }
  MEASURED.set(body, measured)
  return measured
}

interface Measured {
  readonly size: InputSize
  /** Keyed by member name. Bodies that share a member share its entry. */
  readonly members: ReadonlyMap<string, Member>
  /** A text that is all ASCII is the same in both forms. */
  readonly heldAs: 'text' | 'octets'
}

interface Member {
  readonly media: ConversationMedia
  /** Upper bound of the tokens of the member's text, in hundredths of a token; null until counted. */
  hundredths: number | null
}

const MEASURED = new WeakMap<JsonBody, Measured>()

/** Returns the entry of a measured body's member if the other body shares that member. */
const memberOf = (measured: JsonBody | null, other: JsonBody, key: string): Member | undefined => {
  const member = measured === null ? undefined : MEASURED.get(measured)?.members.get(key)
  return member !== undefined && measured?.sharesMember(key, other) === true ? member : undefined
}

/** Drops the texts of media, which would otherwise stay in memory as long as the request. */
const withoutTexts = (media: ConversationMedia): ConversationMedia =>
  media.inline.length === 0 ? media : { ...media, inline: NO_MEDIA.inline }

/** True for a number, a truth value or null, which most members are: none of them holds media. */
const isPlain = (body: JsonBody, key: string): boolean => /^[^"[{]/.test(body.rawSearchable(key) ?? '')

function* mediaIn(body: JsonBody, key: string): Steps<ConversationMedia> {
  const name = plainName(key)
  const isConversation = CONVERSATION_FIELDS.has(name) || PROMPT_FIELDS.has(name)
  const mayHold = isConversation ? mayHoldMedia(body.rawSearchable(key) ?? '') : mayHoldStrayMedia(name, body.rawHeld(key) ?? '')
  if (!(yield* mayHold)) return NO_MEDIA
  const value = yield* body.parsing(key)
  yield
  return isConversation ? yield* conversationMedia(value) : { ...NO_MEDIA, ...strayMedia(name, value) }
}

/** Upper bound of the tokens of the body's text. Members shared with a body that was counted before are not counted again. */
export function* mostTextTokens(body: JsonBody): Steps<number> {
  const { size, members, heldAs } = yield* measuring(body, null)
  if (size.textBytes > LOOKED_THROUGH_MAX) return size.textBytes
  const isStep = startPace()
  let hundredths = hundredthsOf(body.heldFrame, heldAs)
  for (const [key, member] of members) {
    if (member.hundredths === null) {
      const held = body.rawHeld(key) ?? ''
      member.hundredths =
        member.media.characters === 0
          ? hundredthsOf(held, heldAs)
          : yield* mostHundredths(held, heldAs, isOneOf((yield* mediaIn(body, key)).inline))
      if (isStep(held.length)) yield
    }
    hundredths += member.hundredths
  }
  return wholeTokens(hundredths)
}

/** Larger text is counted as one token per byte, without reading it. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** Longer texts are few, and comparing them is faster than hashing them. */
const HASHED_MAX = 4096

/** Returns a test that accepts each inline string once, as written in the text: JSON may escape its slashes. */
const isOneOf = (inline: readonly string[]): ((text: string) => boolean) | null => {
  if (inline.length === 0) return null
  const short = new Map<string, number>()
  const long: string[] = []
  for (const one of inline)
    if (one.length > HASHED_MAX) long.push(one)
    else short.set(one, (short.get(one) ?? 0) + 1)
  return (text) => {
    const plain = text.includes('\\') ? text.replaceAll('\\/', '/') : text
    if (plain.length > HASHED_MAX) {
      const found = long.findIndex((one) => one.length === plain.length && one === plain)
      if (found >= 0) long.splice(found, 1)
      return found >= 0
    }
    const count = short.get(plain) ?? 0
    if (count > 0) short.set(plain, count - 1)
    return count > 0
  }
}
