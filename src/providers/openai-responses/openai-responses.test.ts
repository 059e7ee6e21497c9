import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { dataEvent, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { JsonBody } from '../../lib/json-body.ts'
import type { Attempt } from '../provider.ts'
import { createUpstream } from '../upstream.ts'
import { openaiResponses } from './openai-responses.ts'

const upstream = await startFakeUpstream()

const API_KEY = 'acme-secret-key-0123456789'
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly frames: readonly Frame[]
  readonly events: readonly ModelEvent[]
  /** What it threw, or what its last event says. */
  readonly error: GatewayError | null
}

interface Options {
  readonly stream?: boolean
  readonly dialect?: ClientDialect
}

const attemptOf = ({ stream = true, dialect = 'responses' }: Options): Attempt => ({
  call: {
    dialect,
    body: JsonBody.read('{"model":"acme/one","input":"Hi"}'),
    models: ['acme/one'],
    stream,
    maxOutputTokens: null,
    sessionId: null,
    user: null,
    passHeaders: {},
    prompt: () => ({
      messages: [],
      tools: [],
      toolChoice: { type: 'auto' },
      outputFormat: { type: 'text' },
      settings: {},
      otherFields: [],
    }),
  },
  target: {
    provider: 'acme',
    providerName: 'Acme',
    baseUrl: upstream.url,
    apiKey: API_KEY,
    modelId: 'acme/one',
    upstreamModel: 'one-1',
    maxCompletionTokens: null,
  },
  number: 0,
  warn: () => undefined,
  connection: new AbortController(),
})

const ask = async (script: Script, options: Options = {}): Promise<Read> => {
  upstream.script(script)
  const clock = createFakeClock()
  const answer = openaiResponses(attemptOf(options), { upstream: createUpstream(clock, TIMEOUTS), clock })
  const frames: Frame[] = []
  let error: GatewayError | null = null
  try {
    for await (const batch of answer) frames.push(...batch)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    error = thrown
  }
  expect(clock.waiting).toBeLessThanOrEqual(1) // at most the deadline of what is left to read
  const events = frames.flatMap(({ events }) => events)
  const last = events.at(-1)
  return { frames, events, error: error ?? (last?.type === 'error' ? last.error : null) }
}

/** A stream of one event for each object, with a clean end and no end marker. */
const streaming =
  (...objects: readonly object[]): Script =>
  async (exchange) => {
    await exchange.head(200)
    await exchange.piece(objects.map((object) => dataEvent(JSON.stringify(object))).join(''))
    await exchange.done()
  }

const whole =
  (body: object): Script =>
  (exchange) =>
    exchange.answer(200, JSON.stringify(body))

const textOf = (events: readonly ModelEvent[], type: 'text' | 'reasoning' | 'refusal' = 'text'): string =>
  events.map((event) => (event.type === type ? event.text : '')).join('')

const usageIn = (events: readonly ModelEvent[]): Usage | undefined => events.findLast((event) => event.type === 'usage')?.usage

const finishIn = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'finish' ? [`${event.reason} ${event.native}`] : []))

const argumentsIn = (events: readonly ModelEvent[]): Record<string, string> => {
  const calls: Record<string, string> = {}
  const ids: string[] = []
  for (const event of events) {
    if (event.type === 'tool-call') {
      expect(event.index).toBe(ids.length)
      ids.push(`${event.id} ${event.name}`)
      calls[`${event.id} ${event.name}`] = ''
    }
    if (event.type === 'tool-arguments') calls[ids[event.index] ?? ''] += event.json
  }
  return calls
}

const RECORDED = join(import.meta.dir, '../../../test/fixtures/recorded/openai-responses')
const recordedBody = (name: string): string => readFileSync(join(RECORDED, `${name}.json`), 'utf8')

/** The recorded answers of a conversation, a list of lines each. */
const recordedStreams = (name: string): string[][] => {
  const streams: string[][] = []
  for (const line of readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8').split('\n')) {
    if (line.includes('"type":"response.created"')) streams.push([])
    if (line !== '') streams.at(-1)?.push(line)
  }
  return streams
}
const recorded = (name: string, position = 0): string[] => recordedStreams(name)[position] ?? []

