/** A conversation as the messages of a question: calls and results become text, so that the question needs no tools. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import type { JsonObject } from '../../lib/json/json.ts'

export const questionMessages = (messages: readonly Message[]): readonly JsonObject[] =>
  messages.flatMap(({ role, parts }) => {
    const content = parts.flatMap(partOf)
    if (content.length === 0) return []
    return [{ role: role === 'developer' ? 'system' : role, content: role === 'user' ? content : textsOf(content) }]
  })

/** In some dialects only a user's message may contain anything but text. */
const textsOf = (content: readonly JsonObject[]): string =>
  content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')

const partOf = (part: Part): readonly JsonObject[] => {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: part.url } }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }]
    case 'video':
      return [{ type: 'video_url', video_url: { url: part.url } }]
    case 'file':
      return [{ type: 'file', file: { ...(part.filename === null ? {} : { filename: part.filename }), file_data: part.url } }]
    case 'tool-call':
      return [{ type: 'text', text: `[Called ${part.name} with ${part.arguments}]` }]
    case 'tool-result':
      return [{ type: 'text', text: `[Result of a tool: ${part.text}]` }, ...mediaOfResult(part).flatMap(partOf)]
    case 'reasoning':
    case 'unknown':
      return []
  }
}
