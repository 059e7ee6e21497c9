/**
 * The errors of Mistral's API for the body of a chat completion. Sources: the types of its SDK, the validators of `mistral-common`, and errors
 * that people report ("Unexpected role 'user' after role 'tool'"). It uses none of our code, so that it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, firstRefusal, list, objects, strangeIn } from './strict-body.ts'

/** The first error of the request; null if it is accepted. */
export const refusedByMistral = (body: Body): string | null => firstRefusal([fields, members, order, calls, tools], body)

const messagesOf = (body: Body): readonly Body[] => objects(body['messages'])

/** "Extra inputs are not permitted" */
const unknownIn = (value: Body, known: string, at: string): string | null => {
  const strange = strangeIn(value, known)
  return strange === undefined ? null : `${at}.${strange}: Extra inputs are not permitted`
}

const fields = (body: Body): string | null =>
  unknownIn(
    body,
    `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty
    frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails prompt_cache_key safe_prompt`,
    'body',
  )

const MEMBERS: Readonly<Record<string, string>> = {
  system: 'role content',
  user: 'role content',
  assistant: 'role content tool_calls prefix',
  tool: 'role content tool_call_id name',
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ['text'],
  user: ['text', 'image_url', 'document_url', 'input_audio'],
  assistant: ['text', 'thinking'],
  tool: ['text'],
}

const thinks = (model: unknown): boolean => /magistral|mistral-large-4|mistral-medium-3-5|mistral-small-2603/.test(String(model))

const members = (body: Body): string | null => {
  if (messagesOf(body).length === 0) return 'Conversation must have at least one message'
  for (const [place, message] of messagesOf(body).entries()) {
    const at = `messages[${place}]`
    const role = String(message['role'])
    const known = MEMBERS[role]
    if (known === undefined) return `${at}: Input tag '${role}' does not match any of the expected tags`
    const strange = unknownIn(message, known, at)
    if (strange !== null) return strange
    const { content = null, tool_calls: called } = message
    if (content === null && (role !== 'assistant' || list(called).length === 0)) return `${at}.content: Field required`
    if (called !== undefined && list(called).length === 0) return `${at}.tool_calls: List should have at least 1 item`
    for (const part of objects(content)) {
      if (PARTS[role]?.includes(String(part['type'])) !== true) return `Unexpected content chunk types in ${role} message`
      if (part['type'] === 'thinking' && (!thinks(body['model']) || unknownIn(part, 'type thinking closed signature', at) !== null))
        return `Unexpected thinking chunk in ${role} message`
    }
    if (message['prefix'] === true && place < messagesOf(body).length - 1) return 'Assistant message with prefix True must be last message'
  }
  return null
}

const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
}

const order = (body: Body): string | null => {
  const messages = messagesOf(body)
  for (const [place, { role }] of messages.entries()) {
    const before = messages[place - 1]?.['role']
    if (typeof before === 'string' && FOLLOWING[before]?.includes(String(role)) !== true)
      return `Unexpected role '${String(role)}' after role '${before}'`
  }
  const last = messages.at(-1)
  const isOpen =
    last?.['role'] === 'user' ||
    last?.['role'] === 'tool' ||
    last?.['prefix'] === true ||
    (messages.length === 1 && last?.['role'] === 'system')
  return isOpen ? null : `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${String(last?.['role'])}`
}

const isName = (name: unknown): boolean => typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name)

const calls = (body: Body): string | null => {
  let expected = new Set<unknown>()
  let observed = new Set<unknown>()
  for (const message of messagesOf(body)) {
    if (message['role'] === 'tool') {
      const id = message['tool_call_id']
      if (observed.has(id)) return `Duplicate tool call id ${String(id)} in tool results`
      if (!expected.has(id)) return `Unexpected tool call id ${String(id)} in tool results`
      observed.add(id)
    } else if (message['role'] === 'assistant') {
      if (expected.size !== observed.size) return 'Not the same number of function calls and responses'
      expected = new Set()
      observed = new Set()
      for (const { id, function: called } of objects(message['tool_calls'])) {
        if (typeof id !== 'string' || !/^[a-zA-Z0-9]{9}$/.test(id))
          return `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`
        if (expected.has(id)) return `Duplicate tool call id ${id} in assistant message`
        expected.add(id)
        if (!isObject(called) || !isName(called['name'])) return 'Function name must be a-z, A-Z, 0-9, or contain underscores and dashes'
      }
    }
  }
  return expected.size === observed.size ? null : 'Not the same number of function calls and responses'
}

const tools = (body: Body): string | null => {
  const declared = objects(body['tools'])
  if (body['tools'] !== undefined && declared.length === 0) return 'tools: an empty list'
  for (const { function: called } of declared)
    if (!isObject(called) || !isName(called['name'])) return 'Function name must be a-z, A-Z, 0-9, or contain underscores and dashes'
  return null
}