const CREATED = { type: 'response.created', response: { id: 'resp_1', model: 'one-1', status: 'in_progress', error: null } }
const ended = (response: object = {}, type = 'completed'): object => ({
  type: `response.${type}`,
  response: { id: 'resp_1', model: 'one-1', status: type, ...response },
})
const saying = (delta: string): object => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  item_id: 'msg_1',
  delta,
})
const item = (kind: 'added' | 'done', output_index: number, about: object): object => ({
  type: `response.output_item.${kind}`,
  output_index,
  item: about,
})

describe('the request', () => {
  test('is a POST of the body to the path of responses, with our key, and asks for no compression', async () => {
    await ask(streaming(CREATED, ended()))
    const { path, headers, body } = upstream.last
    expect(path).toBe('/v1/responses')
    expect(headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
    })
    expect(body as object).toEqual({ model: 'one-1', input: 'Hi', stream: true, store: false })
  })

  test('asks for JSON where no stream was asked for', async () => {
    await ask(whole({ output: [] }), { stream: false })
    expect(upstream.last.headers['accept']).toBe('application/json')
  })
})

describe('recorded', () => {
  test('thinking, its proof and a tool call, as a stream', async () => {
    const { events, error } = await ask((exchange) => exchange.stream(recorded('openai-reasoning-encrypted-content.1')))
    expect(error).toBeNull()
    expect(textOf(events, 'reasoning')).toStartWith('**Calculating step-by-step')
    expect(events.every((event) => event.type !== 'reasoning' || event.summary === true)).toBe(true)
    const end = events.find(({ type }) => type === 'reasoning-end')
    expect(end).toMatchObject({
      proof: { format: 'openai-responses-v1', kind: 'encrypted', id: 'rs_01830d662ab3856501693c321405c88190be3ab04d5782d5f9' },
    })
    expect(argumentsIn(events)).toEqual({ 'call_AB6AaRZ1FYZB2RwS6A5vbdqn calculator': '{"a":12,"b":7,"op":"add"}' })
    expect(finishIn(events)).toEqual(['tool_calls completed'])
  })

  test('the same, whole', async () => {
    const { events } = await ask((exchange) => exchange.answer(200, recordedBody('openai-reasoning-encrypted-content.1')), {
      stream: false,
    })
    expect(events.map(({ type }) => type)).toEqual(['start', 'reasoning', 'reasoning-end', 'text', 'usage', 'finish'])
    expect(textOf(events)).toEndWith('Final result: 570')
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 865, output: 35, outputReasoning: 128 }))
    expect(finishIn(events)).toEqual(['stop completed'])
  })

  test('two messages with phases: each said once, though the last event repeats them', async () => {
    const { events } = await ask((exchange) => exchange.stream(recorded('openai-phase.1')))
    expect(textOf(events)).toMatch(/^Got it/)
    expect(textOf(events).match(/Here are a few/g)?.length).toBe(1)
    expect(events[0]).toEqual({
      type: 'start',
      upstreamId: 'resp_0a63f40a2632b74300699f8818e5648196a8fa657ae8091421',
      upstreamModel: 'gpt-5.3-codex',
    })
  })

  test.each([true, false])('a tool of the dialect’s own kind, stream: %p', async (stream) => {
    const { events } = await ask(
      (exchange) =>
        stream ? exchange.stream(recorded('openai-custom-tool.1')) : exchange.answer(200, recordedBody('openai-custom-tool.1')),
      { stream },
    )
    expect(events.filter(({ type }) => type === 'unknown')).toEqual([{ type: 'unknown', kind: 'custom_tool_call' }])
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 50, output: 20 }))
    expect(finishIn(events)).toEqual(['stop completed'])
  })

  test.each([true, false])('an empty account of ours, stream: %p', async (stream) => {
    const { error, events } = await ask(
      (exchange) => (stream ? exchange.stream(recorded('openai-error.1')) : exchange.answer(429, recordedBody('openai-error.1'))),
      { stream },
    )
    expect([error?.type, error?.metadata['provider_code']]).toEqual(['provider_unavailable', 'insufficient_quota'])
    expect(events.filter(({ type }) => type !== 'start' && type !== 'error')).toEqual([])
  })

  test.each(['openai-reasoning-encrypted-content.1', 'openai-phase.1', 'openai-custom-tool.1'])(
    '%s says the same however its bytes are cut',
    async (name) => {
      const bytes = Buffer.from(recorded(name).map(dataEvent).join(''))
      const { events } = await ask((exchange) => exchange.stream(recorded(name)))
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
          const sorted = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
          const read = await ask(async (exchange) => {
            await exchange.send('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n')
            for (const [position, cut] of sorted.entries()) await exchange.send(bytes.subarray(sorted[position - 1] ?? 0, cut))
            exchange.end()
          })
          expect(read.events).toEqual(events)
        }),
        { numRuns: 20 },
      )
    },
  )
})

