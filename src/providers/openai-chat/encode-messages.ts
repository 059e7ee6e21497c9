/** A conversation as chat messages: each turn at its place, what tools returned directly behind the calls. */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { answerable } from '../answerable.ts'
import { mediaOfTool, toolsByCall, type ToolNames, withWords } from '../tool-media.ts'
import { contentOf, encodePart, isMarked } from './encode-parts.ts'
import { callIdFor, type MessageContext } from './message-context.ts'

/** Throws `invalid_prompt` where nothing is left to answer. */
export const encodeMessages = (messages: readonly Message[], context: MessageContext): readonly JsonObject[] => {
  const tools = toolsByCall(messages)
  return answerable(
    messages,
    messages.flatMap((message) => {
      const at = message.at ?? 'messages'
      const encoded = message.role === 'assistant' ? encodeAssistant(message.parts, at, context) : encodeInput(message, at, tools, context)
      if (message.name === undefined) return encoded
      if (!context.vendor.strictMessages) return encoded.map((one) => (one['role'] === 'tool' ? one : { ...one, name: message.name ?? '' }))
      context.lose(`${at}.name`, `${context.target.providerName} takes no names of messages; it was left out.`)
      return encoded
    }),
  )
}

type ToolResult = Extract<Part, { type: 'tool-result' }>

const encodeInput = ({ role, parts }: Message, at: string, tools: ToolNames, context: MessageContext): readonly JsonObject[] => {
  const results = parts.filter((part): part is ToolResult => part.type === 'tool-result')
  // What a tool returned beside text cannot stand in a message of a tool: it comes first in the user's.
  const media = results.flatMap((result) => mediaOfTool(result, tools))
  const others = parts.filter(({ type }) => type !== 'tool-result')
  const content = contentOf(
    [...media, ...others].flatMap((part) => encodePart(part, { at, role }, context)),
    context.vendor,
  )
  const messages = results.map((result) => encodeResult(withWords(result, tools), at, context))
  if (content === null) return messages
  return [...messages, { role: role === 'developer' && !context.vendor.developerRole ? 'system' : role, content }]
}

const encodeResult = ({ callId, text, isError, cache }: ToolResult, at: string, context: MessageContext): JsonObject => {
  if (isError === true)
    context.lose(at, `${context.target.providerName} cannot be told that the result of ${callId} is an error; its text went on as it is.`)
  const mark = context.cacheControl(cache, at, 'content')
  return {
    role: 'tool',
    tool_call_id: callIdFor(callId, context.vendor),
    content: isMarked(mark) ? [{ type: 'text', text, ...mark }] : text,
  }
}
