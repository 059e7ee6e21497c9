/**
 * Work on a large request yields between steps, on each interface and for each dialect. It is divided by the contents of the request, so
 * that a step stays as long as it is however much longer the conversation becomes.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { LongAnswer } from '../../src/http/response/json-response.ts'
import { pacedBody } from '../../src/http/response/paced-body.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { JsonTextError } from '../../src/lib/json/json-limits.ts'
import { parseExactInSteps } from '../../src/lib/json/json-steps.ts'
import { atOnce } from '../../src/lib/steps.ts'
import { DASHED } from '../../src/providers/tools/tool-name-form.ts'
import { sentNames } from '../../src/providers/tools/tool-names.ts'
import type { Presets } from '../../src/presets/presets.ts'
import { begin, bytesOf as bytesOfMessages, delta, end, stop } from '../../src/providers/bedrock/event-stream.test-kit.ts'
import { createCountingClock } from '../support/counting-clock.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import { UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, type Replay, replay, type Reply } from '../support/replay.ts'
import { threadCpu } from '../support/thread-cpu.ts'

// The bodies are large, and test machines do other work, too.
setDefaultTimeout(300_000)

const REFUSED: Reply = { status: 500, type: 'application/json', pieces: [] }

const VENDORS: Readonly<Record<UpstreamDialect, { readonly slug: string; readonly model: string }>> = {
  'openai-chat': { slug: 'openai', model: 'gpt-4.1' },
  'openai-responses': { slug: 'openai', model: 'gpt-5' },
  anthropic: { slug: 'anthropic', model: 'claude-sonnet-4-5' },
  google: { slug: 'google', model: 'gemini-2.5-pro' },
  bedrock: { slug: 'bedrock', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
}

const send = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  body: Uint8Array,
  clock: Clock,
  reply: Reply = REFUSED,
  more: Partial<Replay> = {},
): Promise<number> => {
  try {
    const { sent } = await replay({ client, upstreams: [{ dialect, reply, ...VENDORS[dialect] }], body, clock, ...more })
    return sent.length
  } catch (thrown) {
    if (thrown instanceof GatewayError || thrown instanceof JsonTextError) return 0
    throw thrown
  }
}

const list = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at))

/** In each round a tool was called and has answered. */
const rounds = (client: ClientDialect, count: number, idOf: (at: number) => string, json = '{}'): object[] => {
  const said = { role: 'user', content: 'x' }
  switch (client) {
    case 'chat':
      return [
        said,
        ...list(count, idOf).flatMap((id) => [
          { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: json } }] },
          { role: 'tool', tool_call_id: id, content: 'r' },
        ]),
      ]
    case 'responses':
      return [
        said,
        ...list(count, idOf).flatMap((id) => [
          { type: 'function_call', call_id: id, name: 'f', arguments: json },
          { type: 'function_call_output', call_id: id, output: 'r' },
        ]),
      ]
    case 'messages':
      return [
        said,
        ...list(count, idOf).flatMap((id) => [
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] },
        ]),
      ]
  }
}

const bytesOf = (client: ClientDialect, conversation: unknown, more: object = {}): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({
      model: MODEL,
      ...(client === 'responses' ? { input: conversation } : { messages: conversation }),
      ...(client === 'messages' ? { max_tokens: 100 } : {}),
      ...more,
    }),
  )

const turnsFor = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  body: Uint8Array,
  reply?: Reply,
  more?: Partial<Replay>,
): Promise<number> => {
  const { clock, turns } = createCountingClock()
  expect(await send(client, dialect, body, clock, reply, more)).toBe(1)
  return turns()
}

describe('a conversation that is four times as long is encoded in more steps, not in longer ones', () => {
  describe.each(CLIENT_DIALECTS)('%s', (client) => {
    // Items of Responses are relayed unchanged to their own dialect.
    const dialects = UPSTREAM_DIALECTS.filter((dialect) => client !== 'responses' || dialect !== 'openai-responses')
    test.each(dialects)('to %s', async (dialect) => {
      // Repeated call ids must be made distinct in every dialect, the client's own included; this is about half of the most that a body may
      // hold.
      const most = client === 'messages' ? 2400 : 3000
      const turns = (count: number) =>
        turnsFor(
          client,
          dialect,
          bytesOf(
            client,
            rounds(client, count, () => 'a'.repeat(100)),
          ),
        )
      const [few, many] = [await turns(most / 4), await turns(most)]
      expect(many).toBeGreaterThan(few + 4)
    })
  })
})

