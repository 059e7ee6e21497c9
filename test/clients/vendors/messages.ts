/** Anthropic's Messages. */
import { type Body, type Conversation, listOf, type Refusal, textOf, type Turn } from './conversation.ts'

export const readMessages = (body: Body): Conversation => {
  const messages = listOf(body['messages'])
  const saysText = ({ role, content }: Body): boolean =>
    role === 'user' && (typeof content === 'string' || listOf(content).every(({ type }) => type !== 'tool_result'))
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    system: [textOf(body['system']), ...messages.flatMap(({ role, content }) => (role === 'system' ? [textOf(content)] : []))].join('\n'),
    asked: messages.flatMap((message) => (saysText(message) ? [textOf(message['content'])] : [])).join('\n'),
    results: messages.flatMap(({ content }) =>
      listOf(content).flatMap((block) => (block['type'] === 'tool_result' ? [textOf(block['content'])] : [])),
    ),
    toolNames: listOf(body['tools']).map(({ name }) => String(name)),
  }
}

export const writeMessages = ({ text, call }: Turn, { model, stream }: Conversation, id: string): readonly unknown[] => {
  const block = call === null ? { type: 'text', text } : { type: 'tool_use', id: `toolu_${id}`, name: call.name, input: call.args }
  const stop = { stop_reason: call === null ? 'end_turn' : 'tool_use', stop_sequence: null }
  const usage = { input_tokens: 20, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model }
  if (!stream) return [{ ...message, content: [block], ...stop, usage }]
  const deltas =
    call === null
      ? text.split(/(?<= )/).map((piece) => ({ type: 'text_delta', text: piece }))
      : [{ type: 'input_json_delta', partial_json: JSON.stringify(call.args) }]
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: call === null ? { type: 'text', text: '' } : { ...block, input: {} } },
    { type: 'ping' },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
}

export const anthropicRefusal = (status: number, message: string, type = 'invalid_request_error'): Refusal => ({
  status,
  body: { type: 'error', error: { type, message }, request_id: 'req_scripted' },
})
