/** Encodes a conversation as chat messages: each turn in its place, and the results of tools directly after their calls. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { mediaOfResult, piecesOfResult } from '../../canonical/result-pieces.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { encodePart } from './encode-parts.ts'
import type { MessageContext } from './message-context.ts'
import { contentOf, type PlacedMessage } from './placed-message.ts'

/** The result is in the plain dialect; message-rules.ts adapts it to a vendor. */
export function* encodeConversation(messages: readonly Message[], context: MessageContext): Steps<readonly PlacedMessage[]> {
  const placed = yield* mapInSteps(messages, ({ role, parts, name, at = 'messages' }) => {
    const encoded = role === 'assistant' ? encodeAssistant(parts, at, context) : encodeInput({ role, parts, at }, context)
    const message = (one: JsonObject): JsonObject => (name === undefined || one['role'] === 'tool' ? one : { ...one, name })
    return encoded.map((one) => ({ at, message: message(one) }))
  })
  return placed.flat()
}

type ToolResult = Extract<Part, { type: 'tool-result' }>

const encodeInput = (
  { role, parts, at }: Required<Pick<Message, 'role' | 'parts' | 'at'>>,
  context: MessageContext,
): readonly JsonObject[] => {
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [encodeResult(part, at, context)] : []))
  const content = contentOf(parts.flatMap((part) => (part.type === 'tool-result' ? [] : encodePart(part, { at, role }, context))))
  return content === null ? results : [...results, { role, content }]
}

const encodeResult = (result: ToolResult, at: string, context: MessageContext): JsonObject => {
  const { callId, text, isError, cache } = result
  if (isError === true)
    context.lose(at, `${context.target.providerName} cannot be told that the result of ${callId} is an error; its text went on as it is.`)
  const mark = context.cacheControl(cache, at, 'content')
  const hasMedia = mediaOfResult(result).length > 0
  const pieces: readonly Part[] = hasMedia ? piecesOfResult(result) : [{ type: 'text', text }]
  const shown = pieces.flatMap((piece): readonly JsonObject[] => {
    if (piece.type !== 'text') return encodePart(piece, { at, role: 'user' }, context)
    return hasMedia && piece.text.trim() === '' ? [] : [{ type: 'text', text: piece.text }]
  })
  const marked = shown.findLastIndex(({ type }) => type === 'text')
  const isMarked = Object.keys(mark).length > 0
  const content =
    isMarked && marked === -1
      ? [{ type: 'text', text: '', ...mark }, ...shown]
      : shown.map((part, place) => (place === marked ? { ...part, ...mark } : part))
  return { role: 'tool', tool_call_id: callId, content: contentOf(content) }
}
