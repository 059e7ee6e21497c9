/** Parts of system and user messages as content parts. */
import type { Part } from '../../canonical/prompt.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { Vendor } from '../vendor.ts'
import { uncarried } from '../uncarried.ts'
import type { MessageContext } from './message-context.ts'

/** None for a part that cannot be carried, of which it tells. */
export const encodePart = (part: Part, { at, role }: Place, context: MessageContext): readonly JsonObject[] => {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...context.cacheControl(part.cache, at, 'content') }]
    case 'image': {
      const detail = part.detail === undefined ? {} : { detail: part.detail }
      return [{ type: 'image_url', image_url: { url: part.url, ...detail }, ...context.cacheControl(part.cache, at, 'content') }]
    }
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }]
    case 'video':
      return context.vendor.video ? [{ type: 'video_url', video_url: { url: part.url } }] : leftOut(part, { at, role }, context)
    case 'file':
      return encodeFile(part, at, context)
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'unknown':
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return leftOut(part, { at, role }, context)
  }
}

type Place = Parameters<typeof uncarried>[1]

export const leftOut = (...lost: Parameters<typeof uncarried>): readonly JsonObject[] => {
  uncarried(...lost)
  return []
}

/**
 * One string where a string says it all; null for no content. Many servers know lists of parts with media in them only,
 * so texts are joined for these, a paragraph each.
 */
export const contentOf = (parts: readonly JsonObject[], { textParts }: Vendor): JsonValue => {
  const texts = parts.map(plainText)
  const [first] = texts
  if (first === undefined) return null
  if (texts.length === 1 && first !== null) return first
  return textParts || !texts.every((text) => text !== null) ? parts : texts.join('\n\n')
}

/** Null for a part that is more than text. */
const plainText = (part: JsonObject): string | null =>
  part['type'] === 'text' && typeof part['text'] === 'string' && !isMarked(part) ? part['text'] : null

export const isMarked = (part: JsonObject): boolean => 'cache_control' in part || 'prompt_cache_breakpoint' in part

const encodeFile = (part: Extract<Part, { type: 'file' }>, at: string, context: MessageContext): readonly JsonObject[] => {
  const { url, filename, cache } = part
  const { files } = context.vendor
  if (files === 'document_url')
    return [{ type: 'document_url', document_url: url, ...(filename === null ? {} : { document_name: filename }) }]
  const isData = /^data:/i.test(url)
  if (!isData && files === 'data') return leftOut(part, { at, role: 'user' }, context, 'takes files as data only, not by an address')
  // Data without a name is refused.
  const name = filename ?? (isData ? `file.${/^data:[^/;,]+\/([a-z0-9]+)/i.exec(url)?.[1]?.toLowerCase() ?? 'pdf'}` : null)
  return [
    { type: 'file', file: { ...(name === null ? {} : { filename: name }), file_data: url }, ...context.cacheControl(cache, at, 'content') },
  ]
}