describe('the upstream’s own text', () => {
  test('of each event goes to a client of this dialect, unchanged', async () => {
    const lines = recorded('openai-reasoning-encrypted-content.1')
    const { frames } = await ask((exchange) => exchange.stream(lines))
    expect(frames.map(({ native }) => native)).toEqual(lines.map((json) => ({ dialect: 'responses' as const, json })))
  })

  test('of a whole answer too', async () => {
    const json = recordedBody('openai-phase.1')
    const { frames } = await ask((exchange) => exchange.answer(200, json), { stream: false })
    expect(frames.map(({ native }) => native)).toEqual([{ dialect: 'responses', json }])
  })

  test('is one line, also where an event came in several', async () => {
    const { frames } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece('data: {"type":"response.completed",\ndata: "response":{"status":"completed"}}\n\n')
    })
    expect(frames.map(({ native }) => native?.json ?? '')).toEqual(['{"type":"response.completed","response":{"status":"completed"}}'])
  })

  test.each<[string, Script, Options]>([
    ['clients of other dialects', streaming(CREATED, saying('a'), ended()), { dialect: 'chat' }],
    ['clients that asked for a whole answer', streaming(CREATED, saying('a'), ended()), { stream: false }],
    ['clients that asked for a stream and get a whole answer', whole({ output: [] }), {}],
  ])('never goes to %s', async (_, script, options) => {
    const { frames, events } = await ask(script, options)
    expect(frames.some(({ native }) => native !== undefined)).toBe(false)
    expect(finishIn(events)).toEqual(['stop completed'])
  })

  test('never tells a failure', async () => {
    const { frames, error } = await ask(streaming(CREATED, { type: 'error', code: 'server_error', message: 'x', param: null }))
    expect(error?.type).toBe('server')
    expect(frames.map(({ native }) => native?.json.slice(0, 26) ?? null)).toEqual(['{"type":"response.created"', null])
  })
})

