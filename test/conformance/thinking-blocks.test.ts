/** LiteLLM gives Claude's thinking as `thinking_blocks` and wants them back so, whatever interface the client speaks. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { anthropic, openAi } from '../support/answers.ts'
import { at } from '../support/json-at.ts'
import { MODEL, question, replay, replayReply, type Reply, typeOf } from '../support/replay.ts'
import { chunk, reported, sentTo, USAGE, whole } from '../support/upstream-replies.ts'

const CALL = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
const BLOCKS = [
  { type: 'thinking', thinking: 'Hm, so.', signature: 'EqQB/+a==' },
  { type: 'redacted_thinking', data: 'EmwK' },
]
const envelope = { id: 'c', object: 'chat.completion', created: 1, model: 'claude' }
const WHOLE = whole({
  ...envelope,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, reasoning_content: 'Hm, so.', thinking_blocks: BLOCKS, tool_calls: [CALL] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: USAGE,
})
const thinking = (text: string, signature = '') =>
  chunk({ reasoning_content: text, thinking_blocks: [{ type: 'thinking', thinking: text, signature }] })
const STREAM = reported(
  'openai-chat',
  chunk({ role: 'assistant', content: '' }),
  ...['Hm', ',', ' so', '.'].map((text) => thinking(text)),
  thinking('', 'EqQB/+a=='),
  chunk({ thinking_blocks: [BLOCKS[1]] }),
  chunk({ tool_calls: [{ index: 0, ...CALL }] }),
  chunk({}, 'tool_calls'),
)

/** The turn of the answer as a client of the interface sends it back, with the result of its call. */
const turnOf = async (client: ClientDialect, text: string, stream: boolean): Promise<Readonly<Record<string, unknown>>> => {
  if (client === 'responses') {
    const { responses } = openAi(text, stream ? undefined : 'application/json')
    const response = stream
      ? await responses.stream({ model: 'm', input: 'x' }).finalResponse()
      : await responses.create({ model: 'm', input: 'x' })
    return { input: [{ role: 'user', content: 'Hi' }, ...response.output, { type: 'function_call_output', call_id: 'c1', output: 'Sun' }] }
  }
  const { messages } = anthropic(text, stream ? undefined : 'application/json')
  const asked = { model: 'm', max_tokens: 1, messages: [] }
  const message = stream ? await messages.stream(asked).finalMessage() : await messages.create(asked)
  return {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: message.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Sun' }] },
    ],
  }
}

describe.each(['responses', 'messages'] as const)('%s', (client) => {
  test.each([false, true])('the blocks of an answer go back to the server as they came; in a stream: %p', async (stream) => {
    const { text } = await replayReply(client, 'openai-chat', stream ? STREAM : WHOLE, stream)
    expect(text).toContain('Hm')
    const { body, warnings } = await sentTo(client, 'openai-chat', await turnOf(client, text, stream))
    expect(at(body, 'messages', 1)).toEqual({ role: 'assistant', content: null, thinking_blocks: BLOCKS, tool_calls: [CALL] })
    expect(warnings).toBe(0)
  })

  test('what no server gave as blocks is sent as none', async () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB/+a==' }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [signed, { type: 'text', text: 'Hello' }] },
      { role: 'user', content: 'Why?' },
    ]
    const { text, warnings } = await sentTo('messages', 'openai-chat', { max_tokens: 100, messages })
    expect([text.includes('EqQB'), warnings]).toEqual([false, 1])
  })
})

test('of Gemini, whose block holds JSON, the readable text is shown and the block goes back', async () => {
  const block = { type: 'thinking', thinking: '{"text": "Hm."}', signature: 'CiQB' }
  const message = { role: 'assistant', content: null, reasoning_content: 'Hm.', thinking_blocks: [block], tool_calls: [CALL] }
  const reply = whole({ ...envelope, choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage: USAGE })
  const { text } = await replayReply('messages', 'openai-chat', reply)
  expect(at(JSON.parse(text), 'content', 0, 'thinking')).toBe('Hm.')
  const { body } = await sentTo('messages', 'openai-chat', await turnOf('messages', text, false))
  expect(at(body, 'messages', 1, 'thinking_blocks')).toEqual([block])
})

describe('a chat client that sends blocks', () => {
  const HISTORY = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', reasoning_content: 'Hm, so.', thinking_blocks: BLOCKS },
      { role: 'user', content: 'Why?' },
    ],
  }

  test('has them sent to Claude', async () => {
    const { body, warnings } = await sentTo('chat', 'anthropic', HISTORY)
    expect(at(body, 'messages', 1, 'content')).toEqual([...BLOCKS, { type: 'text', text: 'Hello' }])
    expect(warnings).toBe(0)
  })

  test('has them sent as they are to a server of its own dialect, and left out with a warning for a vendor that knows none', async () => {
    expect((await sentTo('chat', 'openai-chat', HISTORY)).body['messages']).toEqual(HISTORY.messages)
    const reply = WHOLE
    const upstreams = [{ dialect: 'openai-chat', slug: 'groq', reply }] as const
    const { sent, headers } = await replay({ client: 'chat', upstreams, body: { model: MODEL, ...HISTORY } })
    expect(JSON.parse(sent[0]?.body ?? '{}').messages[1]).toEqual({ role: 'assistant', content: 'Hello' })
    expect(headers.get('x-service-warnings')).toBe('1')
  })
})

test('a client that asked to see no thinking sees none in blocks', async () => {
  const replies: readonly (readonly [boolean, Reply])[] = [
    [false, WHOLE],
    [true, STREAM],
  ]
  for (const [stream, reply] of replies) {
    const body = { ...question('chat', stream), reasoning: { exclude: true } }
    const { text } = await replay({
      client: 'chat',
      upstreams: [{ dialect: 'openai-chat', reply: { ...reply, type: typeOf(stream) } }],
      body,
    })
    expect(text).not.toContain('Hm')
    expect(text).not.toContain('thinking_blocks')
  }
})
