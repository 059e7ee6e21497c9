/** What hurt the users of other gateways (pitfalls.md 1 to 20), each as a test of ours, on every interface where it applies. */
import { describe, expect, test } from 'bun:test'

import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import type { SettingName } from '../../src/canonical/settings.ts'
import { SETTING_FATES, TRANSLATED_DIALECTS } from '../../src/providers/loss-table.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { ALL_RECORDINGS, fails, recording, streamText, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, question, replay, type Reply, replayReply } from '../support/replay.ts'

const encoder = new TextEncoder()
const stream = (text: string): Reply => ({ type: 'text/event-stream', pieces: [encoder.encode(text)] })
const told = (dialect: UpstreamDialect, ...payloads: readonly unknown[]): Reply =>
  stream(
    streamText(
      dialect,
      payloads.map((payload) => (typeof payload === 'string' ? payload : JSON.stringify(payload))),
    ),
  )
const whole = (body: unknown): Reply => ({ type: 'application/json', pieces: [encoder.encode(JSON.stringify(body))] })

const chunk = (delta: unknown, finish: string | null = null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
const calling = (index: number, id: string, name: string, json: string): object => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: json } }],
})
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** What a client of each dialect reads of one upstream stream, whose lifecycle is right. */
const readings = async (dialect: UpstreamDialect, reply: Reply): Promise<Readonly<Record<ClientDialect, Reading>>> => {
  const read = async (client: ClientDialect): Promise<Reading> => {
    const { text } = await replayReply(client, dialect, reply)
    expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
    return readAnswer(OWN_DIALECT[client], true, text)
  }
  return { chat: await read('chat'), responses: await read('responses'), messages: await read('messages') }
}

const everywhere = (found: Readonly<Record<ClientDialect, Reading>>, check: (reading: Reading, client: ClientDialect) => void): void => {
  for (const client of CLIENT_DIALECTS) check(found[client], client)
}

