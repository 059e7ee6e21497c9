/** How large the input of a body is, where its tokens have not been counted. */
import type { JsonBody } from '../lib/json-body.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'
import { mostTokens } from './token-bound.ts'
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

/** A conversation is parsed only where a search of its text finds a word for media. Throws JsonTextError. */
export function* measuringInput(body: JsonBody): Steps<InputSize> {
  const known = MEASURED.get(body)
  if (known !== undefined) return known
  let { characters, images, bytes, linked, pages, fileTokens } = NO_MEDIA
  for (const key of body.keys) {
    const media = yield* mediaIn(body, key)
    characters += media.characters
    images += media.images
    bytes += media.bytes
    linked += media.linked
    pages += media.pages
    fileTokens += media.fileTokens
  }
  const textBytes = Math.max(0, body.byteLength - characters)
  const size = { textBytes, images, mediaBytes: bytes, linked, pages, fileTokens }
  MEASURED.set(body, size)
  return size
}

const MEASURED = new WeakMap<JsonBody, InputSize>()

function* mediaIn(body: JsonBody, key: string): Steps<ConversationMedia> {
  const name = plainName(key)
  const raw = body.rawSearchable(key) ?? ''
  const isConversation = CONVERSATION_FIELDS.has(name) || PROMPT_FIELDS.has(name)
  if (!(yield* isConversation ? mayHoldMedia(raw) : mayHoldStrayMedia(name, raw))) return NO_MEDIA
  const value = yield* body.parsing(key)
  yield
  return isConversation ? yield* conversationMedia(value) : { ...NO_MEDIA, ...strayMedia(name, value) }
}

/** The most tokens that the text of the body is. */
export function* mostTextTokens(body: JsonBody, { textBytes }: Pick<InputSize, 'textBytes'>): Steps<number> {
  if (textBytes > LOOKED_THROUGH_MAX) return textBytes
  const inline: string[] = []
  // It is not kept beside the size: it would stay in memory as long as the request.
  if (textBytes < body.byteLength) for (const key of body.keys) inline.push(...(yield* mediaIn(body, key)).inline)
  yield
  return yield* mostTokens(octetsIn(body), isOneOf(inline))
}

/** More text counts as a token a byte, and is not looked through. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** A small body is held as text, a large one as octets. */
const octetsIn = ({ searchable, byteLength }: JsonBody): string =>
  searchable.length === byteLength ? searchable : Buffer.from(searchable).toString('latin1')

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
