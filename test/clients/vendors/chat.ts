/** Chat Completions in the dialect of OpenAI and DeepSeek. */
import { isObject } from '../../../src/lib/json/json.ts'
import { type Body, type Conversation, listOf, type Refusal, textOf, type Turn } from './conversation.ts'

export const readChat = (body: Body): Conversation => {
  const messages = listOf(body['messages'])
  const textsOf = (...roles: string[]): string =>
    messages.flatMap(({ role, content }) => (roles.includes(String(role)) ? [textOf(content)] : [])).join('\n')
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    system: textsOf('system', 'developer'),
    asked: textsOf('user'),
    results: messages.flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : [])),
    toolNames: listOf(body['tools']).flatMap(({ function: about }) => (isObject(about) ? [String(about['name'])] : [])),
  }
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }

export const writeChat = ({ text, call }: Turn, { model, stream }: Conversation, id: string): readonly unknown[] => {
  const calls =
    call === null ? [] : [{ id: `call_${id}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } }]
  const finish = call === null ? 'stop' : 'tool_calls'
  const head = { id: `chatcmpl-${id}`, created: 1_700_000_000, model }
  if (!stream) {
    const message = {
      role: 'assistant',
      content: call === null ? text : null,
      refusal: null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    }
    return [{ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish, logprobs: null }], usage: USAGE }]
  }
  const chunk = (delta: object, ended: string | null = null): unknown => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: ended }],
  })
  const deltas =
    call === null ? text.split(/(?<= )/).map((content) => ({ content })) : [{ tool_calls: calls.map((one, index) => ({ index, ...one })) }]
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finish),
    { ...head, object: 'chat.completion.chunk', choices: [], usage: USAGE },
  ]
}

/** OpenAI's error, and that of vendors that copy it. */
export const openaiRefusal = (status: number, message: string, more: Body = {}): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } },
})