describe('streams', () => {
  test('pitfall 1: arguments that come whole, and in the very first chunk, are not lost', async () => {
    const first = chunk({ role: 'assistant', ...calling(0, 'call_1', 'look', '{"at":"Zürich"}') })
    everywhere(await readings('openai-chat', told('openai-chat', first, chunk({}, 'tool_calls'))), ({ calls }) =>
      expect(calls).toEqual([{ id: 'call_1', name: 'look', arguments: { at: 'Zürich' } }]),
    )
    const { text } = await replayReply('messages', 'openai-chat', told('openai-chat', first, chunk({}, 'tool_calls')))
    expect(streamEvents(text).filter(({ data }) => data.delta?.type === 'input_json_delta')).not.toHaveLength(0)
  })

  test('pitfall 2: text and a tool call in one delta: both, with the name', async () => {
    const both = chunk({ role: 'assistant', content: 'So. ', ...calling(0, 'call_1', 'look', '{}') })
    everywhere(await readings('openai-chat', told('openai-chat', both, chunk({}, 'tool_calls'))), ({ text, calls }) => {
      expect(text).toBe('So. ')
      expect(calls).toEqual([{ id: 'call_1', name: 'look', arguments: {} }])
    })
  })

  test('pitfall 3: two and three woven calls, one without arguments: dense, one block open at a time, the right end', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const reply = { type: 'text/event-stream', pieces: [recording(dialect, 'parallel-calls', true).bytes] } as const
      everywhere(await readings(dialect, reply), ({ calls, stop }) => {
        expect(calls.map(({ name, arguments: args }) => ({ name, args }))).toEqual([
          { name: 'get_weather', args: { city: 'Zürich' } },
          { name: 'get_time', args: { zone: 'Asia/東京' } },
          { name: 'list_all', args: {} },
        ])
        expect(stop).toBe('tool_calls')
      })
    }
  })

  test('pitfall 4: every pair ends with its terminal event, also where the last chunk has no choices or usage comes after the end', async () => {
    const endings = [
      [chunk({}, 'stop'), { ...chunk({}), choices: [] }],
      [chunk({}, 'stop'), { ...chunk({}), choices: [], usage: USAGE }],
      [chunk({}, 'stop', { usage: USAGE })],
    ]
    for (const last of endings) await readings('openai-chat', told('openai-chat', chunk({ role: 'assistant', content: 'x' }), ...last))
    for (const each of ALL_RECORDINGS.filter((one) => one.stream && !fails(one))) {
      for (const client of CLIENT_DIALECTS) {
        const { text } = await replayReply(client, each.dialect, { type: 'text/event-stream', pieces: [each.bytes] })
        expect(text).toMatch(TERMINAL[client])
      }
    }
  })

  const TERMINAL: Readonly<Record<ClientDialect, RegExp>> = {
    chat: /"finish_reason":"\w+"[\s\S]*\ndata: \[DONE\]\n\n$/,
    responses: /\nevent: response\.(?:completed|incomplete)\n.*\n\ndata: \[DONE\]\n\n$/,
    messages: /\nevent: message_delta\n.*\n\nevent: message_stop\n.*\n\ndata: \[DONE\]\n\n$/,
  }

  test('pitfall 5: one message_start on passthrough, with the fields of the upstream', async () => {
    const [start, ...rest] = recording('anthropic', 'anthropic-text', true).payloads
    const { text } = await replayReply('messages', 'anthropic', told('anthropic', start, start, ...rest))
    const starts = streamEvents(text).filter(({ name }) => name === 'message_start')
    expect(starts).toHaveLength(1)
    expect(starts[0]?.data.message.usage).toMatchObject({ service_tier: 'standard', inference_geo: 'not_available' })
  })

  test('pitfall 6: message_start tells an estimate of the input, message_delta the true counts with those of the cache', async () => {
    const usage = { prompt_tokens: 2048, completion_tokens: 64, total_tokens: 2112, prompt_tokens_details: { cached_tokens: 1920 } }
    const chunks = [chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop'), { ...chunk({}), choices: [], usage }]
    const pieces = chunks.map((each) => encoder.encode(`data: ${JSON.stringify(each)}\n\n`))
    const { text } = await replayReply('messages', 'openai-chat', { type: 'text/event-stream', pieces })
    const events = streamEvents(text)
    expect(events[0]?.data.message.usage.input_tokens).toBeGreaterThan(0)
    expect(events.find(({ name }) => name === 'message_delta')?.data.usage).toMatchObject({
      input_tokens: 128,
      cache_read_input_tokens: 1920,
      output_tokens: 64,
    })
  })

  test('pitfall 7: a socket that breaks after n chunks is an error with its type, in every dialect', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const { payloads } = recording(dialect, 'parallel-calls', true)
      for (const client of CLIENT_DIALECTS) {
        for (let count = 0; count < payloads.length - 2; count += 1) {
          const text = streamText(dialect, payloads.slice(0, count)).replace('data: [DONE]\n\n', '')
          const { text: answer } = await replayReply(client, dialect, { ...stream(text), cut: true })
          expect(readStream(client, answer)).toEqual({ end: 'error', faults: [] })
          expect(answer).toContain('"error_type":"provider_unavailable"')
        }
      }
    }
  })

  const FAILURES: Readonly<Record<UpstreamDialect, string>> = {
    'openai-chat': 'event: error\ndata: {"error":{"message":"Overloaded","type":"server_error","code":503}}\n\n',
    'openai-responses':
      'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null,"sequence_number":3}\n\n',
    anthropic: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    google: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
  }

  test('pitfall 8: `event: error` first moves on to the next provider; later it ends the stream as our own error', async () => {
    const good = recording('openai-chat', 'length', true).bytes
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const client of CLIENT_DIALECTS) {
        const second = { dialect: 'openai-chat', reply: { type: 'text/event-stream', pieces: [good] } } as const
        const first = { dialect, reply: stream(FAILURES[dialect]) }
        const moved = await replay({ client, upstreams: [first, second], body: question(client, true) })
        expect(moved.sent).toHaveLength(2)
        expect((await readAnswer(OWN_DIALECT[client], true, moved.text)).text).toBe('Once upon a time 🦊')

        const { payloads } = recording(dialect, 'length', true)
        const begun = streamText(dialect, payloads.slice(0, -2)).replace('data: [DONE]\n\n', '')
        const late = { dialect, reply: stream(begun + FAILURES[dialect]) }
        const ended = await replay({ client, upstreams: [late, second], body: question(client, true) })
        // Google's case is short: nothing was said before.
        if (ended.sent.length === 1) expect(readStream(client, ended.text)).toEqual({ end: 'error', faults: [] })
        else expect(dialect).toBe('google')
      }
    }
  })

  test('pitfall 9: the error chunk of an upstream that is a router itself is a failure, not an empty success', async () => {
    const error = { code: 502, message: 'Upstream broke', metadata: { error_type: 'provider_unavailable' } }
    const shapes = [{ ...chunk({}), choices: [], error }, { ...chunk({ content: '' }, 'error'), error }, chunk({ content: '' }, 'error')]
    for (const shape of shapes) {
      for (const client of CLIENT_DIALECTS) {
        const { text } = await replayReply(client, 'openai-chat', told('openai-chat', chunk({ role: 'assistant', content: 'x' }), shape))
        expect(readStream(client, text)).toEqual({ end: 'error', faults: [] })
        const alone = await replayReply(client, 'openai-chat', told('openai-chat', shape))
        expect(readStream(client, alone.text).end).toBe('error')
      }
    }
    const body = await replayReply('chat', 'openai-chat', whole({ id: 'gen-1', error }))
    expect(JSON.parse(body.text)).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
  })

  const framings: Readonly<Record<string, (frames: string) => string>> = {
    'comments between and inside events': (text) => `: ping - 1\n\n${text.replaceAll('\n\n', '\n: ping - 2\n\n')}`,
    CRLF: (text) => text.replaceAll('\n', '\r\n'),
    'lone CR': (text) => text.replaceAll('\n', '\r'),
    '`data:` without a space': (text) => text.replaceAll('data: ', 'data:'),
    'data over several lines': (text) => text.replaceAll(/^data: \{/gm, 'data: {\ndata: '),
    'a BOM': (text) => `\u{feff}${text}`,
    'id and retry fields': (text) => text.replaceAll(/^data: /gm, 'id: 7\nretry: 1000\ndata: '),
    'empty data': (text) => `data:\n\n${text}`,
  }

  for (const [name, reframe] of Object.entries(framings)) {
    test(`pitfall 10: ${name}, whole and byte by byte`, async () => {
      for (const dialect of UPSTREAM_DIALECTS) {
        const { bytes } = recording(dialect, 'length', true)
        const reframed = encoder.encode(reframe(new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')))
        for (const client of CLIENT_DIALECTS) {
          const plain = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes] })
          const single = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [reframed] })
          const bytewise = await replayReply(client, dialect, {
            type: 'text/event-stream',
            pieces: Array.from(reframed, (_, at) => reframed.subarray(at, at + 1)),
          })
          // The line end inside the object has become a space.
          expect(single.text.replaceAll('data: { "', 'data: {"')).toBe(plain.text)
          expect((await readAnswer(OWN_DIALECT[client], true, bytewise.text)).text).toBe('Once upon a time 🦊')
        }
      }
    })
  }

  const usages: Readonly<Record<string, readonly object[]>> = {
    'in the last chunk': [chunk({ content: 'x' }), chunk({}, 'stop'), { ...chunk({}), choices: [], usage: USAGE }],
    'in every chunk': [chunk({ content: 'x' }, null, { usage: { ...USAGE, completion_tokens: 1 } }), chunk({}, 'stop', { usage: USAGE })],
    "in a vendor's field": [chunk({ content: 'x' }), chunk({}, 'stop', { x_groq: { usage: USAGE } })],
    'in the choice': [chunk({ content: 'x' }), { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] }],
  }

  for (const [name, chunks] of Object.entries(usages)) {
    test(`pitfall 11: usage ${name}`, async () => {
      everywhere(await readings('openai-chat', told('openai-chat', ...chunks)), ({ usage }) =>
        expect(usage).toMatchObject({ input: 7, output: 3 }),
      )
    })
  }

  test('pitfall 11: no usage at all is no fault', async () => {
    everywhere(await readings('openai-chat', told('openai-chat', chunk({ content: 'x' }), chunk({}, 'stop'))), ({ text }) =>
      expect(text).toBe('x'),
    )
  })

  test('pitfall 12: every Responses event passes a strict schema, and the numbers run from 0 without a gap', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const { text } = await replayReply('responses', dialect, {
        type: 'text/event-stream',
        pieces: [recording(dialect, 'parallel-calls', true).bytes],
      })
      const events = streamEvents(text)
      expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index))
      for (const { data } of events) if (dialect !== 'openai-responses') StreamEvents$inboundSchema.parse(data)
      for (const { data } of events.filter(({ name }) => name === 'response.output_item.added'))
        if (data.item.type === 'message') expect(data.item.content).toEqual([])
    }
  })

  test('pitfall 14: an answer cut at its length says so, streamed and whole', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const streamed of [true, false]) {
        const { bytes } = recording(dialect, 'length', streamed)
        for (const client of CLIENT_DIALECTS) {
          const { text } = await replayReply(client, dialect, {
            type: streamed ? 'text/event-stream' : 'application/json',
            pieces: [bytes],
          })
          expect((await readAnswer(OWN_DIALECT[client], streamed, text)).stop).toBe('length')
        }
      }
    }
  })
})

