/** Answers of upstreams that deviate from their dialects, and what a client reads in them, on every interface. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { streamBytes, type UpstreamDialect } from '../support/recordings.ts'
import { OWN_DIALECT, type Replayed, replayReply, typeOf } from '../support/replay.ts'

const encoder = new TextEncoder()

const ask = (
  client: ClientDialect,
  dialect: UpstreamDialect,
  stream: boolean,
  bytes: Uint8Array,
  contentType?: string | null,
): Promise<Replayed> =>
  replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes], ...(contentType === undefined ? {} : { contentType }) }, stream)

const read = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  stream: boolean,
  bytes: Uint8Array,
  contentType?: string | null,
): Promise<Reading> => await readAnswer(OWN_DIALECT[client], stream, (await ask(client, dialect, stream, bytes, contentType)).text)

const json = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))
const events = (dialect: UpstreamDialect, payloads: readonly unknown[]): Uint8Array =>
  streamBytes(
    dialect,
    payloads.map((payload) => JSON.stringify(payload)),
  )

/** Chunks of a chat stream, without the end marker. */
const chunks = (...payloads: readonly unknown[]): string => payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('')
const chunk = (delta: unknown, finish: string | null = null, more: object = {}): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const DONE = 'data: [DONE]\n\n'
const PARIS = { name: 'get_weather', arguments: { city: 'Paris' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

const callsOf = ({ calls }: Reading): unknown[] => calls.map(({ name, arguments: args }) => ({ name, arguments: args }))

const chatCall = (id: string | undefined, city: string, cut: boolean, index: number | undefined = 0): object[] => {
  const args = JSON.stringify({ city })
  const first = { ...(index === undefined ? {} : { index }), ...(id === undefined ? {} : { id }), type: 'function' }
  return cut
    ? [
        chunk({ tool_calls: [{ ...first, function: { name: 'get_weather', arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: args.slice(0, 4) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: args.slice(4, 9) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: args.slice(9) } }] }),
      ]
    : [chunk({ tool_calls: [{ ...first, function: { name: 'get_weather', arguments: args } }] })]
}

describe.each([...CLIENT_DIALECTS])('%s', (client) => {
  test.each([true, false])(
    'a call of gpt-oss has the name of the tool, without marks of the format behind it (stream: %p)',
    async (stream) => {
      const call = {
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'get_weather<|channel|>commentary', arguments: '{"city":"Paris"}' },
      }
      const more = { tool_calls: [{ index: 0, id: 'a', function: { name: 'get_weather<|channel|>commentary', arguments: '' } }] }
      const message = { role: 'assistant', content: null, tool_calls: [call] }
      const bytes = stream
        ? encoder.encode(chunks(chunk({ tool_calls: [call] }), chunk(more), chunk({}, 'tool_calls', { usage: USAGE })) + DONE)
        : json({
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
            usage: USAGE,
          })
      expect(callsOf(await read(client, 'openai-chat', stream, bytes))).toEqual([PARIS])
    },
  )

  describe('two calls under one index are two calls', () => {
    test.each([
      ['with ids', ['a', 'b'], false],
      ['with ids, in pieces', ['a', 'b'], true],
      ['without ids', [undefined, undefined], false],
      ['without ids, in pieces', [undefined, undefined], true],
      ['with empty ids, in pieces', ['', ''], true],
    ] as const)('%s', async (_, [first, second], cut) => {
      const reported = [...chatCall(first, 'Paris', cut), ...chatCall(second, 'Rome', cut), chunk({}, 'tool_calls', { usage: USAGE })]
      const reading = await read(client, 'openai-chat', true, encoder.encode(chunks(...reported) + DONE))
      expect(callsOf(reading)).toEqual([PARIS, ROME])
      expect(new Set(reading.calls.map(({ id }) => id)).size).toBe(2)
      expect(reading.stop).toBe('tool_calls')
    })

    test('in one chunk', async () => {
      const [one, two] = ['Paris', 'Rome'].map((city) => ({
        index: 0,
        id: city,
        type: 'function',
        function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
      }))
      const reported = chunks(chunk({ tool_calls: [one, two] }), chunk({}, 'tool_calls')) + DONE
      expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([PARIS, ROME])
    })
  })

  describe('two calls of one id are told apart, also where the answer is passed on in its own dialect', () => {
    const [paris, rome] = [PARIS, ROME].map(({ name, arguments: args }) => ({ name, arguments: JSON.stringify(args) }))
    const chat = [paris, rome].map((about, index) => ({ index, id: 'grep:3', type: 'function', function: about }))
    const blocks = [PARIS, ROME].map(({ name, arguments: input }) => ({ type: 'tool_use', id: 'grep:3', name, input }))
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const cases: readonly (readonly [UpstreamDialect, boolean, Uint8Array])[] = [
      [
        'openai-chat',
        true,
        events('openai-chat', [chunk({ tool_calls: [chat[0]] }), chunk({ tool_calls: [chat[1]] }), chunk({}, 'tool_calls')]),
      ],
      [
        'openai-chat',
        false,
        json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: chat }, finish_reason: 'tool_calls' }],
        }),
      ],
      [
        'anthropic',
        true,
        events('anthropic', [
          { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
          ...blocks.flatMap((block, index) => [
            { type: 'content_block_start', index, content_block: { ...block, input: {} } },
            { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } },
            { type: 'content_block_stop', index },
          ]),
          { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
          { type: 'message_stop' },
        ]),
      ],
      ['anthropic', false, json({ ...message, content: blocks, stop_reason: 'tool_use', usage })],
    ]
    test.each(cases)('%s, stream: %p', async (dialect, stream, bytes) => {
      const reading = await read(client, dialect, stream, bytes)
      expect(callsOf(reading)).toEqual([PARIS, ROME])
      expect(reading.calls.map(({ id }) => id)).toEqual(['grep:3', 'grep:3_2'])
    })
  })

  test('two calls under one index and one id are two calls if their names differ', async () => {
    const piece = (id: string, name: string, args: object): object =>
      chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }] })
    const reported = chunks(piece('a', 'get_weather', PARIS.arguments), piece('a', 'get_time', { zone: 1 }), chunk({}, 'tool_calls')) + DONE
    const reading = await read(client, 'openai-chat', true, encoder.encode(reported))
    expect(callsOf(reading)).toEqual([PARIS, { name: 'get_time', arguments: { zone: 1 } }])
    expect(reading.calls.map(({ id }) => id)).toEqual(['a', 'a_2'])
  })

  describe('arguments that come with an empty object before them, or twice, are the arguments', () => {
    const args = JSON.stringify(PARIS.arguments)
    const begun = (json: string): object =>
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: PARIS.name, arguments: json } }] })
    const more = (json: string): object => chunk({ tool_calls: [{ index: 0, function: { arguments: json } }] })
    test.each<[string, readonly object[]]>([
      ['an empty object, then all', [begun('{}'), more(args)]],
      ['an empty object, then pieces', [begun('{}'), more(args.slice(0, 5)), more(args.slice(5))]],
      ['an empty object behind the name, then pieces', [begun(''), more('{}'), more(args.slice(0, 5)), more(args.slice(5))]],
      ['all, then all', [begun(''), more(args), more(args)]],
      ['pieces, then all', [begun(''), more(args.slice(0, 5)), more(args.slice(5)), more(args)]],
      ['pieces, then all with the name', [begun(''), more(args.slice(0, 5)), more(args.slice(5)), begun(args)]],
    ])('%s', async (_, pieces) => {
      const reported = chunks(...pieces, chunk({}, 'tool_calls', { usage: USAGE })) + DONE
      expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([PARIS])
    })

    test('also behind a whole call in the same piece, and beside the usage', async () => {
      const [one, other] = [
        { index: 0, id: 'a', type: 'function', function: { name: PARIS.name, arguments: args } },
        { index: 1, id: 'b', type: 'function', function: { name: 'get_time', arguments: '{}' } },
      ]
      const pieces = [
        chunk({ tool_calls: [one, other] }, null, { usage: USAGE }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '{"zone":1}' } }] }),
      ]
      const reported = chunks(...pieces, chunk({}, 'tool_calls', { usage: USAGE })) + DONE
      expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([
        PARIS,
        { name: 'get_time', arguments: { zone: 1 } },
      ])
    })

    test.each([
      ['with a reason', [chunk({}, 'tool_calls')]],
      ['without a reason', []],
    ])('and an empty object that nothing follows is the arguments, %s', async (_, end) => {
      const second = chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'get_time', arguments: '{}' } }] })
      const reported = chunks(begun('{}'), second, ...end) + DONE
      expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([
        { name: PARIS.name, arguments: {} },
        { name: 'get_time', arguments: {} },
      ])
    })
  })

  test.each([[['{}']], [['{', '}']], [['{}', ' ']], [['{', '}', '']]])('an empty object in the pieces %j is one', async (pieces) => {
    const piece = (json: string, at: number): object =>
      chunk({
        tool_calls: [
          {
            index: 0,
            ...(at === 0 ? { id: 'a', type: 'function' } : {}),
            function: { ...(at === 0 ? { name: 'f' } : {}), arguments: json },
          },
        ],
      })
    const reported = chunks(...pieces.map(piece), chunk({}, 'tool_calls', { usage: USAGE })) + DONE
    expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([{ name: 'f', arguments: {} }])
  })

  test('a call that begins without its type has its arguments once if the answer ends without a reason', async () => {
    const begun = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: PARIS.name, arguments: '' } }] })
    const more = chunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(PARIS.arguments) } }] })
    expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(chunks(begun, more) + DONE)))).toEqual([PARIS])
  })

  test.each([false, true])('an answer that ends with calls of which it has none just ends; in a stream: %p', async (stream) => {
    const message = { role: 'assistant', content: 'Hi', tool_calls: [] }
    const bytes = stream
      ? encoder.encode(chunks(chunk(message), chunk({}, 'tool_calls', { usage: USAGE })) + DONE)
      : json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
          usage: USAGE,
        })
    expect(await read(client, 'openai-chat', stream, bytes)).toMatchObject({ text: 'Hi', calls: [], stop: 'stop' })
  })

  test('indices that do not begin at zero leave no hole', async () => {
    const reported = chunks(...chatCall('a', 'Paris', true, 1), ...chatCall('b', 'Rome', true, 4), chunk({}, 'tool_calls')) + DONE
    expect(callsOf(await read(client, 'openai-chat', true, encoder.encode(reported)))).toEqual([PARIS, ROME])
  })

  test('a call that repeats its name and its id in each piece is one call', async () => {
    const piece = (args: string): object =>
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'get_weather', arguments: args } }] })
    const reported = chunks(piece('{"city":'), piece('"Pa'), piece('r'), piece('is"}'), chunk({}, 'tool_calls')) + DONE
    const bytes = encoder.encode(reported)
    expect(callsOf(await read(client, 'openai-chat', true, bytes))).toEqual([PARIS])
    const { text } = await replayReply(client, 'openai-chat', { type: 'text/event-stream', pieces: [bytes] })
    // The full item of Responses follows its pieces.
    if (client !== 'responses') expect(text.split('"get_weather"')).toHaveLength(2)
  })

  describe('a call that is named late is one call', () => {
    const args = JSON.stringify(PARIS.arguments)
    const piece = (about: object, more: object = {}): object => chunk({ tool_calls: [{ index: 0, ...more, function: about }] })
    const { name } = PARIS
    const begun = piece({ name: '', arguments: '' }, { id: 'a', type: 'function' })
    test.each<[string, readonly object[]]>([
      ['with its arguments', [begun, piece({ name, arguments: args })]],
      ['with its arguments and its id', [begun, piece({ name, arguments: args }, { id: 'a' })]],
      ['with its name alone', [begun, piece({ name }), piece({ arguments: args.slice(0, 5) }), piece({ arguments: args.slice(5) })]],
      ['behind its arguments', [piece({ arguments: args.slice(0, 5) }, { id: 'a' }), piece({ arguments: args.slice(5) }), piece({ name })]],
      ['behind its arguments, with its id', [piece({ arguments: args }), piece({ name }, { id: 'a' })]],
    ])('%s', async (_, pieces) => {
      const reported = chunks(...pieces, chunk({}, 'tool_calls', { usage: USAGE })) + DONE
      const reading = await read(client, 'openai-chat', true, encoder.encode(reported))
      expect([callsOf(reading), reading.stop]).toEqual([[PARIS], 'tool_calls'])
      expect(reading.calls.map(({ id }) => id)).toEqual(['a'])
    })

    test('beside another that is named before it', async () => {
      const second = (about: object, more: object = {}): object => chunk({ tool_calls: [{ index: 1, ...more, function: about }] })
      const rome = second({ name, arguments: JSON.stringify(ROME.arguments) }, { id: 'b', type: 'function' })
      const reported = chunks(begun, rome, piece({ name, arguments: args }), chunk({}, 'tool_calls')) + DONE
      const reading = await read(client, 'openai-chat', true, encoder.encode(reported))
      expect(callsOf(reading)).toContainEqual(PARIS)
      expect(callsOf(reading)).toContainEqual(ROME)
      expect(reading.calls.map(({ id }) => id).toSorted()).toEqual(['a', 'b'])
    })

    test.each([
      ['with a reason', [chunk({}, 'tool_calls')]],
      ['without a reason', []],
    ])('and one that is never named is told at the end, %s', async (_, end) => {
      const reported = chunks(begun, piece({ arguments: args }), ...end) + DONE
      const reading = await read(client, 'openai-chat', true, encoder.encode(reported))
      expect([callsOf(reading), reading.stop]).toEqual([[{ name: '', arguments: PARIS.arguments }], 'tool_calls'])
    })
  })

  describe('arguments that are an object where the dialect has text, or text where it has an object', () => {
    const { name, arguments: args } = PARIS
    const text = JSON.stringify(args)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const item = { type: 'function_call', id: 'fc_1', call_id: 'a', name, arguments: args, status: 'completed' }
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [item] }
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use', stop_sequence: null, usage }
    const chatMessage = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: args } }],
    }
    const cases: readonly (readonly [UpstreamDialect, boolean, Uint8Array])[] = [
      [
        'openai-chat',
        false,
        json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: chatMessage, finish_reason: 'tool_calls' }],
        }),
      ],
      [
        'openai-chat',
        true,
        events('openai-chat', [chunk({ tool_calls: [{ index: 0, ...chatMessage.tool_calls[0] }] }), chunk({}, 'tool_calls')]),
      ],
      ['openai-responses', false, json(response)],
      [
        'openai-responses',
        true,
        events('openai-responses', [
          { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
          {
            type: 'response.output_item.added',
            sequence_number: 1,
            output_index: 0,
            item: { ...item, arguments: '', status: 'in_progress' },
          },
          { type: 'response.function_call_arguments.done', sequence_number: 2, item_id: 'fc_1', output_index: 0, name, arguments: args },
          { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item },
          { type: 'response.completed', sequence_number: 4, response },
        ]),
      ],
      ['anthropic', false, json({ ...message, content: [{ type: 'tool_use', id: 'a', name, input: text }] })],
      [
        'bedrock',
        false,
        json({
          output: { message: { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name, input: text } }] } },
          stopReason: 'tool_use',
          usage: { inputTokens: 1, outputTokens: 1 },
        }),
      ],
      ['google', false, json({ candidates: [{ content: { parts: [{ functionCall: { name, args: text } }] }, finishReason: 'STOP' }] })],
    ]
    test.each(cases)('%s, stream: %p', async (dialect, stream, bytes) => {
      expect(callsOf(await read(client, dialect, stream, bytes))).toEqual([PARIS])
    })
  })

  describe('a stream is a stream whatever it says that it is', () => {
    const reported =
      chunks(chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop', { usage: USAGE })) + DONE
    test.each([['text/plain'], ['text/plain; charset=utf-8'], ['application/octet-stream'], ['application/json'], [''], [null]])(
      '%p',
      async (type) => {
        for (const bytes of [reported, `\uFEFF${reported}`, `: hello\n\n${reported}`, `\r\n${reported}`])
          expect(await read(client, 'openai-chat', true, encoder.encode(bytes), type)).toMatchObject({ text: 'Hello', stop: 'stop' })
      },
    )

    test('and a whole answer is one, whatever it says', async () => {
      const whole = json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      })
      for (const type of ['text/plain', null])
        expect(await read(client, 'openai-chat', false, whole, type)).toMatchObject({ text: 'Hello', stop: 'stop' })
    })

    test.each([true, false])('and any status of success will do; stream: %p', async (stream) => {
      const whole = {
        ...chunk({}),
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      }
      for (const status of [201, 202, 206]) {
        const pieces = [stream ? encoder.encode(reported) : json(whole)]
        const { text } = await replayReply(client, 'openai-chat', { status, type: typeOf(stream), pieces }, stream)
        expect(await readAnswer(OWN_DIALECT[client], stream, text)).toMatchObject({ text: 'Hello', stop: 'stop' })
      }
    })

    test('a page of HTML is neither', async () => {
      const { text } = await ask(client, 'openai-chat', true, encoder.encode('<html><body>Sign in</body></html>'), 'text/html')
      expect(text).toContain('"error_type":"provider_unavailable"')
    })
  })

  describe('the marker of the end', () => {
    test('ends an answer whose model gave no reason', async () => {
      const reported = chunks(chunk({ content: 'Hello' })) + DONE
      expect(await read(client, 'openai-chat', true, encoder.encode(reported))).toMatchObject({ text: 'Hello', stop: 'stop' })
      const calls = chunks(...chatCall('a', 'Paris', true)) + DONE
      const reading = await read(client, 'openai-chat', true, encoder.encode(calls))
      expect([callsOf(reading), reading.stop]).toEqual([[PARIS], 'tool_calls'])
    })

    test('ends no answer that said nothing', async () => {
      const { text } = await ask(client, 'openai-chat', true, encoder.encode(chunks(chunk({ role: 'assistant', content: '' })) + DONE))
      expect(text).toContain('"error_type":"provider_unavailable"')
    })

    test('may stand before the use, which counts, and before anything else, which does not', async () => {
      const reported = chunks(chunk({ content: 'Hello' }), chunk({}, 'stop')) + DONE
      const late = chunks(chunk({ content: ' never' }), { ...chunk({}), choices: [], usage: USAGE })
      const reading = await read(client, 'openai-chat', true, encoder.encode(reported + late))
      expect(reading).toMatchObject({ text: 'Hello', stop: 'stop', usage: { input: 7, output: 3 } })
    })
  })

  test.each([false, true])('an end that is told as an object is read as its word; in a stream: %p', async (stream) => {
    const finish = { type: 'length', length: 9 }
    const said = { role: 'assistant', content: 'Hel' }
    const envelope = { id: 'c', created: 1, model: 'm' }
    const bytes = stream
      ? events('openai-chat', [chunk(said), { ...envelope, choices: [{ index: 0, delta: {}, finish_reason: finish }] }])
      : json({ ...envelope, object: 'chat.completion', choices: [{ index: 0, message: said, finish_reason: finish }] })
    expect(await read(client, 'openai-chat', stream, bytes)).toMatchObject({ text: 'Hel', stop: 'length' })
  })

  test.each([false, true])("an answer beside which a check of Portkey's failed (status 246) is one; in a stream: %p", async (stream) => {
    const said = { role: 'assistant', content: 'Hello' }
    const envelope = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
    const bytes = stream
      ? events('openai-chat', [chunk(said), chunk({}, 'stop')])
      : json({ ...envelope, choices: [{ index: 0, message: said, finish_reason: 'stop' }], hook_results: { after_request_hooks: [] } })
    const reply = { status: 246, type: typeOf(stream), pieces: [bytes] } as const
    const { status, text } = await replayReply(client, 'openai-chat', reply, stream)
    expect(status).toBe(200)
    expect(await readAnswer(OWN_DIALECT[client], stream, text)).toMatchObject({ text: 'Hello', stop: 'stop' })
  })

  test('a response that its server ends while it still calls it one in progress has ended', async () => {
    const item = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    }
    const begun = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
    const bytes = events('openai-responses', [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item },
      { type: 'response.completed', sequence_number: 2, response: { ...begun, output: [item] } },
    ])
    const { text } = await ask(client, 'openai-responses', true, bytes)
    expect(await readAnswer(OWN_DIALECT[client], true, text)).toMatchObject({ text: 'Hi', stop: 'stop' })
    if (client === 'responses') expect(text.slice(text.lastIndexOf('response.completed'))).toContain('"status":"completed"')
  })

  describe('a refusal without a word of explanation is a refusal', () => {
    const message = (stop: object, content: readonly object[] = []): object => ({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_sequence: null,
      ...stop,
      usage: { input_tokens: 1, output_tokens: 1 },
    })
    const stops = [
      { stop_reason: 'refusal' },
      { stop_reason: 'refusal', stop_details: null },
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio', explanation: null } },
    ]
    const cases: (readonly [string, UpstreamDialect, boolean, Uint8Array])[] = stops.flatMap((stop, index) => [
      [`${index}, whole`, 'anthropic', false, json(message(stop))] as const,
      [
        `${index}, streamed`,
        'anthropic',
        true,
        events('anthropic', [
          { type: 'message_start', message: message({ stop_reason: null }) },
          { type: 'message_delta', delta: { stop_sequence: null, ...stop }, usage: { output_tokens: 1 } },
          { type: 'message_stop' },
        ]),
      ] as const,
    ])
    cases.push([
      'of Bedrock, whole',
      'bedrock',
      false,
      json({ output: { message: { role: 'assistant', content: [] } }, stopReason: 'refusal', usage: { inputTokens: 1, outputTokens: 1 } }),
    ])
    cases.push([
      'of Bedrock, streamed',
      'bedrock',
      true,
      events('bedrock', [{ messageStart: { role: 'assistant' } }, { messageStop: { stopReason: 'refusal' } }]),
    ])
    cases.push([
      'of a server of the chat dialect, streamed',
      'openai-chat',
      true,
      events('openai-chat', [chunk({ role: 'assistant', content: '' }), chunk({}, 'refusal')]),
    ])
    test.each(cases)('%s', async (_, dialect, stream, bytes) => {
      const answer = await ask(client, dialect, stream, bytes)
      const reading = await readAnswer(OWN_DIALECT[client], stream, answer.text)
      if (client === 'messages') {
        expect(reading.stop).toBe('content_filter')
        expect(answer.text).toContain('"stop_reason":"refusal"')
        return
      }
      expect(reading.refusal).not.toBe('')
      expect(reading.stop).toBe(client === 'chat' ? 'content_filter' : 'stop')
    })
  })

  test('a turn that the provider pauses is told as one that is not over', async () => {
    const whole = json({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Searching' }],
      stop_reason: 'pause_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    })
    const { text } = await ask(client, 'anthropic', false, whole)
    const reported = {
      chat: '"finish_reason":"length","native_finish_reason":"pause_turn"',
      responses: '"status":"incomplete"',
      messages: '"stop_reason":"pause_turn"',
    }
    expect(text).toContain(reported[client])
  })

  describe('a stream in which a second answer begins', () => {
    const start = (id: string): object => ({
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    })
    const text = (said: string): object[] => [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } },
    ]
    const end = [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]

    test('before the first said anything has one answer', async () => {
      const bytes = events('anthropic', [start('a'), start('b'), ...text('Hello'), ...end])
      expect(await read(client, 'anthropic', true, bytes)).toMatchObject({ text: 'Hello', stop: 'stop' })
    })

    test('in the middle of the first fails: two answers are never woven into one', async () => {
      const { text: reported } = await ask(
        client,
        'anthropic',
        true,
        events('anthropic', [start('a'), ...text('Hel'), start('b'), ...text('lo'), ...end]),
      )
      expect(reported).toContain('Hel')
      expect(reported).toContain('"error_type":"provider_unavailable"')
      expect(reported).not.toContain('"lo"')
    })
  })
})

