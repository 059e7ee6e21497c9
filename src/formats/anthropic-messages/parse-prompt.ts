/** The conversation of a Messages body. Sources: contract 2.4 and 2.7, and the dialect's own SDK types. */
import type { FunctionTool, Message, OutputFormat, Part, Prompt, ToolChoice } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import {
  child,
  functionTool,
  malformed,
  malformedMember,
  nodeAt,
  type Node,
  nodesAt,
  optionalText,
  type PartReaders,
  readContent,
  readerFor,
  requiredText,
  requiredUrl,
  textPart,
  toolResult,
} from '../prompt-reader.ts'

/** Throws `invalid_prompt` naming the message at fault, `invalid_request` for the tools, their choice or the format. */
export const parsePrompt = (body: JsonBody): Prompt => ({
  messages: [...readSystem(body.value('system')), ...nodesAt(body.value('messages'), 'messages', 'invalid_prompt').map(readMessage)],
  tools: nodesAt(body.value('tools'), 'tools', 'invalid_request').flatMap(readTool),
  toolChoice: readToolChoice(body.value('tool_choice')),
  outputFormat: readOutputFormat(body.value('output_config')),
  settings: {},
  otherFields: [],
})

const readSystem = (value: unknown): Message[] => {
  if (value === undefined) return []
  if (typeof value !== 'string' && !Array.isArray(value))
    throw malformed('invalid_prompt', 'system', 'must be a string or a list of blocks')
  const parts =
    typeof value === 'string'
      ? textPart(value)
      : nodesAt(value, 'system', 'invalid_prompt').flatMap((block) => readerFor(BLOCKS, requiredText(block, 'type'))?.(block) ?? [])
  return [{ role: 'system', parts }]
}

const readMessage = (message: Node): Message => {
  const role = requiredText(message, 'role')
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw malformedMember(message, 'role', 'must be one of user, assistant, system')
  }
  return { role, parts: readContent(message, 'content', BLOCKS) }
}

const BLOCKS: PartReaders = {
  text: (block) => textPart(requiredText(block, 'text')),
  image: (block) => readSource(block, (url) => ({ type: 'image', url })),
  document: (block) => {
    const filename = optionalText(block, 'title')
    return readSource(block, (url) => ({ type: 'file', url, filename }))
  },
  thinking: (block) => [{ type: 'reasoning', text: requiredText(block, 'thinking') }],
  tool_use: (block) => [
    {
      type: 'tool-call',
      id: requiredText(block, 'id'),
      name: requiredText(block, 'name'),
      arguments: JSON.stringify(block.members['input'] ?? {}),
    },
  ],
  tool_result: (block) => toolResult(requiredText(block, 'tool_use_id'), readResultContent(block)),
}

/** A tool that returns nothing may leave the content of its result out. */
const readResultContent = (block: Node): readonly Part[] =>
  (block.members['content'] ?? null) === null ? [] : readContent(block, 'content', BLOCKS)

/** `source` of an image or a document. A `file` source names another service's storage. */
const readSource = (block: Node, partOf: (url: string) => Part): readonly Part[] => {
  const source = child(block, 'source')
  switch (requiredText(source, 'type')) {
    case 'base64':
      return [partOf(`data:${requiredText(source, 'media_type')};base64,${requiredText(source, 'data')}`)]
    case 'url':
      return [partOf(requiredUrl(source, 'url'))]
    case 'text':
      return textPart(requiredText(source, 'data'))
    case 'content':
      return readContent(source, 'content', BLOCKS)
    default:
      return []
  }
}

/** A tool without a type, or of type `custom`, is a function of the client; every other type is the provider's own. */
const readTool = (tool: Node): FunctionTool[] =>
  (tool.members['type'] ?? 'custom') === 'custom' ? [functionTool(tool, 'input_schema')] : []

const readToolChoice = (value: unknown): ToolChoice => {
  if (value === undefined) return { type: 'auto' }
  const choice = nodeAt(value, 'tool_choice', 'invalid_request')
  const type = requiredText(choice, 'type')
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type: 'tool', name: requiredText(choice, 'name') }
    default:
      throw malformedMember(choice, 'type', 'must be one of auto, any, none, tool')
  }
}

/** The dialect gives its schema no name. */
const readOutputFormat = (value: unknown): OutputFormat => {
  if (value === undefined) return { type: 'text' }
  const config = nodeAt(value, 'output_config', 'invalid_request')
  if ((config.members['format'] ?? null) === null) return { type: 'text' }
  const format = nodeAt(config.members['format'], 'output_config.format', 'invalid_request')
  return requiredText(format, 'type') === 'json_schema'
    ? { type: 'json-schema', name: 'response', schema: format.members['schema'] ?? {} }
    : { type: 'text' }
}
