import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { piecesOf } from '../../../test/support/pieces.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { dataEvent, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import { usageOf } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { openaiResponses } from './openai-responses.ts'
import {
  API_KEY,
  attemptOf,
  asking,
  streaming,
  whole,
  textOf,
  usageIn,
  finishIn,
  argumentsIn,
  recordedBody,
  recorded,
  CREATED,
  ended,
  saying,
  type Options,
} from './ask.test-kit.ts'

const upstream = await startFakeUpstream()
const ask = asking(upstream)

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
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 865, output: 35, outputReasoning: 128, servedTier: 'default' }))
    expect(finishIn(events)).toEqual(['stop completed'])
  })

  test('two messages with phases: each said once, though the last event repeats them', async () => {
    const { events } = await ask((exchange) => exchange.stream(recorded('openai-phase.1')))
    expect(textOf(events)).toMatch(/^Got it/)
    expect(textOf(events).match(/Here are a few/g)?.length).toBe(1)
    expect(events[0]).toEqual({
      type: 'start',
      upstreamId: 'resp_0a63f40a2632b74300699f8818e5648196a8fa657ae8091421',
    })
  })

  test.each([true, false])('a tool that takes any text, stream: %p', async (stream) => {
    const { events } = await ask(
      (exchange) =>
        stream ? exchange.stream(recorded('openai-custom-tool.1')) : exchange.answer(200, recordedBody('openai-custom-tool.1')),
      { stream },
    )
    expect(events.filter(({ type }) => type === 'tool-call')).toEqual([
      { type: 'tool-call', index: 0, id: 'call_custom_sql_001', name: 'write_sql', custom: true },
    ])
    const pieces = events.flatMap((event) => (event.type === 'tool-arguments' ? [event.json] : []))
    expect(pieces.join('')).toBe('SELECT * FROM users WHERE age > 25')
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 50, output: 20 }))
    expect(finishIn(events)).toEqual(['tool_calls completed'])
  })

  test.each([true, false])('an empty account of ours, stream: %p', async (stream) => {
    const { error, events } = await ask(
      (exchange) => (stream ? exchange.stream(recorded('openai-error.1')) : exchange.answer(429, recordedBody('openai-error.1'))),
      { stream },
    )
    expect([error?.type, error?.metadata['provider_code']]).toEqual(['provider_unavailable', 'insufficient_quota'])
    expect(events.filter(({ type }) => type !== 'start')).toEqual([])
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

  const searched = {
    type: 'tool_search_call',
    id: 'tsc_1',
    call_id: null,
    execution: 'server',
    status: 'completed',
    arguments: { paths: ['tools'] },
  }
  const asked = JSON.stringify({ id: 'resp_1', status: 'completed', output: [searched] })
  test('of a search for tools too, whose arguments are an object', async () => {
    const whole = await ask((exchange) => exchange.answer(200, asked), { stream: false })
    expect(whole.frames.map(({ native }) => native?.json)).toEqual([asked])

    const lines = [
      JSON.stringify({ type: 'response.output_item.done', output_index: 0, item: searched }),
      JSON.stringify({ type: 'response.completed', response: JSON.parse(asked) as object }),
    ]
    const { frames } = await ask((exchange) => exchange.stream(lines))
    expect(frames.slice(-2).map(({ native }) => native?.json)).toEqual(lines)
  })

  test('is one line, also where an event came in several', async () => {
    const { frames } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece('data: {"type":"response.completed",\ndata: "response":{"status":"completed"}}\n\n')
    })
    expect(frames.at(-1)?.native?.json).toBe('{"type":"response.completed","response":{"status":"completed"}}')
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
    expect(frames.map(({ native }) => native?.json.slice(0, 26) ?? null)).toEqual(['{"type":"response.created"'])
  })
})

test.each<[object, boolean]>([
  [ended(), true],
  [ended({}, 'incomplete'), true],
  [ended({ error: null }, 'failed'), false],
])('after %j the connection may be used again: %p', async (last, expected) => {
  let complete = false
  const bytes = Buffer.from(dataEvent(JSON.stringify(last)))
  const context = {
    clock: createFakeClock(),
    upstream: {
      post: async () => ({
        status: 200,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        pieces: () => piecesOf([bytes]),
        complete: () => (complete = true),
        text: () => Promise.reject(new Error('A stream is read in pieces.')),
        beginning: () => Promise.reject(new Error('A stream is read in pieces.')),
      }),
    },
  }
  const failure = await openaiResponses(attemptOf(upstream.url), context, () => undefined).catch((thrown: unknown) => thrown)
  expect([complete, failure instanceof GatewayError]).toEqual([expected, !expected])
})