describe('a stream', () => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f' }
  const piece = (delta: string): object => ({ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta })
  const allArguments = { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"a":1}' }

  test.each<[string, object[]]>([
    [
      'in pieces',
      [
        item('added', 0, { ...call, arguments: '' }),
        piece('{"a"'),
        piece(':1}'),
        allArguments,
        item('done', 0, { ...call, arguments: '{"a":1}' }),
      ],
    ],
    ['whole at first', [item('added', 0, { ...call, arguments: '{"a":1}' })]],
    [
      'whole at first and at the end',
      [item('added', 0, { ...call, arguments: '{"a":1}' }), item('done', 0, { ...call, arguments: '{"a":1}' })],
    ],
    ['whole with the end of the arguments', [item('added', 0, { ...call, arguments: '' }), allArguments]],
    ['whole with the end of the item', [item('done', 0, { ...call, arguments: '{"a":1}' })]],
    [
      'in pieces whose end is missing',
      [item('added', 0, { ...call, arguments: '' }), piece('{"a":'), item('done', 0, { ...call, arguments: '{"a":1}' })],
    ],
    ['in the last event only', [item('added', 0, { ...call, arguments: '' }), ended({ output: [{ ...call, arguments: '{"a":1}' }] })]],
    [
      'with another id in each event',
      [
        item('added', 0, { ...call, arguments: '' }),
        { ...piece('{"a":1}'), item_id: 'x' },
        item('done', 0, { ...call, id: 'y', arguments: '{"a":1}' }),
      ],
    ],
  ])('tells arguments that come %s once', async (_, said) => {
    const { events } = await ask(streaming(CREATED, ...said, ended()))
    expect(argumentsIn(events)).toEqual({ 'call_1 f': '{"a":1}' })
    expect(finishIn(events)).toEqual(['tool_calls completed'])
  })

  test('keeps parallel calls apart, also an empty one', async () => {
    const { events } = await ask(
      streaming(
        CREATED,
        item('added', 0, { ...call, arguments: '' }),
        item('added', 1, { ...call, id: 'fc_2', call_id: 'call_2', arguments: '' }),
        { ...piece('{"b":2}'), output_index: 1, item_id: 'fc_2' },
        piece('{"a":1}'),
        item('done', 1, { ...call, id: 'fc_2', call_id: 'call_2', arguments: '{"b":2}' }),
        item('done', 2, { ...call, id: 'fc_3', call_id: 'call_3', arguments: '' }),
        ended(),
      ),
    )
    expect(argumentsIn(events)).toEqual({ 'call_1 f': '{"a":1}', 'call_2 f': '{"b":2}', 'call_3 f': '' })
  })

  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] }

  test.each<[string, object[]]>([
    ['in pieces', [saying('Hel'), saying('lo'), item('done', 0, message), ended({ output: [message] })]],
    ['with the item', [item('done', 0, message), ended({ output: [message] })]],
    ['with the last event', [ended({ output: [message] })]],
    ['in pieces of which the last is missing', [saying('Hel'), item('done', 0, message), ended({ output: [message] })]],
  ])('tells text that comes %s once', async (_, said) => {
    const { events } = await ask(streaming(CREATED, ...said))
    expect(textOf(events)).toBe('Hello')
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'resp_1', upstreamModel: 'one-1' })
  })

  test('that begins with content has a start all the same', async () => {
    const { events } = await ask(streaming(saying('a'), ended()))
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'finish'])
  })

  test('separates the parts of a summary by a blank line, and closes thinking without a proof', async () => {
    const summary = (summary_index: number, delta: string): object => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index,
      delta,
    })
    const done = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'One.' },
        { type: 'summary_text', text: 'Two.' },
        { type: 'summary_text', text: 'Three.' },
      ],
    }
    const { events } = await ask(streaming(CREATED, summary(0, 'On'), summary(0, 'e.'), summary(1, 'Two.'), item('done', 0, done), ended()))
    expect(textOf(events, 'reasoning')).toBe('One.\n\nTwo.\n\nThree.')
    expect(events.at(-2)).toEqual({ type: 'reasoning-end', proof: null })
  })

  test('tells thinking in full as what it is', async () => {
    const { events } = await ask(
      streaming(CREATED, { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm.' }, ended()),
    )
    expect(events[1]).toEqual({ type: 'reasoning', text: 'Hm.' })
  })

  test('tells an encrypted block without readable text, and nothing of an empty one', async () => {
    const { events } = await ask(
      streaming(
        CREATED,
        item('done', 0, { type: 'reasoning', id: 'rs_0', summary: [] }),
        item('done', 1, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gA' }),
        ended(),
      ),
    )
    expect(events.slice(1, -1)).toEqual([
      { type: 'reasoning-end', proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'gA', id: 'rs_1' } },
    ])
  })

  test('tells refusals, sources, probabilities, pictures, and what only this dialect has', async () => {
    const source = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
    const token = { token: 'a', logprob: -0.5, top_logprobs: [{ token: 'b', logprob: -1 }] }
    const { events } = await ask(
      streaming(
        CREATED,
        item('added', 0, { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }),
        item('done', 0, { type: 'web_search_call', id: 'ws_1', status: 'completed' }),
        { ...saying('a'), output_index: 1, logprobs: [token] },
        { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation: source },
        item('done', 1, {
          type: 'message',
          content: [{ type: 'output_text', text: 'a', logprobs: [token], annotations: [source, { type: 'file_citation', file_id: 'f' }] }],
        }),
        { type: 'response.refusal.delta', output_index: 2, content_index: 0, delta: 'No.' },
        item('done', 3, { type: 'image_generation_call', id: 'ig_1', result: 'AA==', output_format: 'webp' }),
        ended({ usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 4 }, output_tokens: 0 } }),
      ),
    )
    expect(events.slice(1)).toEqual([
      { type: 'unknown', kind: 'web_search_call' },
      { type: 'text', text: 'a' },
      { type: 'logprobs', content: [{ token: 'a', logprob: -0.5, bytes: null, top_logprobs: [{ token: 'b', logprob: -1, bytes: null }] }] },
      { type: 'citation', citation: { url: 'https://a.example', title: 'A', content: null, start: 0, end: 1 } },
      { type: 'unknown', kind: 'file_citation' },
      { type: 'refusal', text: 'No.' },
      { type: 'image', url: 'data:image/webp;base64,AA==' },
      { type: 'usage', usage: usageOf({ inputFresh: 6, inputCacheWrite5m: 4, webSearches: 1 }) },
      { type: 'finish', reason: 'stop', native: 'completed' },
    ])
  })

  test.each<[object, string]>([
    [ended(), 'stop completed'],
    [ended({ incomplete_details: { reason: 'max_output_tokens' } }, 'incomplete'), 'length max_output_tokens'],
    [ended({ incomplete_details: { reason: 'content_filter' } }, 'incomplete'), 'content_filter content_filter'],
    [ended({ incomplete_details: null }, 'incomplete'), 'length incomplete'],
  ])('that ends with %j finishes: %s', async (last, finish) => {
    expect(finishIn((await ask(streaming(CREATED, saying('a'), last))).events)).toEqual([finish])
  })

  test('may name its events outside of their data', async () => {
    const { events } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece('event: response.output_text.delta\ndata: {"delta":"a"}\n\nevent: response.completed\ndata: {"response":{}}\n\n')
    })
    expect([textOf(events), finishIn(events)]).toEqual(['a', ['stop completed']])
  })

  test('may end without the blank line of its last event', async () => {
    const { events, error } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(JSON.stringify(saying('a'))) + `data: ${JSON.stringify(ended())}`)
      await exchange.done()
    })
    expect([textOf(events), finishIn(events), error]).toEqual(['a', ['stop completed'], null])
  })

  const DONE = 'data: [DONE]\n\n'
  const begun = dataEvent(JSON.stringify(CREATED)) + dataEvent(JSON.stringify(saying('a')))

  test.each<[string, Script]>([
    ['ends cleanly', async (exchange) => (await exchange.head(200), await exchange.piece(begun), exchange.done())],
    ['ends with its end marker only', async (exchange) => (await exchange.head(200), await exchange.piece(begun + DONE), exchange.done())],
    [
      'ends within an event',
      async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: {"type":"resp`), exchange.done()),
    ],
    ['sends what is not JSON', async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: <html>\n\n`))],
    ['sends a list', async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: []\n\n`))],
  ])('that %s before its terminal event is a failure of the provider', async (_, script) => {
    const { events, error } = await ask(script)
    expect(error?.type).toBe('provider_unavailable')
    expect([textOf(events), finishIn(events)]).toEqual(['a', []])
  })

  test('whose connection is cut is a failure of the provider', async () => {
    const { events, error } = await ask(async (exchange) => (await exchange.head(200), await exchange.piece(begun), exchange.end()))
    expect([error?.type, finishIn(events)]).toEqual(['provider_unavailable', []])
  })
})

