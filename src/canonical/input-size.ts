/** How large the input of a body is, where its tokens have not been counted. */
import type { JsonBody } from '../lib/json-body.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'
import { mayHoldStrayMedia, strayMedia } from './stray-media.ts'

export interface InputSize extends Pick<ConversationMedia, 'images' | 'linked'> {
  /** Bytes of JSON without the media in it. */
  readonly textBytes: number
  /** Bytes of media that are no pictures, decoded. */
  readonly mediaBytes: number
}

/** Fields that hold text; where they hold parts, a server may look for media in them as in a conversation. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['system', 'systeminstruction', 'instructions', 'prompt'])

/** A conversation is parsed only where a search of its text finds a word for media. */
export const inputSizeOf = (body: JsonBody): InputSize => {
  let { characters, images, bytes, linked } = NO_MEDIA
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
  }
  return { textBytes: Math.max(0, body.byteLength - characters), images, mediaBytes: bytes, linked }
}
