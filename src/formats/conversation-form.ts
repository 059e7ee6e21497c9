/**
 * Checks the form of a conversation in its dialect: kinds of values, and role names. A translation finds such faults as it reads;
 * this check reports the same faults in the same words if the conversation is passed on as the client wrote it (decisions/0092).
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { eachElementOutlined, eachOutlined } from '../lib/json/json-outline.ts'
import type { JsonValue } from '../lib/json/json.ts'
import { mapInSteps, type Steps } from '../lib/steps.ts'
import { strictly } from './call-reader.ts'
import { children, malformedMember, member, type Node, nodeAt, nodesAt, optionalText, requiredText, requiredWord } from './json-node.ts'
import { CONVERSATION_FIELD, LOOKED_THROUGH_MAX } from './require-conversation.ts'
import { CHAT_ROLES, MESSAGES_ROLES, RESPONSES_ROLES } from './roles.ts'

/** `any`: an unknown server may accept further roles, and parts that are strings or have no type. */
export type Names = 'known' | 'any'

/** Throws `invalid_prompt` naming the faulty place. A large conversation is not parsed for this check. */
export function* checkForm(client: ClientDialect, body: JsonBody, names: Names): Steps<void> {
  const field = CONVERSATION_FIELD[client]
  const raw = body.rawHeld(field) ?? ''
  if (!raw.startsWith('[')) return
  const check = (item: Node): void => CHECKS[client](item, names)
  if (raw.length > LOOKED_THROUGH_MAX) {
    const checkAt = (item: JsonValue, index: number): void => check(nodeAt(item, `${field}[${index}]`, 'invalid_prompt'))
    const elements = body.elementsOf(field)
    yield* strictly(elements === undefined ? eachOutlined(raw, LEVELS, checkAt) : eachElementOutlined(body.held, elements, LEVELS, checkAt))
  } else yield* mapInSteps(nodesAt(body.value(field), field), check)
}

/** The levels are an item, its content, a part, the content of a tool's result, and a part of that. */
const LEVELS = 5

const checkChat = (message: Node, names: Names): void => {
  const role = checkRole(message, CHAT_ROLES, names)
  checkContent(message, 'content', names, role !== 'assistant')
  children(message, 'tool_calls')
  optionalText(message, 'tool_call_id')
}

const checkResponses = (item: Node, names: Names): void => {
  const type = optionalText(item, 'type') ?? 'message'
  if (type === 'message') {
    checkRole(item, RESPONSES_ROLES, names)
    checkContent(item, 'content', names, true)
  } else if (type === 'function_call' || type === 'custom_tool_call') {
    requiredText(item, 'call_id')
    requiredText(item, 'name')
    optionalText(item, type === 'function_call' ? 'arguments' : 'input')
  } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    optionalText(item, 'call_id')
    checkContent(item, 'output', names, false)
  } else if (type === 'reasoning') {
    children(item, 'summary')
    children(item, 'content')
  }
}

const checkMessages = (message: Node, names: Names): void => {
  const role = checkRole(message, MESSAGES_ROLES, names)
  // A system message may consist of its effort alone.
  checkContent(message, 'content', names, role !== 'system' || member(message, 'output_config') === undefined)
}

const CHECKS: Readonly<Record<ClientDialect, (item: Node, names: Names) => void>> = {
  chat: checkChat,
  responses: checkResponses,
  messages: checkMessages,
}

const checkRole = (item: Node, roles: readonly string[], names: Names): string =>
  names === 'known' ? requiredWord(item, 'role', roles) : requiredText(item, 'role')

const checkContent = (node: Node, key: string, names: Names, required: boolean): void => {
  const value = member(node, key)
  if (typeof value === 'string' || (value === undefined && (!required || names === 'any'))) return
  if (!Array.isArray(value)) throw malformedMember(node, key, 'must be a string or a list of parts')
  if (names === 'any') return
  for (const part of children(node, key)) {
    const type = requiredText(part, 'type')
    if (TEXTS.has(type)) requiredText(part, 'text')
    else if (type === 'tool_result') checkContent(part, 'content', names, false)
  }
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text'])