const CALLS = [
  { id: 'call_a1', name: 'look', args: '{"at":"Zürich"}', result: 'rain' },
  { id: 'call_b2', name: 'time', args: '{}', result: 'noon' },
] as const

/** A history of two calls and their results in each client dialect. */
const HISTORY: Readonly<Record<ClientDialect, Readonly<Record<string, unknown>>>> = {
  chat: {
    messages: [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: CALLS.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
      },
      ...CALLS.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
    ],
    tools: CALLS.map(({ name }) => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } })),
  },
  responses: {
    instructions: 'First.',
    input: [
      { role: 'user', content: 'Hi' },
      ...CALLS.map(({ id, name, args }) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args })),
      ...CALLS.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
    ],
    tools: CALLS.map(({ name }) => ({ type: 'function', name, parameters: { type: 'object', properties: {} }, strict: false })),
  },
  messages: {
    max_tokens: 500,
    system: 'First.',
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: CALLS.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as unknown })),
      },
      { role: 'user', content: CALLS.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })) },
    ],
    tools: CALLS.map(({ name }) => ({ name, input_schema: { type: 'object', properties: {} } })),
  },
}

/** The request that an upstream of `dialect` gets. */
const sentTo = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  body: Readonly<Record<string, unknown>>,
  // Bodies of four dialects.
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<{ body: any; text: string; warnings: number }> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent, text, headers } = await replay({ client, upstreams: [{ dialect, reply }], body: { model: MODEL, stream: false, ...body } })
  if (sent[0] === undefined) throw new Error(`Nothing was sent: ${text}`)
  return { body: JSON.parse(sent[0].body) as unknown, text: sent[0].body, warnings: Number(headers.get('x-service-warnings') ?? 0) }
}