/** This many functions in the format of an interface. */
const functions = (client: ClientDialect, count: number): object[] =>
  list(count, (at) => {
    const name = `tool_${at}`
    if (client === 'chat') return { type: 'function', function: { name } }
    return client === 'messages' ? { name, input_schema: { type: 'object' } } : { type: 'function', name, parameters: null, strict: false }
  })

/** A preset that was saved on an interface. */
const presetOf = (shape: ClientDialect, config: object): Presets =>
  ({
    serve: () => ({
      preset: { id: 'preset-1', slug: 'house', status: 'active' },
      version: { version: 1, shape, config: { model: MODEL, ...config }, system_prompt: null },
      rollout: null,
    }),
  }) as unknown as Presets

describe('a preset of four times as many tools is applied, checked and read in more steps, and a small one at once', () => {
  describe.each(CLIENT_DIALECTS)('saved on %s', (shape) => {
    test.each(CLIENT_DIALECTS)('used on %s', async (client) => {
      const body = bytesOf(client, [{ role: 'user', content: 'x' }], { model: '@preset/house' })
      for (const dialect of UPSTREAM_DIALECTS) {
        // A request that is translated is also decoded and encoded.
        const more = dialect === OWN_DIALECT[client] ? 9 : 22
        const turns = (count: number): Promise<number> =>
          turnsFor(client, dialect, body, REFUSED, { presets: presetOf(shape, { tools: functions(shape, count) }) })
        expect(await turns(10)).toBe(0)
        const few = await turns(2400)
        expect(await turns(9600)).toBeGreaterThan(few + more)
      }
    })
  })

  test.each(CLIENT_DIALECTS)('%s: united with as many tools of the request', async (client) => {
    const turns = (count: number): Promise<number> => {
      const tools = functions(client, count)
      const body = bytesOf(client, [{ role: 'user', content: 'x' }], { model: '@preset/house', tools })
      return turnsFor(client, OWN_DIALECT[client], body, REFUSED, { presets: presetOf(client, { tools }) })
    }
    const few = await turns(2400)
    expect(await turns(9600)).toBeGreaterThan(few + 22)
  })
})

/** A whole answer in the format of a provider. */
const wholeAnswer = (dialect: UpstreamDialect, text: string): Reply => {
  const said = { role: 'assistant', content: [{ type: 'text', text }] }
  const bodies: Readonly<Record<UpstreamDialect, object>> = {
    'openai-chat': { id: 'a', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] },
    'openai-responses': {
      id: 'a',
      status: 'completed',
      output: [{ type: 'message', id: 'b', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }],
    },
    anthropic: { id: 'a', type: 'message', ...said, stop_reason: 'end_turn' },
    google: { candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] },
    bedrock: { output: { message: { role: 'assistant', content: [{ text }] } }, stopReason: 'end_turn' },
  }
  return { type: 'application/json', pieces: [new TextEncoder().encode(JSON.stringify(bodies[dialect]))] }
}

describe('a whole answer that is four times as long is read in more steps, and a small one at once', () => {
  test.each(UPSTREAM_DIALECTS)('from %s', async (dialect) => {
    const body = bytesOf('messages', [{ role: 'user', content: 'x' }])
    const turns = (length: number): Promise<number> =>
      turnsFor('messages', dialect, body, wholeAnswer(dialect, 'Say "yes".\n'.repeat(length)))
    expect(await turns(10)).toBe(0)
    const few = await turns(100_000)
    expect(few).toBeGreaterThan(8)
    expect(await turns(400_000)).toBeGreaterThan(few + 16)
  })
})