describe('a failure inside a 200', () => {
  test.each<[string, object, ErrorType]>([
    ['a flat event', { type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null }, 'rate_limit_exceeded'],
    ['a flat event without a code', { type: 'error', code: null, message: 'x', param: null }, 'provider_unavailable'],
    [
      'a nested event',
      { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'x' } },
      'context_length_exceeded',
    ],
    ['an event of a router', { type: 'response.error', error: { code: 'server_error', message: 'x' } }, 'server'],
    [
      'an event of the kind of an error',
      { type: 'error', error: { type: 'invalid_request_error', code: null, message: 'x' } },
      'invalid_request',
    ],
    ['an error without a type', { error: { code: 503, message: 'x' } }, 'provider_overloaded'],
    ['a failed response', ended({ error: { code: 'server_error', message: 'x' } }, 'failed'), 'server'],
    [
      'a failed response that a router typed',
      ended({ error: { code: 'server_error', message: 'x' }, error_type: 'provider_overloaded' }, 'failed'),
      'provider_overloaded',
    ],
    [
      'a failed response of an empty account',
      ended({ error: { code: 'insufficient_quota', message: 'x' } }, 'failed'),
      'provider_unavailable',
    ],
    ['a failed response that says nothing', ended({ error: null }, 'failed'), 'provider_unavailable'],
    [
      'a completed response that failed',
      { type: 'response.completed', response: { status: 'failed', error: { code: 'invalid_image', message: 'x' } } },
      'invalid_image',
    ],
    ['a cancelled response', ended({ error: null }, 'cancelled'), 'provider_unavailable'],
  ])('as %s ends the stream, and what was said before it counts', async (_, event, type) => {
    const { events, error } = await ask(streaming(CREATED, saying('a'), event, saying('b'), ended()))
    expect([error?.type, error?.metadata['provider_name'], textOf(events), finishIn(events)]).toEqual([type, 'Acme', 'a', []])
  })

  test('tells nothing of the request that the response echoes, and what was used', async () => {
    const { error, events } = await ask(
      streaming(
        CREATED,
        ended({ instructions: 'secret', error: { code: 'server_error', message: 'x' }, usage: { input_tokens: 5 } }, 'failed'),
      ),
    )
    expect(String(error?.metadata['raw'])).not.toContain('secret')
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 5 }))
  })

  test.each<[string, string, ErrorType]>([
    ['an error alone', '{"error":{"code":"rate_limit_exceeded","message":"x"}}', 'rate_limit_exceeded'],
    ['a failed response', '{"status":"failed","output":[],"error":{"code":"image_too_small","message":"x"}}', 'image_too_small'],
    ['a response that goes on', '{"status":"in_progress","output":[]}', 'provider_unavailable'],
    ['no output', '{"id":"resp_1"}', 'provider_unavailable'],
    ['a list', '[]', 'provider_unavailable'],
    ['nothing', '', 'provider_unavailable'],
    ['HTML', '<html>', 'provider_unavailable'],
  ])('as a whole body of %s', async (_, body, type) => {
    const { error, events } = await ask((exchange) => exchange.answer(200, body), { stream: false })
    expect([error?.type, finishIn(events)]).toEqual([type, []])
  })
})

