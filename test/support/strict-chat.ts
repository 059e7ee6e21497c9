/**
 * The reasons why vendors of Chat Completions refuse messages: members that they do not know, turns that say nothing, and calls without their
 * results. Sources: the types of their SDKs (`openai`, `groq-python`, `cerebras-cloud-sdk-python`), their guides to thinking, and errors that
 * people report. It uses none of our code, so that it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, list, objects } from './strict-body.ts'

interface Members {
  readonly assistant: string
  readonly others: string
  /** Calls must have thinking beside them, which must say something if it is `filled`. */
  readonly thinking?: 'present' | 'filled'
  readonly idMax?: number
  /** Has tools that take any text. */
  readonly customTools?: true
  /** A refusal is words of the turn; another vendor that does not refuse the member reads past it. */
  readonly readsRefusals?: true
}

export const CHAT_VENDORS: Readonly<Record<string, Members>> = {
  openai: {
    // Its guides append the message that it sent, which has annotations.
    assistant: 'role content refusal name audio annotations tool_calls',
    others: 'role content name tool_call_id',
    idMax: 40,
    customTools: true,
    readsRefusals: true,
  },
  groq: { assistant: 'role content reasoning tool_calls', others: 'role content tool_call_id' },
  cerebras: { assistant: 'role content reasoning tool_calls', others: 'role content tool_call_id' },
  xai: { assistant: 'role content tool_calls', others: 'role content name tool_call_id' },
  // These three ignore what they do not know.
  deepseek: {
    assistant: 'role content refusal name prefix annotations reasoning_content tool_calls',
    others: 'role content name tool_call_id',
    thinking: 'present',
  },
  moonshot: {
    assistant: 'role content refusal name partial annotations reasoning_content tool_calls',
    others: 'role content name tool_call_id',
    thinking: 'filled',
  },
  zai: { assistant: 'role content refusal annotations reasoning_content tool_calls', others: 'role content name tool_call_id' },
}

/** The first fault of the messages; null if they are accepted. */
export const refusedByVendor = (body: Body, vendor: string): string | null => {
  const rules = CHAT_VENDORS[vendor]
  const messages = objects(body['messages'])
  if (rules === undefined || messages.length === 0) return 'messages: an empty list'
  let waiting = new Set<unknown>()
  for (const [place, message] of messages.entries()) {
    const fault = faultOf(message, rules)
    if (fault !== null) return `messages.${place}: ${fault}`
    const { role, tool_calls: called, tool_call_id: answered } = message
    if (role === 'tool') {
      if (!waiting.delete(answered))
        return `messages.${place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`
      continue
    }
    if (waiting.size > 0) return `messages.${place}: an assistant message with 'tool_calls' must be followed by tool messages`
    waiting = new Set(objects(called).map(({ id }) => id))
    if (waiting.size < objects(called).length) return `messages.${place}: an id twice`
  }
  return waiting.size === 0 ? null : 'calls without results at the end'
}

const faultOf = (message: Body, { assistant, others, thinking, idMax, customTools, readsRefusals }: Members): string | null => {
  const { role, content = null, tool_calls: called } = message
  const known = new Set((role === 'assistant' ? assistant : others).split(' '))
  const strange = Object.keys(message).find((name) => !known.has(name))
  if (strange !== undefined) return `property '${strange}' is unsupported`
  if (Array.isArray(content) && content.length === 0) return 'content: an empty list'
  const refusal = message['refusal'] ?? ''
  if (refusal !== '' && readsRefusals !== true) return 'a refusal that is not read'
  if (content === null && (role !== 'assistant' || (list(called).length === 0 && refusal === ''))) return 'content is missing'
  if (called !== undefined && list(called).length === 0) return '[] is too short - tool_calls'
  for (const { id, type, function: said } of objects(called)) {
    if (typeof id !== 'string' || id === '' || id.length > (idMax ?? Number.POSITIVE_INFINITY)) return `an id of a call: ${String(id)}`
    if (type === 'custom' && customTools === true) continue
    if (type !== 'function' || !isObject(said) || !isObjectText(said['arguments'])) return 'arguments must be a JSON object'
  }
  const thought = message['reasoning_content']
  if (thinking === undefined || list(called).length === 0) return null
  if (typeof thought !== 'string' || (thinking === 'filled' && thought === ''))
    return 'reasoning_content is missing in assistant tool call message'
  return null
}

const isObjectText = (text: unknown): boolean => {
  try {
    return typeof text === 'string' && isObject(JSON.parse(text))
  } catch {
    return false
  }
}