describe('requests', () => {
  test('pitfall 13: two calls and two results keep their ids, in every pair', async () => {
    for (const client of CLIENT_DIALECTS) {
      const responses = (await sentTo(client, 'openai-responses', HISTORY[client])).body
      const items = responses.input as { type?: string; call_id: string }[]
      expect(items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id)).toEqual(['call_a1', 'call_b2'])
      expect(items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)).toEqual(['call_a1', 'call_b2'])

      const chat = (await sentTo(client, 'openai-chat', HISTORY[client])).body.messages as {
        role: string
        tool_call_id?: string
        tool_calls?: { id: string }[]
      }[]
      expect(chat.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))).toEqual(['call_a1', 'call_b2'])
      expect(chat.filter(({ role }) => role === 'tool').map(({ tool_call_id: id }) => id ?? '')).toEqual(['call_a1', 'call_b2'])

      const messages = (await sentTo(client, 'anthropic', HISTORY[client])).body.messages as {
        content: { type: string; id?: string; tool_use_id?: string }[]
      }[]
      const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      expect(blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))).toEqual(['call_a1', 'call_b2'])
      expect(blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []))).toEqual(['call_a1', 'call_b2'])

      const google = (await sentTo(client, 'google', HISTORY[client])).body.contents as {
        parts: { functionCall?: { name: string }; functionResponse?: { name: string } }[]
      }[]
      const parts = google.flatMap(({ parts: each }) => each)
      expect(parts.flatMap(({ functionCall: call }) => call?.name ?? [])).toEqual(['look', 'time'])
      expect(parts.flatMap(({ functionResponse: response }) => response?.name ?? [])).toEqual(['look', 'time'])
    }
  })

  test('pitfall 15: the budget of output reaches every provider, under its own name', async () => {
    const asked: Readonly<Record<ClientDialect, object>> = {
      chat: { max_completion_tokens: 321 },
      responses: { max_output_tokens: 321 },
      messages: { max_tokens: 321 },
    }
    for (const client of CLIENT_DIALECTS) {
      const request = { ...HISTORY[client], ...asked[client] }
      const chat = (await sentTo(client, 'openai-chat', request)).body
      expect(chat.max_tokens ?? chat.max_completion_tokens).toBe(321)
      expect((await sentTo(client, 'openai-responses', request)).body.max_output_tokens).toBe(321)
      expect((await sentTo(client, 'anthropic', request)).body.max_tokens).toBe(321)
      expect((await sentTo(client, 'google', request)).body.generationConfig.maxOutputTokens).toBe(321)
    }
  })

  test('pitfall 15: every setting has a fate for every dialect, and a dropped one is told', async () => {
    for (const name of Object.keys(SETTING_FATES) as SettingName[]) {
      for (const dialect of TRANSLATED_DIALECTS) expect(['kept', 'mapped', 'dropped', 'refused']).toContain(SETTING_FATES[name][dialect])
    }
    const plain = await sentTo('chat', 'anthropic', HISTORY.chat)
    const lossy = await sentTo('chat', 'anthropic', { ...HISTORY.chat, seed: 7, logit_bias: { 5: 1 }, x_unheard_of: 1 })
    expect(lossy.warnings).toBe(plain.warnings + 3)
    expect(lossy.text).not.toContain('x_unheard_of')
  })

  test('pitfall 16: a system message in the middle keeps its place, and turns before it stay the same bytes', async () => {
    const begin = [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ]
    const turn = [
      { role: 'system', content: 'Be brief from now on.' },
      { role: 'user', content: 'three' },
    ]
    const field = { 'openai-chat': 'messages', 'openai-responses': 'input', anthropic: 'messages', google: 'contents' } as const
    for (const dialect of UPSTREAM_DIALECTS) {
      const before = await sentTo('chat', dialect, { messages: [...begin, { role: 'user', content: 'again' }] })
      const after = await sentTo('chat', dialect, { messages: [...begin, ...turn] })
      const history = JSON.stringify(after.body[field[dialect]])
      expect(history.indexOf('Be brief from now on.')).toBeGreaterThan(history.indexOf('two'))
      expect(history.indexOf('three')).toBeGreaterThan(history.indexOf('Be brief from now on.'))
      const shared = JSON.stringify(before.body[field[dialect]]).split('again')[0] ?? ''
      // Up to where the new message begins.
      expect(history.slice(0, history.indexOf('two') + 3)).toBe(shared.slice(0, shared.indexOf('two') + 3))
    }
  })
})

