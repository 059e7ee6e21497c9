/** How large the input of a body is, where its tokens have not been counted. */
import type { JsonBody } from '../lib/json-body.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'
import { mostTokens } from './token-bound.ts'
import { mayHoldStrayMedia, strayMedia } from './stray-media.ts'

export interface InputSize extends Pick<ConversationMedia, 'images' | 'linked'> {
  /** Bytes of JSON without the media in it. */
  readonly textBytes: number
  /** The most tokens that this text is. */
  readonly textTokens: () => number
  /** Bytes of media that are no pictures, decoded. */
  readonly mediaBytes: number
  /** The pages of PDFs, and the tokens of other files of text. */
  readonly pages: number
  readonly fileTokens: number
}

/** Fields that hold text; where they hold parts, a server may look for media in them as in a conversation. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['system', 'systeminstruction', 'instructions', 'prompt'])

/** A conversation is parsed only where a search of its text finds a word for media. */
export const inputSizeOf = (body: JsonBody): InputSize => {
  let { characters, images, bytes, linked, pages, fileTokens } = NO_MEDIA
  const inline: string[] = []
  for (const key of body.keys) {
    const name = plainName(key)
    const raw = body.rawSearchable(key) ?? ''
    const isConversation = CONVERSATION_FIELDS.has(name) || PROMPT_FIELDS.has(name)
    if (!(isConversation ? mayHoldMedia(raw) : mayHoldStrayMedia(name, raw))) continue
    const media = isConversation ? conversationMedia(body.get(key)) : { ...NO_MEDIA, ...strayMedia(name, body.get(key)) }
    characters += media.characters
    images += media.images
    bytes += media.bytes
    linked += media.linked
    pages += media.pages
    fileTokens += media.fileTokens
    inline.push(...media.inline)
  }
  const textBytes = Math.max(0, body.byteLength - characters)
  return {
    textBytes,
    textTokens: () => (textBytes > LOOKED_THROUGH_MAX ? textBytes : mostTokens(octetsIn(body), isOneOf(inline))),
    images,
    mediaBytes: bytes,
    linked,
    pages,
    fileTokens,
  }
}

/** More text counts as a token a byte, and is not looked through. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** A small body is held as text, a large one as octets. */
const octetsIn = ({ searchable, byteLength }: JsonBody): string =>
  searchable.length === byteLength ? searchable : Buffer.from(searchable).toString('latin1')

/** Each of them once, as it stands in the text: JSON may write its slashes with a backslash. */
const isOneOf = (inline: readonly string[]): ((text: string) => boolean) | null => {
  if (inline.length === 0) return null
  const left = [...inline]
  return (text) => {
    const plain = text.includes('\\') ? text.replaceAll('\\/', '/') : text
    const found = left.findIndex((one) => one.length === plain.length && one === plain)
    if (found >= 0) left.splice(found, 1)
    return found >= 0
  }
}