describe('a status that is not 200', () => {
  test.each<[number, string, ErrorType]>([
    [400, '{"error":{"message":"x","type":"invalid_request_error","param":"input","code":null}}', 'invalid_request'],
    [400, '{"error":{"message":"x","code":"context_length_exceeded"}}', 'context_length_exceeded'],
    [400, '{"error":{"message":"Your input exceeds the context window of this model."}}', 'context_length_exceeded'],
    [400, '{"error":{"message":"x","code":"string_above_max_length"}}', 'string_too_long'],
    [400, '{"error":{"message":"x","code":"invalid_prompt"}}', 'invalid_prompt'],
    [400, '{"error":{"message":"Flagged as potentially violating our usage policy.","code":"invalid_prompt"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"invalid_encrypted_content"}}', 'invalid_prompt'],
    [400, '{"error":{"message":"x","code":"content_policy_violation"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"image_content_policy_violation"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"bio_policy"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"invalid_image"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"image_parse_error"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"invalid_base64_image"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"empty_image_file"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"invalid_image_url"}}', 'image_not_found'],
    [400, '{"error":{"message":"x","code":"image_file_not_found"}}', 'image_not_found'],
    [400, '{"error":{"message":"x","code":"invalid_image_format"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"invalid_image_mode"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"unsupported_image_media_type"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"image_too_large"}}', 'image_too_large'],
    [400, '{"error":{"message":"x","code":"image_file_too_large"}}', 'image_too_large'],
    [400, '{"error":{"message":"x","code":"image_too_small"}}', 'image_too_small'],
    [400, '{"error":{"message":"x","code":"failed_to_download_image"}}', 'image_download_failed'],
    [400, '{"error":{"message":"x","code":"toString"}}', 'invalid_request'],
    [401, '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}', 'provider_unavailable'],
    [403, '', 'provider_unavailable'],
    [403, '{"error":{"code":403,"message":"x","metadata":{"error_type":"permission_denied"}}}', 'provider_unavailable'],
    [404, '{"error":{"message":"x","code":"model_not_found"}}', 'not_found'],
    [408, '', 'timeout'],
    [429, '{"error":{"message":"x","type":"tokens","code":"rate_limit_exceeded"}}', 'rate_limit_exceeded'],
    [429, '{"error":{"message":"x","code":"insufficient_quota"}}', 'provider_unavailable'],
    [429, '', 'rate_limit_exceeded'],
    [500, '{"error":{"message":"x","type":"server_error","code":null}}', 'server'],
    [502, '<html><h1>Bad Gateway</h1></html>', 'provider_unavailable'],
    [503, '{"error":{"message":"x","code":"slow_down"}}', 'provider_overloaded'],
    [504, '', 'timeout'],
    [
      400,
      '{"id":"gen-1","status":"failed","error":{"code":"server_error","message":"x"},"error_type":"unsupported_image_format"}',
      'unsupported_image_format',
    ],
  ])('%d %s is %s, whether a stream was asked for or not', async (status, body, type) => {
    for (const stream of [true, false]) {
      const { error, frames } = await ask((exchange) => exchange.answer(status, body), { stream })
      expect([error?.type, error?.metadata['provider_name'], frames]).toEqual([type, 'Acme', []])
    }
  })

  test('tells when to come back', async () => {
    const { error } = await ask((exchange) =>
      exchange.answer(429, '{"error":{"code":"rate_limit_exceeded","message":"x"}}', { 'retry-after': '7' }),
    )
    expect([error?.retryAfterSeconds, error?.metadata['provider_code']]).toEqual([7, 'rate_limit_exceeded'])
  })

  test('keeps our credential to itself', async () => {
    const { error } = await ask((exchange) => exchange.answer(400, JSON.stringify({ error: { message: `Bad: ${API_KEY}` } })))
    expect(JSON.stringify([error?.message, error?.metadata])).not.toContain(API_KEY)
  })
})

test.each<[object, boolean]>([
  [ended(), true],
  [ended({}, 'incomplete'), true],
  [ended({ error: null }, 'failed'), false],
])('after %j the connection may be used again: %p', async (last, expected) => {
  let complete = false
  const bytes = Buffer.from(dataEvent(JSON.stringify(last)))
  const frames = openaiResponses(attemptOf({}), {
    clock: createFakeClock(),
    upstream: {
      post: async () => ({
        status: 200,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        async *pieces() {
          yield bytes
        },
        complete: () => (complete = true),
        text: () => Promise.reject(new Error('A stream is read in pieces.')),
        beginning: () => Promise.reject(new Error('A stream is read in pieces.')),
      }),
    },
  })
  for await (const _ of frames);
  expect(complete).toBe(expected)
})