const SIGNATURE = 'EqQBCgIYAhIM/+a=='

/** A turn of Claude's that thought, as each interface gives it to its client and gets it back. */
const THOUGHT: Readonly<Record<ClientDialect, (encrypted: string) => Readonly<Record<string, unknown>>>> = {
  chat: () => ({
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Forty-two.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm, so.', signature: SIGNATURE, format: 'anthropic-claude-v1', index: 0 }],
      },
      { role: 'user', content: 'Why?' },
    ],
  }),
  responses: (encrypted) => ({
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm, so.' }], encrypted_content: encrypted },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Forty-two.', annotations: [] }] },
      { role: 'user', content: 'Why?' },
    ],
  }),
  messages: () => ({
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm, so.', signature: SIGNATURE },
          { type: 'text', text: 'Forty-two.' },
        ],
      },
      { role: 'user', content: 'Why?' },
    ],
  }),
}

/** What the Responses interface gave for that signature. */
const encryptedContent = async (): Promise<string> => {
  const { text } = await replayReply('responses', 'anthropic', {
    type: 'application/json',
    pieces: [recording('anthropic', 'thinking-proofs', false).bytes],
  })
  const { output } = JSON.parse(text) as { output: { encrypted_content?: string }[] }
  return output[0]?.encrypted_content ?? ''
}