/** A stream with the whole text in one event. */
const longEvent = (dialect: UpstreamDialect, text: string): Reply => {
  const item = { type: 'message', id: 'b', role: 'assistant', status: 'in_progress', content: [] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const EVENTS: Readonly<Record<UpstreamDialect, readonly object[]>> = {
    'openai-chat': [
      { id: 'a', choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
      { id: 'a', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ],
    'openai-responses': [
      { type: 'response.created', sequence_number: 0, response: { id: 'a', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
      { type: 'response.output_text.delta', sequence_number: 2, output_index: 0, content_index: 0, item_id: 'b', delta: text },
      { type: 'response.completed', sequence_number: 3, response: { id: 'a', status: 'completed', output: [], usage } },
    ],
    anthropic: [
      { type: 'message_start', message: { id: 'a', type: 'message', role: 'assistant', model: 'm', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
    google: [{ candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] }],
    bedrock: [],
  }
  const bytes =
    dialect === 'bedrock'
      ? bytesOfMessages([begin(), delta(0, { text }), stop(0), ...end('end_turn')])
      : new TextEncoder().encode(EVENTS[dialect].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  return { type: 'text/event-stream', pieces: [bytes] }
}

/** All text in the deltas of a stream, on any interface. */
const toldText = (stream: string): string =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => {
      const { type, delta: said, choices } = JSON.parse(line.slice('data: '.length)) as StreamedEvent
      if (type === undefined) return choices?.[0]?.delta.content ?? ''
      if (typeof said === 'string') return type === 'response.output_text.delta' ? said : ''
      return said?.text ?? ''
    })
    .join('')

interface StreamedEvent {
  readonly type?: string
  readonly delta?: string | { readonly text?: string }
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[]
}

describe('an event of a stream that is four times as long is read and told in more steps', () => {
  describe.each(CLIENT_DIALECTS)('%s', (client) => {
    const body = bytesOf(client, [{ role: 'user', content: 'x' }], { stream: true })

    test.each(UPSTREAM_DIALECTS)('from %s', async (dialect) => {
      const turns = (length: number): Promise<number> => turnsFor(client, dialect, body, longEvent(dialect, 'Say "yes".\n'.repeat(length)))
      const few = await turns(100_000)
      expect(few).toBeGreaterThan(16)
      expect(await turns(400_000)).toBeGreaterThan(few + 48)
    })

    test.each(UPSTREAM_DIALECTS)('from %s: it says the same, whatever it holds', async (dialect) => {
      for (const text of [
        'Say "yes".\n'.repeat(100_000),
        '\u0001"\\'.repeat(200_000),
        `x${'\u{1F600}'.repeat(300_000)}`,
        '\u20ac'.repeat(500_000),
      ]) {
        const reply = longEvent(dialect, text)
        const answer = await replay({ client, upstreams: [{ dialect, reply, ...VENDORS[dialect] }], body, clock: systemClock })
        expect(answer.internalErrors).toEqual([])
        expect(answer.broken).toBe(false)
        expect(answer.text).toEndWith('data: [DONE]\n\n')
        expect(toldText(answer.text) === text).toBe(true)
      }
    })
  })
})

describe('a whole answer that is four times as long is told in more steps', () => {
  const text = 'Say "yes".\n'
  const told = (
    guardrails: NonNullable<Replay['guardrails']>,
    length: number,
    client: ClientDialect,
    dialect: UpstreamDialect,
    stream: boolean,
  ) =>
    turnsFor(client, dialect, bytesOf(client, [{ role: 'user', content: 'x' }], { stream }), wholeAnswer(dialect, text.repeat(length)), {
      guardrails,
      // Each look at the clock of this test takes a second.
      screenMs: Number.POSITIVE_INFINITY,
    })

  test.each(CLIENT_DIALECTS)('%s, as a stream', async (client) => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const few = await told([], 100_000, client, dialect, true)
      expect(await told([], 400_000, client, dialect, true)).toBeGreaterThan(few + 180)
    }
  })

  test.each(CLIENT_DIALECTS)('%s, through the filters of a guardrail, which see all of it', async (client) => {
    for (const dialect of [OWN_DIALECT[client], 'bedrock'] as const) {
      for (const action of ['redact', 'flag', 'block'] as const) {
        const few = await told([emailGuardrail(action, 'output')], 100_000, client, dialect, false)
        expect(await told([emailGuardrail(action, 'output')], 400_000, client, dialect, false)).toBeGreaterThan(few + 180)
      }
    }
  })

  test('a word that a filter looks for is found where the answer is cut', async () => {
    for (let before = 16_375; before <= 16_390; before += 1) {
      const said = `${'x'.repeat(before)} jane@example.com ${'y'.repeat(400_000)}`
      const { text: answer } = await replay({
        client: 'messages',
        upstreams: [{ dialect: 'anthropic', reply: wholeAnswer('anthropic', said), ...VENDORS.anthropic }],
        body: bytesOf('messages', [{ role: 'user', content: 'x' }]),
        clock: systemClock,
        guardrails: [emailGuardrail('redact')],
      })
      expect((JSON.parse(answer) as { content: { text: string }[] }).content[0]?.text).toBe(said.replace('jane@example.com', '[EMAIL]'))
    }
  })
})

describe('a whole answer in another dialect that is four times as long is written in more steps', () => {
  test.each(CLIENT_DIALECTS)('%s', async (client) => {
    const body = bytesOf(client, [{ role: 'user', content: 'x' }])
    for (const dialect of UPSTREAM_DIALECTS.filter((one) => one !== OWN_DIALECT[client])) {
      const turns = (length: number): Promise<number> =>
        turnsFor(client, dialect, body, wholeAnswer(dialect, 'Say "yes".\n'.repeat(length)))
      expect(await turns(400_000)).toBeGreaterThan((await turns(100_000)) + 240)
    }
  })
})

test.each(CLIENT_DIALECTS)('%s: the members that are ours are put into a large whole answer in steps', async (client) => {
  const reply = wholeAnswer(OWN_DIALECT[client], 'Say "yes".\n'.repeat(400_000))
  const reading = parseExactInSteps(new TextDecoder().decode(reply.pieces[0]))
  let steps = 0
  while (reading.next().done !== true) steps += 1
  const turns = await turnsFor(client, OWN_DIALECT[client], bytesOf(client, [{ role: 'user', content: 'x' }]), reply)
  expect(turns).toBeGreaterThan(steps + 3)
})

describe('a field that is four times as long is read in more steps', () => {
  test.each(CLIENT_DIALECTS)('%s, the description of a tool, to its own dialect', async (client) => {
    const turns = (length: number): Promise<number> => {
      const described = { name: 'f', description: 'Say "yes".\n'.repeat(length) }
      const tool =
        client === 'chat'
          ? { type: 'function', function: described }
          : client === 'messages'
            ? { ...described, input_schema: { type: 'object' } }
            : { type: 'function', ...described, parameters: { type: 'object' }, strict: false }
      return turnsFor(client, OWN_DIALECT[client], bytesOf(client, [{ role: 'user', content: 'x' }], { tools: [tool] }))
    }
    expect(await turns(200_000)).toBeGreaterThan((await turns(50_000)) + 8)
  })
})

/** OpenAI refuses this schema as it is. */
const REFUSED_SCHEMA = { type: 'object', properties: { a: { type: 'array' }, b: { type: 'array' } } }

const toolsOf = (client: ClientDialect, count: number, nameOf: (at: number) => string, schema: object): object[] =>
  list(count, (at) => {
    const name = nameOf(at)
    if (client === 'chat') return { type: 'function', function: { name, parameters: schema } }
    return client === 'messages' ? { name, input_schema: schema } : { type: 'function', name, parameters: schema, strict: false }
  })

describe('four times as many tools that their own dialect does not take as they are become others in more steps', () => {
  const asked = [{ role: 'user', content: 'x' }]

  test.each(['chat', 'responses'] as const)('%s: schemas that OpenAI refuses', async (client) => {
    const turns = (count: number): Promise<number> =>
      turnsFor(client, OWN_DIALECT[client], bytesOf(client, asked, { tools: toolsOf(client, count, (at) => `tool_${at}`, REFUSED_SCHEMA) }))
    expect(await turns(2400)).toBeGreaterThan((await turns(600)) + 90)
  })

  test.each(['chat', 'responses'] as const)(
    '%s: a schema that OpenAI refuses, beside a description that is four times as long',
    async (client) => {
      const [tool] = toolsOf(client, 1, () => 'f', REFUSED_SCHEMA) as [{ function?: object }]
      const turns = (length: number): Promise<number> => {
        const description = 'Say yes to it.\n'.repeat(length)
        const described = client === 'chat' ? { ...tool, function: { ...tool.function, description } } : { ...tool, description }
        return turnsFor(client, OWN_DIALECT[client], bytesOf(client, asked, { tools: [described] }))
      }
      expect(await turns(400_000)).toBeGreaterThan((await turns(100_000)) + 18)
    },
  )

  test.each(CLIENT_DIALECTS)('%s: names that the provider refuses', async (client) => {
    const turns = (count: number): Promise<number> =>
      turnsFor(
        client,
        OWN_DIALECT[client],
        bytesOf(client, asked, { tools: toolsOf(client, count, (at) => `tool.${at}`, { type: 'object' }) }),
      )
    expect(await turns(6000)).toBeGreaterThan((await turns(1500)) + 9)
  })

  test('messages: strict ones whose schemas the API cannot hold a model to', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', minLength: 2 } } }
    const turns = (count: number): Promise<number> => {
      const tools = toolsOf('messages', count, (at) => `tool_${at}`, schema).map((tool) => ({ ...tool, strict: true }))
      return turnsFor('messages', 'anthropic', bytesOf('messages', asked, { tools }))
    }
    expect(await turns(2400)).toBeGreaterThan((await turns(600)) + 90)
  })

  test('chat: functions, and calls of them, in the older words', async () => {
    const turns = (count: number): Promise<number> => {
      const history = list(count, (at) =>
        at % 2 === 0
          ? { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }
          : { role: 'function', name: 'f', content: 'r' },
      )
      const functions = list(count, (at) => ({ name: `tool_${at}`, parameters: { type: 'object' } }))
      return turnsFor('chat', 'openai-chat', bytesOf('chat', [...asked, ...history], { functions }))
    }
    expect(await turns(8000)).toBeGreaterThan((await turns(2000)) + 24)
  })
})

describe('a call whose arguments are four times as long comes back as its client knows it in more steps', () => {
  const call = (name: string, length: number) => ({ name, arguments: JSON.stringify({ path: 'Say "yes".\n'.repeat(length) }) })
  const completion = (called: object, member: 'message' | 'delta', reason: string | null): object => ({
    id: 'a',
    choices: [
      {
        index: 0,
        [member]: { role: 'assistant', content: null, tool_calls: [{ index: 0, id: 'b', type: 'function', function: called }] },
        finish_reason: reason,
      },
    ],
  })
  const answer = (name: string, length: number, stream: boolean): Reply => {
    const encoder = new TextEncoder()
    if (!stream)
      return { type: 'application/json', pieces: [encoder.encode(JSON.stringify(completion(call(name, length), 'message', 'tool_calls')))] }
    const chunks = [
      completion(call(name, length), 'delta', null),
      { id: 'a', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ]
    return {
      type: 'text/event-stream',
      pieces: [encoder.encode([...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''))],
    }
  }
  const functions = [{ name: 'f', parameters: { type: 'object', properties: {} } }]
  const tools = [{ type: 'function', function: { name: 'a.b', parameters: { type: 'object', properties: {} } } }]

  test.each([false, true])('stream: %s', async (stream) => {
    const asked = [{ role: 'user', content: 'x' }]
    /** The names of the tool for its provider and for its client, and the client's request. */
    const cases = [
      ['f', '"function_call":{"name":"f"', { functions }],
      [
        atOnce(sentNames([{ name: 'a.b' }], { lawful: DASHED.lawful, namespaces: false }))?.sent({ name: 'a.b' }).name ?? '',
        '"name":"a.b"',
        { tools },
      ],
    ] as const
    for (const [name, shown, declared] of cases) {
      const body = bytesOf('chat', asked, { ...declared, stream })
      const upstreams = [{ dialect: 'openai-chat', reply: answer(name, 9, stream), ...VENDORS['openai-chat'] }] as const
      expect((await replay({ client: 'chat', upstreams, body })).text).toContain(shown)
      const turns = (length: number): Promise<number> => turnsFor('chat', 'openai-chat', body, answer(name, length, stream))
      const few = await turns(100_000)
      expect(await turns(400_000)).toBeGreaterThan(few + 60)
    }
  })
})
describe('a body that is shown to its client, or names an entry of the response cache, is read in more steps where it is four times as long', () => {
  const asked = (client: ClientDialect, length: number, more: object): Uint8Array =>
    bytesOf(client, [{ role: 'user', content: 'Say yes to it.\n'.repeat(length) }], { stream: true, ...more })

  test.each(['chat', 'responses'] as const)('%s, the echo of what each provider was sent', async (client) => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const turns = (length: number, echo: boolean): Promise<number> =>
        turnsFor(client, dialect, asked(client, length, { debug: { echo_upstream_body: echo } }), longEvent(dialect, 'x'))
      const more = async (length: number): Promise<number> => (await turns(length, true)) - (await turns(length, false))
      expect(await more(10)).toBe(0)
      expect(await more(400_000)).toBeGreaterThan((await more(100_000)) + 60)
    }
  })

  test.each(CLIENT_DIALECTS)('%s, the dry run', async (client) => {
    const turns = async (length: number): Promise<number> => {
      let turned = 0
      const clock: Clock = {
        now: () => 0,
        monotonicMs: () => (turned += 1000),
        after(ms, task) {
          if (ms === 0) setImmediate(task)
          return () => undefined
        },
      }
      const headers = { 'x-service-dry-run': 'enabled' }
      const upstreams = [{ dialect: OWN_DIALECT[client], reply: REFUSED, ...VENDORS[OWN_DIALECT[client]] }]
      const { text } = await replay({ client, upstreams, body: asked(client, length, {}), clock, headers })
      expect(text).toStartWith('{"object":"service.dry_run"')
      return turned / 1000
    }
    expect(await turns(400_000)).toBeGreaterThan((await turns(100_000)) + 150)
  })

  test.each(CLIENT_DIALECTS)('%s, the name of an entry', async (client) => {
    const dialect = OWN_DIALECT[client]
    const turns = (length: number, headers: Record<string, string>): Promise<number> =>
      turnsFor(client, dialect, asked(client, length, {}), longEvent(dialect, 'x'), { headers })
    const more = async (length: number): Promise<number> => (await turns(length, { 'x-service-cache': 'true' })) - (await turns(length, {}))
    expect(await more(10)).toBe(0)
    expect(await more(400_000)).toBeGreaterThan((await more(100_000)) + 40)
  })
})

test.each(CLIENT_DIALECTS)(
  '%s: an answer that is four times as long is kept in the response cache in more steps, and a small one at once',
  async (client) => {
    for (const dialect of [OWN_DIALECT[client], 'bedrock'] as const) {
      const turns = (length: number, headers: Record<string, string>): Promise<number> =>
        turnsFor(client, dialect, bytesOf(client, [{ role: 'user', content: 'x' }]), wholeAnswer(dialect, 'Say yes.\n'.repeat(length)), {
          headers,
        })
      const more = async (length: number): Promise<number> =>
        (await turns(length, { 'x-service-cache': 'true' })) - (await turns(length, {}))
      expect(await more(10)).toBe(0)
      expect(await more(200_000)).toBeGreaterThan((await more(50_000)) + 6)
    }
  },
)

describe('a data: URL of percent escapes that is four times as long is decoded in more steps', () => {
  test.each(UPSTREAM_DIALECTS.filter((dialect) => !dialect.startsWith('openai')))('to %s', async (dialect) => {
    const turns = (length: number, ending: string): Promise<number> => {
      const file = { filename: 'a.txt', file_data: `data:text/plain,${'%E2%82%AC'.repeat(length)}${ending}` }
      return turnsFor('chat', dialect, bytesOf('chat', [{ role: 'user', content: [{ type: 'file', file }] }]))
    }
    expect(await turns(400_000, '')).toBeGreaterThan((await turns(100_000, '')) + 18)
    if (dialect !== 'google') expect(await turns(400_000, '%')).toBeGreaterThan((await turns(100_000, '%')) + 36)
  })
})

test.each(CLIENT_DIALECTS)(
  '%s: a history of 5,000 messages in which the agent speaks beside each call goes to each dialect',
  async (client) => {
    const text = 'Let me look at the file first.'
    const history = list(2500, String).flatMap((id): object[] => {
      switch (client) {
        case 'chat':
          return [
            {
              role: 'assistant',
              content: text,
              tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{"path":"a"}' } }],
            },
            { role: 'tool', tool_call_id: id, content: text },
          ]
        case 'responses':
          return [
            { role: 'assistant', content: [{ type: 'output_text', text }] },
            { type: 'function_call', call_id: id, name: 'f', arguments: '{"path":"a"}' },
            { type: 'function_call_output', call_id: id, output: [{ type: 'input_text', text }] },
          ]
        case 'messages':
          return [
            {
              role: 'assistant',
              content: [
                { type: 'text', text },
                { type: 'tool_use', id, name: 'f', input: { path: 'a' } },
              ],
            },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] }] },
          ]
      }
    })
    const body = bytesOf(client, [{ role: 'user', content: 'x' }, ...history])
    for (const dialect of UPSTREAM_DIALECTS) expect(await send(client, dialect, body.slice(), systemClock)).toBe(1)
  },
)

