import { expect, test } from 'bun:test'

import { askedFrom, requestBody } from '../src/playing/conversation-input.ts'
import { createStreamReader } from '../src/playing/read-answer.ts'

const CALLS = [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } }]

test('a stored request that is asked again has every turn as it was, with its calls of tools and the name of its speaker', () => {
  const messages = [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: 'Let me see.', tool_calls: CALLS },
    { role: 'tool', tool_call_id: 'call_1', content: 'Here.' },
    { role: 'assistant', content: '', tool_calls: CALLS },
    { role: 'tool', tool_call_id: 'call_1', content: 'There.' },
    { role: 'user', name: 'ada', content: 'And now?' },
  ]
  const asked = { interface: 'chat', ...askedFrom({ model: 'm', messages }, 'chat'), stream: false } as const
  expect(asked.messages[0]).toEqual({ role: 'user', text: 'Where is it?' })
  expect(requestBody(asked)).toEqual({ model: 'm', messages })
})

test('a turn of Responses that is nothing but text can be edited, whether or not it says that it is a message', () => {
  const input = [
    { role: 'user', content: 'One' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two' }] },
    { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content: [{ type: 'output_text', text: 'Three' }] },
  ]
  const { messages } = askedFrom({ input }, 'responses')
  expect(messages.slice(0, 2)).toEqual(['One', 'Two'].map((text) => ({ role: 'user', text })))
  expect(messages[2]).toMatchObject({ role: 'raw', values: [input[2]] })
})

test('of several answers in one stream the first is shown, and no text of another', () => {
  const read = createStreamReader('chat')
  const chunk = (index: number, content: string) => JSON.stringify({ choices: [{ index, delta: { content } }] })
  expect([chunk(0, 'yes'), chunk(1, 'no'), chunk(0, '!')].map((data) => read(data).text)).toEqual(['yes', 'yes', 'yes!'])
  expect(read(JSON.stringify({ choices: [], usage: { prompt_tokens: 3 } }))).toMatchObject({ text: 'yes!', inputTokens: 3 })
})

test('a streamed answer of Chat is sent back whole: with each piece of its reasoning, the signatures of its calls, custom calls and sources', () => {
  const read = createStreamReader('chat')
  const chunk = (delta: object) => JSON.stringify({ choices: [{ index: 0, delta }] })
  const signature = { extra_content: { google: { thought_signature: 'sig' } } }
  const piece = (more: object) => ({ type: 'reasoning.text', index: 0, ...more })
  const ran = { type: 'reasoning.server_tool_call', tool_name: 'clock', index: 1, id: 'x_pbt0c0' }
  const source = (url: string) => ({ type: 'url_citation', url_citation: { url } })
  const deltas = [
    { role: 'assistant', content: '', reasoning: 'H', reasoning_details: [piece({ text: 'H' })] },
    { role: 'assistant', reasoning: 'm.', reasoning_details: [piece({ text: 'm.' })] },
    { reasoning_details: [piece({ text: '', signature: 's', format: 'anthropic-claude-v1' })] },
    { reasoning_details: [ran] },
    { content: 'Yes', annotations: [source('a')] },
    { content: '.', annotations: [source('b')] },
    { tool_calls: [{ index: 1, id: 'c1', type: 'function', function: { name: 'find', arguments: '' }, ...signature }] },
    { tool_calls: [{ index: 1, function: { arguments: '{"n":' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '7}' } }] },
    { tool_calls: [{ index: 3, id: 'c2', type: 'custom', custom: { name: 'run', input: '' } }] },
    { tool_calls: [{ index: 3, custom: { input: 'ls' } }] },
  ]
  const answer = deltas.map((delta) => read(chunk(delta))).at(-1)
  expect(answer).toMatchObject({
    text: 'Yes.',
    reasoning: 'Hm.',
    calls: [
      { id: 'c1', input: '{"n":7}' },
      { id: 'c2', input: 'ls' },
    ],
  })
  expect(answer?.turns).toEqual([
    {
      role: 'assistant',
      content: 'Yes.',
      reasoning: 'Hm.',
      reasoning_details: [piece({ text: 'Hm.', signature: 's', format: 'anthropic-claude-v1' }), ran],
      annotations: [source('a'), source('b')],
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"n":7}' }, ...signature },
        { id: 'c2', type: 'custom', custom: { name: 'run', input: 'ls' } },
      ],
    },
  ])
})

test('an answer of no words is no turn to send back', () => {
  const read = createStreamReader('chat')
  expect(read(JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })).turns).toEqual([])
})

test('a streamed answer of Messages is sent back whole: with the signature of its thinking, its citations and its calls, in their order', () => {
  const read = createStreamReader('messages')
  const start = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
  const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece })
  const citation = { type: 'char_location', cited_text: 'x' }
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
    delta(0, { type: 'thinking_delta', thinking: 'm.' }),
    delta(0, { type: 'signature_delta', signature: 'sig' }),
    start(1, { type: 'text', text: '' }),
    start(2, { type: 'tool_use', id: 't', name: 'find', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"number":' }),
    delta(2, { type: 'input_json_delta', partial_json: '"7"}' }),
    start(3, { type: 'text', text: '' }),
    delta(3, { type: 'text_delta', text: 'Yes.' }),
    delta(3, { type: 'citations_delta', citation }),
    start(4, { type: 'tool_use', id: 'u', name: 'clock', input: {} }),
  ]
  const answers = events.map((event) => read(JSON.stringify(event)))
  expect(answers.at(-1)).toMatchObject({ text: 'Yes.', reasoning: 'Hmm.', calls: [{ id: 't', input: '{"number":"7"}' }, { id: 'u' }] })
  expect(answers.at(-1)?.turns).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hmm.', signature: 'sig' },
        { type: 'tool_use', id: 't', name: 'find', input: { number: '7' } },
        { type: 'text', text: 'Yes.', citations: [citation] },
        { type: 'tool_use', id: 'u', name: 'clock', input: {} },
      ],
    },
  ])
})
