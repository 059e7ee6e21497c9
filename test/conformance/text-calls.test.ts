/** Tools with free-form input (OpenAI's `custom`) if the client's or the provider's dialect lacks them: the call, and the way back. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, replayReply, typeOf } from '../support/replay.ts'
import { calling, chunk, sentTo, reported, whole as wholeReply } from '../support/upstream-replies.ts'

const INPUT = 'SELECT * FROM users WHERE age > 25'
const CALL = { name: 'write_sql', input: INPUT }
const GRAMMAR = { syntax: 'regex', definition: 'SELECT .+' }

/** A request with such a tool, in the dialects that have them. */
const ASKED = {
  chat: {
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'custom', custom: { name: 'write_sql', description: 'Queries.', format: { type: 'grammar', grammar: GRAMMAR } } }],
  },
  responses: {
    input: 'Hi',
    tools: [{ type: 'custom', name: 'write_sql', description: 'Queries.', format: { type: 'grammar', ...GRAMMAR } }],
  },
}

const reply = (stream: boolean) =>
  ({ type: typeOf(stream), pieces: [recording('openai-responses', 'openai-custom-tool.1', stream).bytes] }) as const

// Answers of three dialects.
// oxlint-disable-next-line typescript/no-explicit-any
const whole = async (client: ClientDialect, body: Readonly<Record<string, unknown>> | null): Promise<any> => {
  const upstreams = [{ dialect: 'openai-responses', reply: reply(false) }] as const
  const { text } = await (body === null
    ? replayReply(client, 'openai-responses', reply(false))
    : replay({ client, upstreams, body: { model: MODEL, ...body } }))
  return JSON.parse(text) as unknown
}

describe('a call that a Responses upstream makes', () => {
  test('chat, where the client declared the tool: a custom call, whole', async () => {
    const { choices } = await whole('chat', ASKED.chat)
    expect(choices[0].message.tool_calls).toEqual([{ id: 'call_custom_sql_001', type: 'custom', custom: CALL }])
    expect(choices[0].finish_reason).toBe('tool_calls')
  })

  test('chat, where the client declared the tool: a custom call, streamed', async () => {
    const upstreams = [{ dialect: 'openai-responses', reply: reply(true) }] as const
    const { text } = await replay({ client: 'chat', upstreams, body: { model: MODEL, stream: true, ...ASKED.chat } })
    expect(readStream('chat', text)).toEqual({ end: 'normal', faults: [] })
    const calls = streamEvents(text).flatMap(
      ({ data }) =>
        (at(data, 'choices', 0, 'delta', 'tool_calls') ?? []) as { readonly index: number; readonly custom: { readonly input: string } }[],
    )
    expect(calls[0] as unknown).toEqual({ index: 0, id: 'call_custom_sql_001', type: 'custom', custom: { name: 'write_sql', input: '' } })
    expect(calls.map(({ custom }: { custom: { input: string } }) => custom.input).join('')).toBe(INPUT)
  })

  test.each(['chat', 'messages'] as const)(
    '%s, where the client did not: a call of a function with the text as its input',
    async (client) => {
      const answer = await whole(client, null)
      const call = client === 'chat' ? answer.choices[0].message.tool_calls[0] : answer.content[0]
      expect(client === 'chat' ? JSON.parse(call.function.arguments) : call.input).toEqual({ input: INPUT })
      expect(client === 'chat' ? call.function.name : call.name).toBe('write_sql')
      expect(client === 'chat' ? answer.choices[0].finish_reason : answer.stop_reason).toBe(client === 'chat' ? 'tool_calls' : 'tool_use')
    },
  )

  test('the way back: its result reaches a Responses upstream as that of a custom call, under the id that the upstream gave', async () => {
    const said = await whole('messages', null)
    const { id } = said.content[0]
    const { body } = await sentTo('messages', 'openai-responses', {
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: said.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '3 rows' }] },
      ],
    })
    expect((body.input as unknown[]).slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'call_custom_sql_001', ...CALL },
      { type: 'custom_tool_call_output', call_id: 'call_custom_sql_001', output: '3 rows' },
    ])
  })

  test.each([true, false])('the same by chat, declared: %p', async (declared) => {
    const { choices } = await whole('chat', declared ? ASKED.chat : null)
    const [call] = choices[0].message.tool_calls
    const { body } = await sentTo('chat', 'openai-responses', {
      ...(declared ? { tools: ASKED.chat.tools } : {}),
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: '3 rows' },
      ],
    })
    expect((body.input as unknown[]).slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'call_custom_sql_001', ...CALL },
      { type: 'custom_tool_call_output', call_id: 'call_custom_sql_001', output: '3 rows' },
    ])
    if (declared) expect(body.tools).toEqual(ASKED.responses.tools)
  })
})

/** A stream in which an upstream calls `write_sql` as the function that it was given. */
const FUNCTION_CALLS: Readonly<Partial<Record<UpstreamDialect, readonly unknown[]>>> = {
  'openai-chat': [
    chunk({ role: 'assistant', ...calling(0, 'c1', 'write_sql', '{"input":"SELECT') }),
    chunk({ tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'other', arguments: '{}' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ' 1 \\ud83e' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '\\udd8a"}' } }] }),
    chunk({}, 'tool_calls'),
  ],
  anthropic: [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 1, output_tokens: 0 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c1', name: 'write_sql', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"input":"SELECT 1 ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '🦊"}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c2', name: 'other', input: {} } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ],
  google: [
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'write_sql', args: { input: 'SELECT 1 🦊' } } }] },
        },
      ],
    },
    {
      candidates: [{ content: { role: 'model', parts: [{ functionCall: { id: 'c2', name: 'other', args: {} } }] }, finishReason: 'STOP' }],
    },
  ],
}