/** A known amount of work for comparison: parsing 2.5 MB of JSON. */
const known = `[${'{"role":"user","content":"How are you?"},'.repeat(60_000)}0]`

/**
 * Reads an answer as a socket does: a whole one at its own pace (src/http/response/paced-body.ts), so that its first piece, for which the text is
 * assembled, costs as much as any. Decoding is the client's work.
 */
const taken: NonNullable<Replay['read']> = async (response) => {
  const isWhole = response instanceof LongAnswer
  const body = isWhole ? pacedBody(response.pieces, { clock: systemClock, unreadMs: 60_000, onUnread: () => undefined }) : response.body
  const reader = body?.getReader()
  while (reader !== undefined && !(await reader.read()).done && !isWhole);
  if (isWhole) await reader?.cancel()
  return { text: '', broken: false }
}

/** A reply as a socket delivers it: in small pieces, each in its own round of the event loop. */
const arriving = (reply: Reply, clock: Clock): Reply => ({
  ...reply,
  pieces: reply.pieces.flatMap((piece) => list(Math.ceil(piece.length / 65_536), (at) => piece.subarray(at * 65_536, (at + 1) * 65_536))),
  arrival: () => new Promise((resolve) => void clock.after(0, resolve)),
})

const longestStep = async (client: ClientDialect, dialect: UpstreamDialect, body: Uint8Array, reply?: Reply): Promise<number> => {
  // Making the copy is the test's own work.
  const given = body.slice()
  let longest = 0
  let began = threadCpu()
  const clock: Clock = {
    ...systemClock,
    after(ms, task) {
      if (ms > 0) return systemClock.after(ms, task)
      longest = Math.max(longest, threadCpu() - began)
      setImmediate(() => {
        began = threadCpu()
        task()
      })
      return () => undefined
    },
  }
  await send(client, dialect, given, clock, reply && arriving(reply, clock), { read: taken })
  return Math.max(longest, threadCpu() - began)
}

