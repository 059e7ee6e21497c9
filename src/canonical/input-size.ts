/** How large the input of a body is, where its tokens have not been counted. */
import type { JsonBody } from '../lib/json-body.ts'
import { isAscii, octetsOf } from '../lib/octets.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'
import { mostHundredths, wholeTokens } from './token-bound.ts'
import { mayHoldStrayMedia, strayMedia } from './stray-media.ts'

export interface InputSize extends Pick<ConversationMedia, 'images' | 'linked'> {
  /** Bytes of JSON without the media in it. */
  readonly textBytes: number
  /** Bytes of media that are no pictures, decoded. */
  readonly mediaBytes: number
  /** The pages of PDFs, and the tokens of other files of text. */
  readonly pages: number
  readonly fileTokens: number
}

/** Fields that hold text; where they hold parts, a server may look for media in them as in a conversation. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['system', 'systeminstruction', 'instructions', 'prompt'])

/** A size that was measured in steps is kept with the body, so that this costs little where nothing can wait. */
export const inputSizeOf = (body: JsonBody): InputSize => atOnce(measuringInput(body))

/**
 * A conversation is parsed only where a search of its text finds a word for media. `before`: a body that was measured and has many of the
 * same members, such as the client's where this one goes out. Throws JsonTextError.
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
    const member = memberOf(before, body, key) ?? { media: withoutTexts(yield* mediaIn(body, key)), hundredths: null }
    members.set(key, member)
    const { media } = member
    characters += media.characters
    images += media.images
    bytes += media.bytes
    linked += media.linked
    pages += media.pages
    fileTokens += media.fileTokens
  }
  const textBytes = Math.max(0, body.byteLength - characters)
  const size = { textBytes, images, mediaBytes: bytes, linked, pages, fileTokens }
  const measured = { size, members }
  MEASURED.set(body, measured)
  return measured
}

interface Measured {
  readonly size: InputSize
  /** By their names. A member that two bodies share is one. */
  readonly members: ReadonlyMap<string, Member>
}

interface Member {
  readonly media: ConversationMedia
  /** The most that its text is, in hundredths of a token; null until it was counted. */
  hundredths: number | null
}

const MEASURED = new WeakMap<JsonBody, Measured>()

/** The member of a measured body, where it is the same in another one. */
const memberOf = (measured: JsonBody | null, other: JsonBody, key: string): Member | undefined => {
  const member = measured === null ? undefined : MEASURED.get(measured)?.members.get(key)
  return member !== undefined && measured?.sharesMember(key, other) === true ? member : undefined
}

/** The texts of media would stay in memory as long as the request. */
const withoutTexts = (media: ConversationMedia): ConversationMedia =>
  media.inline.length === 0 ? media : { ...media, inline: NO_MEDIA.inline }

function* mediaIn(body: JsonBody, key: string): Steps<ConversationMedia> {
  const name = plainName(key)
  const raw = body.rawSearchable(key) ?? ''
  const isConversation = CONVERSATION_FIELDS.has(name) || PROMPT_FIELDS.has(name)
  if (!(yield* isConversation ? mayHoldMedia(raw) : mayHoldStrayMedia(name, raw))) return NO_MEDIA
  const value = yield* body.parsing(key)
  yield
  return isConversation ? yield* conversationMedia(value) : { ...NO_MEDIA, ...strayMedia(name, value) }
}

/** The most tokens that the text of the body is. Members that it shares with a body that was counted before are not counted again. */
export function* mostTextTokens(body: JsonBody): Steps<number> {
  const { size, members } = yield* measuring(body, null)
  if (size.textBytes > LOOKED_THROUGH_MAX) return size.textBytes
  const isHeldAsText = body.searchable.length < body.byteLength
  const octetsIn = (held: string): string => (isHeldAsText && !isAscii(held) ? octetsOf(Buffer.from(held)) : held)
  let hundredths = yield* mostHundredths(octetsIn(body.searchableFrame))
  for (const [key, member] of members) {
    if (member.hundredths === null) {
      const inline = member.media.characters === 0 ? [] : (yield* mediaIn(body, key)).inline
      member.hundredths = yield* mostHundredths(octetsIn(body.rawSearchable(key) ?? ''), isOneOf(inline))
      yield
    }
    hundredths += member.hundredths
  }
  return wholeTokens(hundredths)
}

/** More text counts as a token a byte, and is not looked through. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** A text of megabytes is compared faster than hashed, and of such there are few. */
const HASHED_MAX = 4096

/** Each of them once, as it stands in the text: JSON may write its slashes with a backslash. */
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