describe('a stream that is passed on in its own dialect has what typed clients read', () => {
  const sent = async (...payloads: readonly object[]): Promise<readonly { readonly choices: readonly Record<string, unknown>[] }[]> =>
    streamEvents((await ask('chat', 'openai-chat', true, encoder.encode(chunks(...payloads) + DONE))).text).map(
      ({ data }) => data as { readonly choices: readonly Record<string, unknown>[] },
    )

  test('a choice without a delta, as Azure ends it, has an empty one', async () => {
    const [, last] = await sent(chunk({ role: 'assistant', content: 'Hi' }), chunk(null, 'stop', { usage: USAGE }))
    expect(last?.choices).toMatchObject([{ index: 0, delta: {}, finish_reason: 'stop' }])
  })

  test('a choice and a call whose index is null, as at Google, have one', async () => {
    const call = { index: null, id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const nowhere = (delta: object, finish: string | null): object => ({
      ...chunk({}),
      choices: [{ index: null, delta, finish_reason: finish }],
    })
    const [text, called] = await sent(
      nowhere({ role: 'assistant', content: 'Hi' }, null),
      nowhere({ tool_calls: [call] }, null),
      nowhere({}, 'tool_calls'),
    )
    expect([text, called].map((one) => one?.choices[0]?.['index'])).toEqual([0, 0])
    expect(called?.choices[0]?.['delta']).toMatchObject({ tool_calls: [{ index: 0 }] })
  })

  test('no chunk has two pieces of one call', async () => {
    const begun = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
    const parts = await sent(
      chunk({ tool_calls: [begun, { index: 0, function: { arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      chunk({}, 'tool_calls', { usage: USAGE }),
    )
    const lists = parts.flatMap(({ choices }) =>
      choices.map(({ delta }) => (delta as { tool_calls?: readonly unknown[] }).tool_calls ?? []),
    )
    expect(Math.max(...lists.map(({ length }) => length))).toBe(1)
    expect(JSON.stringify(lists)).toContain('{\\"a\\"')
  })
})

test('a call that is named late has its name in its first piece where it is passed on in its own dialect, and the rest as the server wrote it', async () => {
  const rest = [
    { index: 0, function: { arguments: '{"city":' }, vendor: 1 },
    { index: 0, function: { arguments: '"Paris"}' }, vendor: 2 },
  ]
  const late = [
    { index: 0, id: 'a', type: 'function', function: { name: '', arguments: '' } },
    { index: 0, function: { name: 'get_weather' } },
  ]
  const reported = chunks(...[...late, ...rest].map((call) => chunk({ tool_calls: [call] })), chunk({}, 'tool_calls')) + DONE
  const { text } = await ask('chat', 'openai-chat', true, encoder.encode(reported))
  const sent = [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data = '']) => {
    const [choice] = (JSON.parse(data) as { choices: { delta: { tool_calls?: unknown[] } }[] }).choices
    return choice?.delta.tool_calls ?? []
  })
  expect(sent).toEqual([{ index: 0, id: 'a', type: 'function', function: { name: 'get_weather', arguments: '' } }, ...rest])
})

test('a source of which only the address is told has what typed clients need', async () => {
  const source = { type: 'url_citation', url: 'https://a.example/' }
  const part = { type: 'output_text', text: 'Found.', annotations: [source], logprobs: [] }
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'grok', status: 'completed', output: [item] }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const bytes = events('openai-responses', [
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', sequence_number: 2, ...at, delta: 'Found.' },
    { type: 'response.output_text.annotation.added', sequence_number: 3, ...at, annotation_index: 0, annotation: source },
    { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item },
    { type: 'response.completed', sequence_number: 5, response },
  ])
  const native = await ask('responses', 'openai-responses', true, bytes)
  expect(native.text).toContain('"annotation":{"type":"url_citation","url":"https://a.example/","title":"","start_index":0,"end_index":0}')
  const messages = await ask('messages', 'openai-responses', true, bytes)
  expect(messages.text).toContain('"title":"","url":"https://a.example/"')
})

describe('what the provider ran itself is no call of the client’s', () => {
  const item = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'xs_call_1',
    name: 'x_keyword_search',
    input: '{"query":"a"}',
    status: 'completed',
  }
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Found.', annotations: [] }],
  }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'grok', status: 'completed', output: [item, message] }
  const stream = events('openai-responses', [
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...item, input: '', status: 'in_progress' } },
    { type: 'response.custom_tool_call_input.delta', sequence_number: 2, item_id: 'ctc_1', output_index: 0, delta: item.input },
    { type: 'response.custom_tool_call_input.done', sequence_number: 3, item_id: 'ctc_1', output_index: 0, input: item.input },
    { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item },
    { type: 'response.output_item.added', sequence_number: 5, output_index: 1, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', sequence_number: 6, item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'Found.' },
    { type: 'response.output_item.done', sequence_number: 7, output_index: 1, item: message },
    { type: 'response.completed', sequence_number: 8, response },
  ])
  for (const client of ['chat', 'messages'] as const) {
    test(`${client}: the searches of X`, async () => {
      for (const [streamed, bytes] of [
        [true, stream],
        [false, json(response)],
      ] as const)
        expect(await read(client, 'openai-responses', streamed, bytes)).toMatchObject({ text: 'Found.', calls: [], stop: 'stop' })
    })
  }
})