/** The best run counts: the first runs include compilation, more of them on a busy machine, and garbage is collected at any time. The clock of
 * a processor changes between the work and what it is compared with, so that a few runs are not enough where the two are close. */
const expectShortSteps = async (body: Uint8Array, client: ClientDialect, dialect: UpstreamDialect, reply?: Reply): Promise<void> => {
  let longest = Number.POSITIVE_INFINITY
  let limit = 0
  for (let run = 0; run < RUNS_MAX && longest > limit; run += 1) {
    longest = Math.min(longest, await longestStep(client, dialect, body, reply))
    const began = threadCpu()
    for (let time = 0; time < 4; time += 1) JSON.parse(known)
    limit = Math.max(limit, 3 * (threadCpu() - began))
  }
  expect(longest).toBeLessThanOrEqual(limit)
}

const RUNS_MAX = 40

describe('no step of a large answer that is told as a stream on Responses takes longer', () => {
  const body = bytesOf('responses', [{ role: 'user', content: 'x' }], { stream: true })

  test.each(UPSTREAM_DIALECTS)('from %s: its end repeats the text four times', async (dialect) => {
    await expectShortSteps(body, 'responses', dialect, wholeAnswer(dialect, 'Say yes to it.\n'.repeat(1_100_000)))
  })
})

