/** The conversation of a Responses body. Sources: contract 2.3, 2.6 and 2.7. */
import type { FunctionTool, Message, OutputFormat, Part, Prompt, ToolChoice } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import {
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

/** Throws `invalid_prompt` naming the input item at fault, `invalid_request` for the tools, their choice or the format. */
export const parsePrompt = (body: JsonBody): Prompt => ({
  messages: [...readInstructions(body.value('instructions')), ...readInput(body.value('input'))],
  tools: nodesAt(body.value('tools'), 'tools', 'invalid_request').flatMap(readTool),
  toolChoice: readToolChoice(body.value('tool_choice')),
  outputFormat: readOutputFormat(body.value('text')),
  settings: {},
  otherFields: [],
})

const readInstructions = (value: unknown): Message[] => {
  if (value === undefined) return []
  if (typeof value !== 'string') throw malformed('invalid_prompt', 'instructions', 'must be a string')
  return [{ role: 'system', parts: textPart(value) }]
}

const readInput = (value: unknown): Message[] =>
  typeof value === 'string'
    ? [{ role: 'user', parts: textPart(value) }]
    : joinTurns(nodesAt(value, 'input', 'invalid_prompt').flatMap((item) => readerFor(ITEMS, itemType(item))?.(item) ?? []))

/** A message may leave its `type` out. */
const itemType = (item: Node): string => ((item.members['type'] ?? null) === null ? 'message' : requiredText(item, 'type'))

const PARTS: PartReaders = {
  input_text: (part) => textPart(requiredText(part, 'text')),
  output_text: (part) => textPart(requiredText(part, 'text')),
  text: (part) => textPart(requiredText(part, 'text')),
  refusal: (part) => [{ type: 'refusal', text: requiredText(part, 'refusal') }],
  input_image: (part) => ((part.members['image_url'] ?? null) === null ? [] : [{ type: 'image', url: requiredUrl(part, 'image_url') }]),
  input_file: (part) => readFile(part),
}

const assistant = (...parts: Part[]): Piece[] => [{ role: 'assistant', parts, open: true }]

const ITEMS: Readers<Piece[]> = {
  message: (item) => [readMessage(item)],
  reasoning: (item) => assistant(...readReasoning(item)),
  function_call: (item) =>
    assistant({
      type: 'tool-call',
      id: requiredText(item, 'call_id'),
      name: requiredText(item, 'name'),
      arguments: optionalText(item, 'arguments') ?? '{}',
    }),
  function_call_output: (item) => [
    { role: 'user', parts: toolResult(requiredText(item, 'call_id'), readContent(item, 'output', PARTS)), open: true },
  ],
  item_reference: (item) => {
    throw malformedMember(item, 'type', 'item_reference cannot be resolved: no responses are stored, send the item itself')
  },
}

const readMessage = (item: Node): Piece => {
  const role = requiredText(item, 'role')
  if (role !== 'user' && role !== 'system' && role !== 'developer' && role !== 'assistant') {
    throw malformedMember(item, 'role', 'must be one of user, system, developer, assistant')
  }
  return { role, parts: readContent(item, 'content', PARTS), open: role === 'assistant' }
}

/** The full text where the item has it, else its summary. Encrypted reasoning means nothing outside its own dialect. */
const readReasoning = (item: Node): Part[] => {
  const full = children(item, 'content')
  return (full.length > 0 ? full : children(item, 'summary')).map((part) => ({ type: 'reasoning', text: requiredText(part, 'text') }))
}

/** A `file_id` names another service's storage. */
const readFile = (part: Node): Part[] => {
  const filename = optionalText(part, 'filename')
  const data = optionalText(part, 'file_data')
  if (data !== null) return [{ type: 'file', url: data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`, filename }]
  return (part.members['file_url'] ?? null) === null ? [] : [{ type: 'file', url: requiredUrl(part, 'file_url'), filename }]
}

const readTool = (tool: Node): FunctionTool[] => (requiredText(tool, 'type') === 'function' ? [functionTool(tool, 'parameters')] : [])

const readToolChoice = (value: unknown): ToolChoice => {
  if (value === undefined) return { type: 'auto' }
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (typeof value === 'string') throw malformed('invalid_request', 'tool_choice', 'must be auto, none, required or an object')
  const choice = nodeAt(value, 'tool_choice', 'invalid_request')
  const type = requiredText(choice, 'type')
  if (type === 'function') return { type: 'tool', name: requiredText(choice, 'name') }
  // A subset of the tools narrows them by its mode; a server tool is not the model's to call.
  return type === 'allowed_tools' && choice.members['mode'] === 'required' ? { type: 'required' } : { type: 'auto' }
}

const readOutputFormat = (value: unknown): OutputFormat => {
  if (value === undefined) return { type: 'text' }
  const text = nodeAt(value, 'text', 'invalid_request')
  if ((text.members['format'] ?? null) === null) return { type: 'text' }
  const format = nodeAt(text.members['format'], 'text.format', 'invalid_request')
  const type = requiredText(format, 'type')
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') return { type: 'text' }
  return { type: 'json-schema', name: optionalText(format, 'name') ?? 'response', schema: format.members['schema'] ?? {} }
}
