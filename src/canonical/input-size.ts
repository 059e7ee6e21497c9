/** How large an input is, where nobody has counted its tokens: from its JSON text alone, which is not parsed for this. */
import type { JsonBody } from '../lib/json-body.ts'

export interface InputSize {
  /** Bytes of JSON without the media in it. */
  readonly textBytes: number
  readonly images: number
  /** Bytes of other media, decoded. */
  readonly mediaBytes: number
}

export const inputSizeOf = ({ searchable: json, byteLength }: Pick<JsonBody, 'searchable' | 'byteLength'>): InputSize => {
  const inline = INLINE_MEDIA.test(json) ? inlineMedia(json) : NO_MEDIA
  const linked = LINK.test(json) ? (json.match(LINKED_MEDIA)?.length ?? 0) : 0
  return {
    textBytes: byteLength - inline.characters,
    images: inline.images + linked,
    mediaBytes: inline.bytes,
  }
}

/** Patterns, though they are plain words: the engine finds one in a large text in a quarter of the time of `includes`. */
const INLINE_MEDIA = /base64/
const LINK = /"http/

/** A run of base64 as long as this is media and not prose. */
const BASE64 = /[A-Za-z0-9+/_-]{256,}={0,2}/g
const LINKED_MEDIA = /"(?:url|image_url|file_url|uri)"\s*:\s*"https?:/g
/** Within so many characters before the data it says what it is. */
const MARK_LENGTH = 120
/** The field that holds it. Prose that only looks like a picture is prose, and costs what prose costs. */
const MEDIA_FIELD = /"(?:url|image_url|data|file_data)"\s*:\s*"(?:data:[^",]*,)?$/
const NO_MEDIA = { characters: 0, images: 0, bytes: 0 }

const inlineMedia = (json: string): typeof NO_MEDIA => {
  const media = { ...NO_MEDIA }
  for (const { 0: data, index } of json.matchAll(BASE64)) {
    const before = json.slice(Math.max(0, index - MARK_LENGTH), index)
    if (!MEDIA_FIELD.test(before)) continue
    media.characters += data.length
    if (before.includes('image/')) media.images += 1
    else media.bytes += Math.ceil((data.length * 3) / 4)
  }
  return media
}