describe("a call that Zhipu shows under the type of its own tool is none of the client's", () => {
  const mcp = { id: 'mcp-1', type: 'mcp_call', server_label: 'docs', name: 'search', arguments: '{}', output: {} }
  const own = { id: 'call_1', type: 'mcp', mcp }
  const paris = { id: 'call_2', type: 'function', function: { name: PARIS.name, arguments: JSON.stringify(PARIS.arguments) } }
  const said = { role: 'assistant', content: 'Found.' }
  const whole = (calls: readonly object[]): Uint8Array =>
    json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { ...said, tool_calls: calls }, finish_reason: 'tool_calls' }],
    })
  const streamed = (calls: readonly object[]): Uint8Array =>
    events('openai-chat', [
      ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      ...calls.map((call, index) => ('mcp' in call ? chunk({ tool_calls: [{ index, mcp: { output: {} } }] }) : chunk({}))),
      chunk(said),
      chunk({}, 'tool_calls'),
    ])

  describe.each([...CLIENT_DIALECTS])('%s', (client) => {
    test.each([false, true])('alone, it ends the answer as one without calls; in a stream: %p', async (stream) => {
      const { text, headers } = await ask(client, 'openai-chat', stream, stream ? streamed([own]) : whole([own]))
      const reading = await readAnswer(OWN_DIALECT[client], stream, text)
      expect([reading.text, reading.stop]).toEqual(['Found.', 'stop'])
      if (client === 'chat') expect(text).toContain('"server_label":"docs"')
      else expect([reading.calls, headers.get('x-service-warnings')]).toEqual([[], '1'])
    })

    test.each([false, true])(
      'an end that speaks of calls, behind none, ends the answer as one without calls; in a stream: %p',
      async (stream) => {
        const reading = await read(client, 'openai-chat', stream, stream ? streamed([]) : whole([]))
        expect([reading.text, reading.calls, reading.stop]).toEqual(['Found.', [], 'stop'])
      },
    )

    test.each([false, true])('the calls beside it are made, each at an index of its own; in a stream: %p', async (stream) => {
      const bytes = stream ? streamed([own, paris]) : whole([own, paris])
      const reading = await read(client, 'openai-chat', stream, bytes)
      expect(callsOf(reading).slice(client === 'chat' && stream ? 1 : 0)).toEqual([PARIS])
      expect(reading.stop).toBe('tool_calls')
    })
  })
})

