/** The conversation of a Chat Completions body. Sources: contract 2.2, 2.5 and 2.7. */
import type { FunctionTool, OutputFormat, Part, Prompt, ToolChoice } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import {
  child,
  children,
  functionTool,
  joinTurns,
  malformed,
  malformedMember,
  nodeAt,
  type Node,
  nodesAt,
  optionalText,
  type PartReaders,
  type Piece,
  readContent,
  readerFor,
  type Readers,
  requiredText,
  requiredUrl,
  textPart,
  toolResult,
} from '../prompt-reader.ts'

/** Throws `invalid_prompt` naming the message at fault, `invalid_request` for the tools, their choice or the format. */
export const parsePrompt = (body: JsonBody): Prompt => ({
  messages: joinTurns(nodesAt(body.value('messages'), 'messages', 'invalid_prompt').map(readMessage)),
  tools: nodesAt(body.value('tools'), 'tools', 'invalid_request').flatMap(readTool),
  toolChoice: readToolChoice(body.value('tool_choice')),
  outputFormat: readOutputFormat(body.value('response_format')),
  settings: {},
  otherFields: [],
})

const readMessage = (message: Node): Piece => {
  const read = readerFor(MESSAGES, requiredText(message, 'role'))
  if (read === undefined) throw malformedMember(message, 'role', `must be one of ${Object.keys(MESSAGES).join(', ')}`)
  return read(message)
}

const PARTS: PartReaders = {
  text: (part) => textPart(requiredText(part, 'text')),
  refusal: (part) => [{ type: 'refusal', text: requiredText(part, 'refusal') }],
  image_url: (part) => [{ type: 'image', url: requiredUrl(child(part, 'image_url'), 'url') }],
  file: (part) => readFile(child(part, 'file')),
}

const MESSAGES: Readers<Piece> = {
  system: (message) => ({ role: 'system', parts: readContent(message, 'content', PARTS), open: false }),
  developer: (message) => ({ role: 'developer', parts: readContent(message, 'content', PARTS), open: false }),
  user: (message) => ({ role: 'user', parts: readContent(message, 'content', PARTS), open: false }),
  assistant: (message) => ({ role: 'assistant', parts: readAssistant(message), open: false }),
  tool: (message) => ({
    role: 'user',
    parts: toolResult(requiredText(message, 'tool_call_id'), readContent(message, 'content', PARTS)),
    open: true,
  }),
}

/** What an assistant message may consist of instead of `content`. */
const BESIDE_CONTENT = ['tool_calls', 'refusal', 'reasoning', 'reasoning_content', 'reasoning_details', 'images', 'audio']

const readAssistant = (message: Node): Part[] => {
  const { content } = message.members
  const absent = content === undefined && BESIDE_CONTENT.some((key) => (message.members[key] ?? null) !== null)
  const refusal = optionalText(message, 'refusal')
  return [
    ...readReasoning(message),
    ...(content === null || absent ? [] : readContent(message, 'content', PARTS)),
    ...(refusal === null ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...children(message, 'images').flatMap((image) => readerFor(PARTS, 'image_url')?.(image) ?? []),
    ...children(message, 'tool_calls').flatMap(readToolCall),
  ]
}

/** `reasoning` repeats as text what `reasoning_details` holds in pieces; `reasoning_content` is a vendor's name for it. */
const readReasoning = (message: Node): Part[] => {
  const whole = optionalText(message, 'reasoning') ?? optionalText(message, 'reasoning_content')
  const texts =
    whole === null
      ? children(message, 'reasoning_details').map((detail) => optionalText(detail, 'text') ?? optionalText(detail, 'summary'))
      : [whole]
  return texts.flatMap((text) => (text === null || text === '' ? [] : [{ type: 'reasoning', text }]))
}

const readToolCall = (call: Node): Part[] => {
  if ((call.members['type'] ?? 'function') !== 'function') return []
  const target = child(call, 'function')
  return [
    {
      type: 'tool-call',
      id: requiredText(call, 'id'),
      name: requiredText(target, 'name'),
      arguments: optionalText(target, 'arguments') ?? '{}',
    },
  ]
}

/** `file_data` is a URL, or base64 alone, which this dialect takes for a PDF. A `file_id` names another service's storage. */
const readFile = (file: Node): Part[] => {
  const data = optionalText(file, 'file_data')
  if (data === null) return []
  const url = /^(?:https?|data):/i.test(data) ? data : `data:application/pdf;base64,${data}`
  return [{ type: 'file', url, filename: optionalText(file, 'filename') }]
}

const readTool = (tool: Node): FunctionTool[] =>
  requiredText(tool, 'type') === 'function' ? [functionTool(child(tool, 'function'), 'parameters')] : []

const readToolChoice = (value: unknown): ToolChoice => {
  if (value === undefined) return { type: 'auto' }
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string') throw malformed('invalid_request', 'tool_choice', 'must be auto, none, required or an object')
  const choice = nodeAt(value, 'tool_choice', 'invalid_request')
  const type = requiredText(choice, 'type')
  if (type === 'function') return { type: 'tool', name: requiredText(child(choice, 'function'), 'name') }
  // A subset of the tools narrows them by its mode; a server tool is not the model's to call.
  if (type === 'allowed_tools')
    return child(choice, 'allowed_tools').members['mode'] === 'required' ? { type: 'required' } : { type: 'auto' }
  return { type: 'auto' }
}

const readOutputFormat = (value: unknown): OutputFormat => {
  if (value === undefined) return { type: 'text' }
  const format = nodeAt(value, 'response_format', 'invalid_request')
  const type = requiredText(format, 'type')
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') return { type: 'text' }
  const { members } = child(format, 'json_schema')
  return { type: 'json-schema', name: typeof members['name'] === 'string' ? members['name'] : 'response', schema: members['schema'] ?? {} }
}
