/** How large the input of a body is, where nobody has counted its tokens. */
import type { JsonBody } from '../lib/json-body.ts'
import { type ConversationMedia, CONVERSATION_FIELDS, conversationMedia, mayHoldMedia, NO_MEDIA, plainName } from './conversation-media.ts'

export interface InputSize extends Pick<ConversationMedia, 'images' | 'linked'> {
  /** Bytes of JSON without the media in it. */
  readonly textBytes: number
  /** Bytes of media that are no pictures, decoded. */
  readonly mediaBytes: number
}

/** A conversation is parsed only where a search of its text finds a word for media. */
export const inputSizeOf = (body: JsonBody): InputSize => {
  let { characters, images, bytes, linked } = NO_MEDIA
  for (const key of body.keys) {
    if (!CONVERSATION_FIELDS.has(plainName(key)) || !mayHoldMedia(body.rawSearchable(key) ?? '')) continue
    const media = conversationMedia(body.get(key))
    characters += media.characters
    images += media.images
    bytes += media.bytes
    linked += media.linked
  }
  return { textBytes: Math.max(0, body.byteLength - characters), images, mediaBytes: bytes, linked }
}