describe('a tool that a provider is offered as a function', () => {
  for (const [name, payloads] of Object.entries(FUNCTION_CALLS)) {
    const dialect = name as UpstreamDialect
    test(`${dialect}: a Responses client gets the call of the tool that it declared, and another function's as it is`, async () => {
      const upstreams = [{ dialect, reply: reported(dialect, ...payloads) }]
      const { text, sent, headers } = await replay({
        client: 'responses',
        upstreams,
        body: { model: MODEL, stream: true, ...ASKED.responses },
      })
      expect(sent[0]?.body).toContain('"input"')
      expect(sent[0]?.body).toContain('SELECT .+')
      expect(headers.get('x-service-warnings')).toBe('1') // its grammar is described in the prompt
      expect(readStream('responses', text)).toEqual({ end: 'normal', faults: [] })
      const events = streamEvents(text)
      expect(at(events.at(-1)?.data, 'response', 'output')).toMatchObject([
        { type: 'custom_tool_call', call_id: 'c1', name: 'write_sql', input: 'SELECT 1 🦊' },
        { type: 'function_call', call_id: 'c2', name: 'other', arguments: '{}' },
      ])
      const types = events.map(({ data }) => at(data, 'type'))
      expect(types).toContain('response.custom_tool_call_input.delta')
      expect(types).toContain('response.custom_tool_call_input.done')
    })

    test(`${dialect}: the history of such calls is one of calls of that function`, async () => {
      const { body } = await sentTo('responses', dialect, {
        ...ASKED.responses,
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'custom_tool_call', call_id: 'c1', name: 'write_sql', input: 'SELECT "1"' },
          { type: 'custom_tool_call_output', call_id: 'c1', output: '1 row' },
        ],
      })
      const text = JSON.stringify(body)
      const input = { input: 'SELECT "1"' }
      expect(text.includes(JSON.stringify(input)) || text.includes(JSON.stringify(JSON.stringify(input)))).toBe(true)
      expect(text).toContain('1 row')
    })
  }
})

describe('a chat client’s tool, at a vendor of Chat Completions that has functions only', () => {
  const history = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'write_sql', input: 'SELECT "1"' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '1 row' },
    ],
    tools: ASKED.chat.tools,
    tool_choice: { type: 'custom', custom: { name: 'write_sql' } },
  }
  const payloads = FUNCTION_CALLS['openai-chat'] ?? []

  test.each([true, false])('goes out as a function, and its calls come back as text; streamed: %p', async (stream) => {
    const calls = [0, 1].map((index) => ({
      id: `c${index + 1}`,
      type: 'function',
      function: index === 0 ? { name: 'write_sql', arguments: '{"input":"SELECT 1 🦊"}' } : { name: 'other', arguments: '{}' },
    }))
    const message = { role: 'assistant', content: null, tool_calls: calls }
    const answered = { id: 'x', object: 'chat.completion', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    const reply = stream ? reported('openai-chat', ...payloads) : wholeReply(answered)
    const { text, sent, headers } = await replay({
      client: 'chat',
      upstreams: [{ dialect: 'openai-chat', slug: 'groq', reply }],
      body: { model: MODEL, stream, ...history },
    })
    const body = JSON.parse(sent[0]?.body ?? '') as unknown
    expect(at(body, 'tools', 0)).toMatchObject({ type: 'function', function: { name: 'write_sql', description: 'Queries.' } })
    expect(at(body, 'tool_choice')).toEqual({ type: 'function', function: { name: 'write_sql' } } as never)
    expect(at(body, 'messages', 1, 'tool_calls', 0, 'function')).toEqual({
      name: 'write_sql',
      arguments: JSON.stringify({ input: 'SELECT "1"' }),
    } as never)
    expect(sent[0]?.body).not.toContain('custom')
    expect(headers.get('x-service-warnings')).toBe('1') // its grammar is described in the prompt
    if (stream) {
      expect(readStream('chat', text)).toEqual({ end: 'normal', faults: [] })
      const deltas = streamEvents(text).flatMap(({ data }) => (at(data, 'choices', 0, 'delta', 'tool_calls') ?? []) as object[])
      const said = deltas.filter((delta) => at(delta, 'index') === 0).map((delta) => at(delta, 'custom', 'input'))
      expect(said.join('')).toBe('SELECT 1 🦊')
      expect(deltas.filter((delta) => at(delta, 'index') === 1).every((delta) => at(delta, 'function') !== undefined)).toBe(true)
      return
    }
    expect(at(JSON.parse(text), 'choices', 0, 'message', 'tool_calls')).toEqual([
      { id: 'c1', type: 'custom', custom: { name: 'write_sql', input: 'SELECT 1 🦊' } },
      { id: 'c2', type: 'function', function: { name: 'other', arguments: '{}' } },
    ] as never)
  })

  test.each(['openai', 'own'])('stays as it is where %s may have such tools', async (slug) => {
    const reply = { type: 'application/json', pieces: [recording('openai-chat', 'length', false).bytes] } as const
    const { sent } = await replay({
      client: 'chat',
      upstreams: [{ dialect: 'openai-chat', slug, reply }],
      body: { model: MODEL, ...history },
    })
    expect(sent[0]?.body).toContain(JSON.stringify(history.tools))
    expect(sent[0]?.body).toContain(JSON.stringify(history.messages))
  })
})
