/** Encodes parts of system and user messages as content parts. */
import type { Part } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { uncarried } from '../losses/uncarried.ts'
import type { MessageContext } from './message-context.ts'

/** Empty for a part that cannot be carried, which is reported. */
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
      return [encodeFile(part, at, context)]
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

const encodeFile = ({ url, filename, cache }: Extract<Part, { type: 'file' }>, at: string, context: MessageContext): JsonObject => ({
  type: 'file',
  file: { ...(filename === null ? {} : { filename }), file_data: url },
  ...context.cacheControl(cache, at, 'content'),
})