describe('arguments of Messages that come twice, or behind an empty object, are the arguments', () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const call = (input: object, ...pieces: readonly string[]): Uint8Array =>
    events('anthropic', [
      { type: 'message_start', message: { ...message, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: PARIS.name, input } },
      ...pieces.map((piece) => ({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: piece } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ])
  const args = JSON.stringify(PARIS.arguments)

  describe.each(['chat', 'responses'] as const)('%s', (client) => {
    test.each<[string, Uint8Array]>([
      ['whole at the beginning', call(PARIS.arguments)],
      ['whole at the beginning, then in pieces', call(PARIS.arguments, args.slice(0, 5), args.slice(5))],
      ['an empty object, then pieces', call({}, '{}', args.slice(0, 5), args.slice(5))],
      ['in pieces, then whole', call({}, args.slice(0, 5), args.slice(5), args)],
    ])('%s', async (_, bytes) => {
      expect(callsOf(await read(client, 'anthropic', true, bytes))).toEqual([PARIS])
    })

    test.each([[['{}']], [['{', '}']], [['', '{', '', '}']], [['{}', ' ']], [[]]])(
      'an empty object in the pieces %j is one',
      async (pieces) => {
        expect(callsOf(await read(client, 'anthropic', true, call({}, ...pieces)))).toEqual([{ name: PARIS.name, arguments: {} }])
      },
    )
  })
})

describe('a Responses stream whose items are told badly', () => {
  const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [] }
  const created = { type: 'response.created', response: { ...response, status: 'in_progress' } }
  const completed = (...output: readonly object[]): object => ({
    type: 'response.completed',
    response: { ...response, status: 'completed', output, usage },
  })
  const added = (output_index: number, item: object): object => ({ type: 'response.output_item.added', output_index, item })
  const done = (output_index: number, item: object): object => ({ type: 'response.output_item.done', output_index, item })
  const part = { type: 'output_text', text: 'Hi', annotations: [] }
  const message = { type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [part] }
  const said = { type: 'response.output_text.delta', item_id: 'm1', output_index: 0, content_index: 0, delta: 'Hi' }
  const called = { type: 'function_call', id: 'f1', call_id: 'a', name: PARIS.name, arguments: JSON.stringify(PARIS.arguments) }

  describe.each([...CLIENT_DIALECTS])('%s', (client) => {
    const reading = async (...payloads: readonly object[]): Promise<Reading> => {
      const { text } = await ask(client, 'openai-responses', true, events('openai-responses', payloads))
      expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
      return readAnswer(OWN_DIALECT[client], true, text)
    }

    test.each([
      ['that ended before', [done(0, message)]],
      ['that stays open', []],
    ])('a call at the place of a text %s is made once', async (_, ended) => {
      const args = { type: 'response.function_call_arguments.delta', item_id: 'f1', output_index: 0, delta: called.arguments }
      const found = await reading(
        created,
        added(0, { ...message, content: [] }),
        said,
        ...ended,
        added(0, { ...called, arguments: '' }),
        args,
        done(0, called),
        completed(message, called),
      )
      expect([found.text, callsOf(found), found.stop]).toEqual(['Hi', [PARIS], 'tool_calls'])
    })

    test('a part without its text has the text of its pieces', async () => {
      const bare = { ...message, content: [{ type: 'output_text' }] }
      expect((await reading(created, added(0, bare), said, done(0, bare), completed())).text).toBe('Hi')
    })
  })

  test('an end that lacks an item has the item that was shown', async () => {
    const thought = { type: 'reasoning', id: 't1', summary: [{ type: 'summary_text', text: 'Hmm' }] }
    const stream = [
      created,
      done(0, thought),
      added(1, { ...message, content: [] }),
      { ...said, output_index: 1 },
      done(1, message),
      completed(message),
    ]
    expect(await read('responses', 'openai-responses', true, events('openai-responses', stream))).toMatchObject({
      text: 'Hi',
      reasoning: 'Hmm',
    })
  })

  test('an end that lacks items tells those that it has apart by their ids, and keeps what it alone has', async () => {
    const other = { ...message, id: 'm2', content: [{ type: 'output_text', text: 'there', annotations: [] }] }
    const thought = (id: string) => ({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: 'Hmm' }] })
    const [first, second] = [thought('t1'), thought('t2')]
    const outputs = [
      [[done(0, message), done(1, other)], [other], [message, other]],
      [[done(0, first), done(1, second)], [message], [first, second, message]],
    ] as const
    for (const [shown, told, expected] of outputs) {
      const { text } = await ask('responses', 'openai-responses', true, events('openai-responses', [created, ...shown, completed(...told)]))
      const last = text.split('\n').findLast((line) => line.startsWith('data: {'))
      const { response } = JSON.parse((last ?? '').slice(6)) as { response: { output: readonly unknown[] } }
      expect(response.output).toMatchObject(expected.map((item) => ({ id: (item as { id: string }).id })))
    }
  })
})