describe('thinking and cache marks', () => {
  test('pitfall 17: a signed block goes back to its maker byte for byte, from every interface', async () => {
    const encrypted = await encryptedContent()
    for (const client of CLIENT_DIALECTS) {
      const { body } = await sentTo(client, 'anthropic', THOUGHT[client](encrypted))
      expect(body.messages[1].content[0]).toEqual({ type: 'thinking', thinking: 'Hm, so.', signature: SIGNATURE })
    }
  })

  test('pitfall 17: another dialect does not get it, neither as proof nor as text, and a warning tells', async () => {
    const encrypted = await encryptedContent()
    for (const client of CLIENT_DIALECTS) {
      for (const dialect of UPSTREAM_DIALECTS) {
        // A server of the client's own dialect that nobody knows may be a router: it gets what the client sends.
        if (dialect === 'anthropic' || (dialect === 'openai-chat' && client === 'chat')) continue
        const { text, warnings } = await sentTo(client, dialect, THOUGHT[client](encrypted))
        expect(text).not.toContain(SIGNATURE)
        expect(text).not.toContain('Hm, so.')
        expect(text).not.toContain('pb1.')
        expect(text).toContain('Forty-two.')
        expect(warnings).toBeGreaterThan(0)
      }
    }
  })

  test('pitfall 18: the signature of streamed thinking reaches every client', async () => {
    const reply = { type: 'text/event-stream', pieces: [recording('anthropic', 'thinking-proofs', true).bytes] } as const
    expect((await replayReply('chat', 'anthropic', reply)).text).toContain(`"signature":"${SIGNATURE}"`)
    expect((await replayReply('messages', 'anthropic', reply)).text).toContain(`"signature":"${SIGNATURE}"`)
    const { text } = await replayReply('responses', 'anthropic', reply)
    const items = streamEvents(text).findLast(({ name }) => name === 'response.completed')?.data.response.output as {
      encrypted_content?: string
    }[]
    expect(items[0]?.encrypted_content).toBe(await encryptedContent())
  })

  test('pitfall 19: encrypted reasoning survives interfaces that have no word for it, there and back', async () => {
    const { bytes, payloads } = recording('openai-responses', 'openai-reasoning-encrypted-content.1', false)
    const theirs = (JSON.parse(payloads[0] ?? '') as { output: { type: string; encrypted_content?: string; call_id?: string }[] }).output
    const proof = theirs.find(({ type }) => type === 'reasoning')?.encrypted_content ?? ''
    expect(proof).not.toBe('')
    const reply = { type: 'application/json', pieces: [bytes] } as const

    const chat = JSON.parse((await replayReply('chat', 'openai-responses', reply)).text) as { choices: { message: object }[] }
    const messages = JSON.parse((await replayReply('messages', 'openai-responses', reply)).text) as {
      content: { type: string; id?: string }[]
    }
    const calls = theirs.flatMap(({ call_id: id }) => id ?? [])
    const back: readonly (readonly [ClientDialect, Readonly<Record<string, unknown>>])[] = [
      [
        'chat',
        {
          messages: [
            { role: 'user', content: 'Hi' },
            chat.choices[0]?.message,
            ...calls.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
            { role: 'user', content: 'Go on.' },
          ],
        },
      ],
      [
        'messages',
        {
          max_tokens: 100,
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: messages.content },
            {
              role: 'user',
              content: [...calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })), { type: 'text', text: 'Go on.' }],
            },
          ],
        },
      ],
    ]
    for (const [client, body] of back) {
      const { body: sent } = await sentTo(client, 'openai-responses', body)
      expect((sent.input as { encrypted_content?: string }[]).flatMap(({ encrypted_content: data }) => data ?? [])).toContain(proof)
    }
  })

  test('pitfall 20: a cache mark stays on its block with its time, and is not looked for in tools and their input', async () => {
    const mark = { type: 'ephemeral', ttl: '1h' }
    const schema = { type: 'object', properties: { cache_control: { type: 'string' } } }
    const input = { cache_control: { type: 'ephemeral' } }
    const body = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: mark }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    }
    const { body: sent, text } = await sentTo('chat', 'anthropic', body)
    expect(sent.system).toEqual([{ type: 'text', text: 'Long.', cache_control: mark }])
    expect(text.match(/"ttl":"1h"/g)).toHaveLength(1)
    expect(sent.tools[0].input_schema).toEqual(schema)
    expect(sent.messages[1].content[0].input).toEqual(input)
    const second = await sentTo('chat', 'anthropic', body)
    expect(second.text).toBe(text)
  })
})