describe('no step of a stream whose one event has eight million characters takes longer', () => {
  test.each(CLIENT_DIALECTS)('%s', async (client) => {
    const body = bytesOf(client, [{ role: 'user', content: 'x' }], { stream: true })
    for (const dialect of UPSTREAM_DIALECTS)
      for (const said of ['Say yes to it.\n', '"'])
        await expectShortSteps(body, client, dialect, longEvent(dialect, said.repeat(3_900_000 / said.length)))
  })
})

test('no step of a large answer takes longer whose thinking stands under the name of a vendor, and goes on under that of this interface too', async () => {
  const thought = 'Say yes to it.\n'.repeat(1_000_000)
  const message = { role: 'assistant', content: 'x', reasoning_content: thought }
  const answer = { id: 'a', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const reply: Reply = { type: 'application/json', pieces: [new TextEncoder().encode(JSON.stringify(answer))] }
  const body = bytesOf('chat', [{ role: 'user', content: 'x' }])
  const { text } = await replay({
    client: 'chat',
    upstreams: [{ dialect: 'openai-chat', reply, ...VENDORS['openai-chat'] }],
    body,
    clock: systemClock,
  })
  const [choice] = (JSON.parse(text) as { choices: { message: object }[] }).choices
  expect(choice?.message).toEqual({ ...message, reasoning: thought })
  await expectShortSteps(body, 'chat', 'openai-chat', reply)
})

describe('no step of a hostile request takes long', () => {
  const shape = fc.constantFrom<(client: ClientDialect) => Uint8Array>(
    (client) =>
      bytesOf(
        client,
        rounds(client, client === 'messages' ? 2400 : 3300, () => 'a'),
      ),
    (client) => bytesOf(client, rounds(client, client === 'messages' ? 2400 : 3300, String)),
    (client) =>
      bytesOf(
        client,
        list(19_000, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'r' })),
      ),
    (client) =>
      bytesOf(
        client,
        list(15_000, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: ' ' })),
      ),
    (client) => bytesOf(client, [{ role: 'user', content: '"'.repeat(490_000) }]),
    (client) => bytesOf(client, [{ role: 'user', content: 'He said: "Go." and then they left the house.\n'.repeat(300_000) }]),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { stop: list(150_000, String), stop_sequences: list(150_000, String) }),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { model: 'm'.repeat(17_000_000) }),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { user: 'u'.repeat(17_000_000) }),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { metadata: { user_id: 'u'.repeat(17_000_000) } }),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { instructions: 'Say yes. '.repeat(1_800_000) }),
    (client) => bytesOf(client, [{ role: 'user', content: 'x' }], { instructions: 'Say yes. '.repeat(1_800_000), stream: true }),
    (client) =>
      bytesOf(client, [{ role: 'user', content: 'x' }], { tools: [{ type: 'function', name: 'f', description: 'x'.repeat(17_000_000) }] }),
    (client) => bytesOf(client, rounds(client, 1, String, `[${'1,'.repeat(3_000_000)}`)),
    (client) => bytesOf(client, rounds(client, 1, String, `{"a":"${'\\"'.repeat(240_000)}`)),
    (client) => bytesOf(client, rounds(client, 1, String, `{"a":[${'[],'.repeat(2_000_000)}1]}`)),
    (client) =>
      bytesOf(client, [{ role: 'user', content: 'x' }], {
        tools: list(5000, (at) => {
          const name = `${'f.'.repeat(40)}${at}`
          return client === 'chat'
            ? { type: 'function', function: { name } }
            : { type: client === 'messages' ? 'custom' : 'function', name }
        }),
      }),
  )

  const tool = (client: ClientDialect, schema: object): object => {
    if (client === 'chat') return { type: 'function', function: { name: 'f', strict: true, parameters: schema } }
    return client === 'messages'
      ? { name: 'f', strict: true, input_schema: schema }
      : { type: 'function', name: 'f', strict: true, parameters: schema }
  }
  const named = (count: number, property: (at: number) => object): object =>
    Object.fromEntries(list(count, (at) => [`p${at}`, property(at)]))
  const words = named(9000, () => ({ type: 'string' }))

  /** Tool schemas that are small to send, but long work for code that compares each part with every other one. */
  const SCHEMAS: Readonly<Record<string, object>> = {
    'many properties, required in another order': { type: 'object', properties: words, required: Object.keys(words).toReversed() },
    'alternatives that require the same': { anyOf: list(6000, () => ({ required: ['a'] })) },
    'alternatives of one property each': { anyOf: list(4500, (at) => ({ properties: { [`p${at}`]: { type: 'string' } } })) },
    'parts of one property each': { allOf: list(4000, (at) => ({ properties: { [`p${at}`]: {} }, required: [`p${at}`] })) },
    'alternatives that refer to the same': {
      oneOf: list(6000, () => ({ $ref: '#/$defs/a' })),
      $defs: { a: { properties: named(500, () => ({})) } },
    },
    'parts within parts': list(25, String).reduce<object>((inner) => ({ allOf: [inner] }), { type: 'object', properties: words }),
    'alternatives within alternatives': list(25, String).reduce<object>((inner) => ({ anyOf: [inner, {}] }), {
      type: 'object',
      properties: words,
    }),
    'definitions that refer to the next one twice': {
      type: 'object',
      properties: { a: { $ref: '#/$defs/p0' } },
      $defs: named(40, (at) => ({ anyOf: [{ $ref: `#/$defs/p${at + 1}` }, { $ref: `#/$defs/p${at + 1}` }] })),
    },
    'definitions that are each but a reference to the next': {
      type: 'object',
      properties: { a: { $ref: '#/$defs/p0' } },
      $defs: named(9000, (at) => ({ $ref: `#/$defs/p${at + 1}` })),
    },
    'parts that refer to one large definition': {
      type: 'object',
      properties: named(4000, () => ({ allOf: [{ $ref: '#/$defs/a' }] })),
      $defs: { a: { type: 'object', properties: named(500, () => ({ type: 'string' })), required: [] } },
    },
    'properties that refer to one long definition': {
      type: 'object',
      properties: named(4000, () => ({ $ref: '#/$defs/a' })),
      $defs: { a: { type: 'string', description: 'x'.repeat(1_000_000) } },
    },
  }

  test('property: at most as long as to parse 2.5 MB of JSON twelve times, on each interface, to each dialect', async () => {
    await fc.assert(
      fc.asyncProperty(shape, fc.constantFrom(...CLIENT_DIALECTS), fc.constantFrom(...UPSTREAM_DIALECTS), (make, client, dialect) =>
        expectShortSteps(make(client), client, dialect),
      ),
      { numRuns: 40, endOnFailure: true },
    )
  })

  test.each(Object.entries(SCHEMAS))('the same for a tool whose schema has %s', async (_, given) => {
    for (const client of CLIENT_DIALECTS) {
      const body = bytesOf(client, [{ role: 'user', content: 'x' }], { tools: [tool(client, given)] })
      for (const dialect of UPSTREAM_DIALECTS) await expectShortSteps(body, client, dialect)
    }
  })

  test.each(CLIENT_DIALECTS)('%s: a tool whose references are written out grows by no more than 200 KB', async (client) => {
    const growing = { type: 'string', description: 'x'.repeat(30_000) }
    const parameters = { type: 'object', properties: named(500, () => ({ allOf: [{ $ref: '#/$defs/a' }] })), $defs: { a: growing } }
    const plain = { type: 'object', properties: named(500, () => ({ $ref: '#/$defs/a' })), $defs: { a: growing } }
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const given of [parameters, plain]) {
        const body = bytesOf(client, [{ role: 'user', content: 'x' }], { tools: [tool(client, given)] })
        const { sent } = await replay({ client, upstreams: [{ dialect, reply: REFUSED, ...VENDORS[dialect] }], body })
        expect(sent[0]?.body.length).toBeLessThan(body.length + 200_000)
      }
    }
  })
})
