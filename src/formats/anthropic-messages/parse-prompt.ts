/** Parses a Messages body into the canonical prompt (docs/contract/messages.md#request). */
import { withoutBillingLine } from '../../canonical/billing-line.ts'
import { CLAUDES_BASH, claudesBash } from '../../canonical/claudes-bash.ts'
import type { Message, OutputFormat, Part, Prompt, Tool, ToolChoice } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { verbosity } from '../../request-fields/schemas/output.ts'
import {
  bodyNode,
  child,
  children,
  disown,
  malformed,
  malformedMember,
  member,
  type Node,
  nodesAt,
  optionalChild,
  optionalText,
  requiredText,
  requiredWord,
  whole,
} from '../json-node.ts'
import { otherFields } from '../other-fields.ts'
import { attachProofs, cacheMark, readContent, readPart } from '../prompt-reader.ts'
import { withReplayedTurns } from '../replayed-calls.ts'
import { MESSAGES_ROLES } from '../roles.ts'
import { functionTool, providerTool } from '../tool-reader.ts'
import { startUnreadMembers, type UnreadMembers } from '../unread-members.ts'
import { BLOCKS } from './read-blocks.ts'
import { readMessagesSettings } from './read-settings.ts'
import { thinkingFirst } from './unasked-thinking.ts'

/** Throws `invalid_prompt` naming the faulty message, or `invalid_request` for a fault outside the messages. */
export function* parsePrompt(body: JsonBody): Steps<Prompt> {
  const root = bodyNode(body)
  const outputConfig = optionalChild(root, 'output_config')
  // A list or a string gets the fault of this field.
  const choice = member(root, 'tool_choice') === undefined ? null : child(root, 'tool_choice')
  const unread = startUnreadMembers('messages')
  const system = readSystem(member(root, 'system'), unread)
  yield
  const given = nodesAt(member(root, 'messages'), 'messages')
  const lastOfUser = given.findLastIndex(({ members }) => members['role'] === 'user')
  const read = (message: Node, place: number): readonly Message[] =>
    unread.reading(message, (watched) => readMessage(watched, place < lastOfUser && isCleared(message)))
  const messages = (yield* mapInSteps(given, read)).flat()
  yield
  const inOrder = withReplayedTurns(messages).map(inMakersOrder)
  const tools = yield* mapInSteps(children(root, 'tools'), readTool)
  yield
  const prompt = {
    messages: [...system, ...inOrder],
    tools,
    toolChoice: readToolChoice(choice),
    outputFormat: readOutputFormat(outputConfig),
    settings: readMessagesSettings(root, choice, outputConfig),
  }
  yield
  return { ...prompt, otherFields: otherFields('messages', root, unread.paths) }
}

/** A tool without a type, or of type `custom`, is a function of the client; every other type except the shell is a tool of the provider. */
const readTool = (tool: Node): Tool => {
  const type = optionalText(tool, 'type') ?? 'custom'
  // Every other dialect sends arguments as soon as it has them, so this wish is not lost.
  member(tool, 'eager_input_streaming')
  if (type === 'custom') return functionTool(tool, 'input_schema')
  return CLAUDES_BASH.test(type) ? { ...claudesBash(whole(tool) as JsonObject), ...cacheMark(tool) } : providerTool(tool)
}

const readSystem = (value: unknown, unread: UnreadMembers): Message[] => {
  if (value === undefined) return []
  if (typeof value === 'string') return systemOf([{ type: 'text', text: value }])
  if (!Array.isArray(value)) throw malformed('invalid_prompt', 'system', 'must be a string or a list of blocks')
  return systemOf(nodesAt(value, 'system').flatMap((block) => unread.reading(block, (watched) => readPart(watched, BLOCKS))))
}

/** Only Anthropic understands the billing line, and it gets the body as written (docs/contract/messages.md#request). */
const systemOf = (given: readonly Part[], at = 'system'): Message[] => {
  const parts = given.flatMap((part): readonly Part[] => {
    if (part.type !== 'text') return [part]
    const text = withoutBillingLine(part.text)
    if (text === part.text) return [part]
    return text === '' ? [] : [{ ...part, text }]
  })
  return parts.length === 0 && given.length > 0 ? [] : [{ role: 'system', parts, at }]
}

/** A system message that the model reads only until the user writes again. */
const isCleared = ({ members }: Node): boolean => members['role'] === 'system' && members['clear_at'] === 'next_user_message'

const readMessage = (message: Node, cleared: boolean): readonly Message[] => {
  const role = requiredWord(message, 'role', MESSAGES_ROLES)
  // It says which message is left out, here and not by a provider.
  if (role === 'system') member(message, 'clear_at')
  const isEffortAlone = role === 'system' && member(message, 'content') === undefined && member(message, 'output_config') !== undefined
  const parts = isEffortAlone ? [] : readContent(message, 'content', BLOCKS)
  if (role !== 'system') return [{ role, parts: attachProofs(parts), at: message.path }]
  // Its tools and what this release does not know stay.
  const shown = cleared ? parts.filter(({ type }) => type !== 'text') : parts
  const said = cleared && shown.length === 0 ? [] : systemOf(shown, message.path)
  const effort = readEffort(message)
  if (effort === null) return said
  const words = said.flatMap((one) => one.parts).filter((part) => part.type !== 'text' || part.text !== '')
  return [{ role, parts: words, effort, at: message.path }]
}

const readEffort = (message: Node): string | null => {
  const config = optionalChild(message, 'output_config')
  return config === null || member(config, 'effort') === undefined ? null : requiredWord(config, 'effort', verbosity.options)
}

const inMakersOrder = (message: Message): Message =>
  message.role === 'assistant' ? { ...message, parts: thinkingFirst(message.parts) } : message

const readToolChoice = (choice: Node | null): ToolChoice => {
  if (choice === null) return { type: 'auto' }
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

/** This dialect gives the schema no name. */
const readOutputFormat = (outputConfig: Node | null): OutputFormat => {
  const format = outputConfig === null ? null : optionalChild(outputConfig, 'format')
  if (format === null) return { type: 'text' }
  if (requiredText(format, 'type') === 'json_schema') {
    return { type: 'json-schema', name: 'response', schema: member(format, 'schema') ?? {} }
  }
  disown(format, 'type')
  return { type: 'text' }
}
