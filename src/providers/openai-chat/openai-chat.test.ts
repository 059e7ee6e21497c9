import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'

import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import {
  dataEvent,
  FINISH_CHUNK,
  proseAnswer,
  proseChunk,
  recordedBody,
  recordedLines,
  startFakeUpstream,
  type Script,
} from '../../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { createUpstream } from '../transport/upstream.ts'
import { targetOf } from './encode.test-kit.ts'
import { openaiChat } from './openai-chat.ts'
import { atOnce } from '../../lib/steps.ts'

const upstream = await startFakeUpstream()

const API_KEY = 'acme-secret-key-0123456789'
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly frames: readonly Frame[]
  readonly events: readonly ModelEvent[]
  /** The error that the adapter threw. */
  readonly error: GatewayError | null
  readonly batches: number
}

interface Asked {
  readonly clock: FakeClock
  readonly connection: AbortController
  readonly firstBatch: Promise<void>
  readonly read: Promise<Read>
}

const begin = (script: Script, { stream = true, baseUrl = upstream.url }: { stream?: boolean; baseUrl?: string } = {}): Asked => {
  upstream.script(script)
  const clock = createFakeClock()
  const connection = new AbortController()
  const body = JsonBody.read(JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }], stream }))
  const answer = pulled((take) =>
    openaiChat(
      {
        call: atOnce(chatFormat.parseCall(body)).call,
        target: { ...targetOf('acme'), baseUrl, apiKey: API_KEY },
        number: 0,
        warn: () => undefined,
        connection,
      },
      { upstream: createUpstream(clock, TIMEOUTS), clock },
      take,
    ),
  )
  let saw: () => void = () => undefined
  const firstBatch = new Promise<void>((resolve) => (saw = resolve))
  const read = async (): Promise<Read> => {
    const frames: Frame[] = []
    let batches = 0
    let error: GatewayError | null = null
    try {
      for await (const batch of answer) {
        frames.push(...batch)
        batches += 1
        saw()
      }
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      error = thrown
    }
    const events = frames.flatMap(({ events }) => events)
    return { frames, events, batches, error }
  }
  return { clock, connection, firstBatch, read: read() }
}

const ask = (script: Script, options?: { stream?: boolean; baseUrl?: string }): Promise<Read> => begin(script, options).read

const textOf = (events: readonly ModelEvent[], type: 'text' | 'reasoning' | 'refusal' = 'text'): string =>
  events.map((event) => (event.type === type ? event.text : '')).join('')

const usageIn = (events: readonly ModelEvent[]): Usage | undefined => events.findLast((event) => event.type === 'usage')?.usage

const finishIn = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'finish' ? [`${event.reason} ${event.native}`] : []))

const callsIn = (events: readonly ModelEvent[]): { id: string; name: string; arguments: string }[] => {
  const calls: { id: string; name: string; arguments: string }[] = []
  for (const event of events) {
    if (event.type === 'tool-call') calls[event.index] = { id: event.id, name: event.name, arguments: '' }
    const open = event.type === 'tool-arguments' ? calls[event.index] : undefined
    if (event.type === 'tool-arguments' && open !== undefined) open.arguments += event.json
  }
  return calls
}

/** A stream in one piece, with a clean end. */
const streaming =
  (bytes: string, type = 'text/event-stream'): Script =>
  async (exchange) => {
    await exchange.head(200, { 'content-type': type })
    await exchange.piece(bytes)
    await exchange.done()
  }

const chunk = (delta: object, more: object = {}): string =>
  JSON.stringify({ id: 'up-1', model: 'one-1', choices: [{ index: 0, delta, finish_reason: null }], ...more })

const said = (...lines: readonly string[]): string => lines.map(dataEvent).join('')

const CUT_CALL =
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"path\\":\\"/etc"}}]},"finish_reason":null}]}'
const SECOND = '{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":null}]}'
const SECOND_ENDS = '{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}'

describe('the request', () => {
  test('is a POST of the body to the chat path, with our key, and asks for no compression', async () => {
    await ask((exchange) => exchange.stream([proseChunk('Hi'), FINISH_CHUNK]))
    const { path, headers, body } = upstream.last
    expect(path).toBe('/v1/chat/completions')
    expect(headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
    })
    expect(body).toEqual({
      model: 'one-1',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('asks for JSON where no stream was asked for', async () => {
    await ask((exchange) => exchange.answer(200, proseAnswer('Hi')), { stream: false })
    expect(upstream.last.headers['accept']).toBe('application/json')
  })
})

test('a whole answer that a router failed keeps what was said before, even if the failure is sent twice', async () => {
  const error = { code: 503, message: 'Too busy.', metadata: { error_type: 'provider_overloaded' } }
  const choice = { index: 0, message: { role: 'assistant', content: 'Half' }, finish_reason: 'error', error }
  const body = JSON.stringify({ id: 'gen-1', choices: [choice], error })
  const { events, error: failure } = await ask((exchange) => exchange.answer(200, body), { stream: false })
  expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(['Half'])
  expect([failure?.type, failure?.message]).toEqual(['provider_overloaded', 'Acme: Too busy.'])
})

describe('a status that is not 200', () => {
  test.each<[number, string, ErrorType]>([
    [301, '', 'provider_unavailable'],
    [400, '{"error":{"message":"temperature: too hot","type":"invalid_request_error","code":null}}', 'invalid_request'],
    [400, '{"error":{"message":"Too long.","code":"context_length_exceeded"}}', 'context_length_exceeded'],
    [400, '{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}', 'context_length_exceeded'],
    [400, '{"error":{"code":"string_above_max_length","message":"x"}}', 'string_too_long'],
    [400, '{"error":{"code":"content_policy_violation","message":"x"}}', 'content_policy_violation'],
    [400, '{"error":{"code":"content_filter","message":"x"}}', 'content_policy_violation'],
    [400, '{"error":{"code":"invalid_image_format","message":"x"}}', 'unsupported_image_format'],
    [400, '{"error":{"code":"image_too_large","message":"x"}}', 'image_too_large'],
    [400, '{"error":{"code":"failed_to_download_image","message":"x"}}', 'image_download_failed'],
    [401, '{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-12345678901234567890"}}', 'provider_unavailable'],
    [402, '{"error":{"message":"Pay."}}', 'provider_unavailable'],
    [403, '{"error":{"message":"No."}}', 'provider_unavailable'],
    [404, '{"error":{"code":"model_not_found","message":"x"}}', 'not_found'],
    [404, '', 'not_found'],
    [405, '', 'invalid_request'],
    [408, '', 'timeout'],
    [409, '', 'provider_unavailable'],
    [412, '', 'precondition_failed'],
    [413, '', 'payload_too_large'],
    [422, '{"detail":"Not like this."}', 'unprocessable'],
    [429, '{"error":{"code":"rate_limit_exceeded","message":"x"}}', 'rate_limit_exceeded'],
    [429, '{"error":{"code":"insufficient_quota","message":"x"}}', 'provider_unavailable'],
    [500, '{"error":{"code":"server_error","message":"x"}}', 'server'],
    [501, '', 'provider_unavailable'],
    [502, '<html><h1>Bad Gateway</h1></html>', 'provider_unavailable'],
    [503, '', 'provider_overloaded'],
    [504, '', 'timeout'],
    [520, '', 'provider_unavailable'],
    [524, '', 'timeout'],
    [529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', 'provider_overloaded'],
    [400, '{"error":{"code":400,"message":"x","metadata":{"error_type":"invalid_image"}}}', 'invalid_image'],
    [402, '{"error":{"code":402,"message":"x","metadata":{"error_type":"payment_required"}}}', 'provider_unavailable'],
    [401, '{"error":{"code":401,"message":"x","metadata":{"error_type":"authentication"}}}', 'provider_unavailable'],
    [503, '{"error":{"code":503,"message":"x","metadata":{"error_type":"no_such_type"}}}', 'provider_overloaded'],
  ])('%d %s is %s, whether a stream was asked for or not', async (status, body, type) => {
    for (const stream of [true, false]) {
      const { error, frames } = await ask((exchange) => exchange.answer(status, body), { stream })
      expect(error?.type).toBe(type)
      expect(frames).toEqual([])
      expect(error?.metadata['provider_name']).toBe('Acme')
    }
  })

  test.each<[string, number, string, string]>([
    ['its own sentence', 400, '{"error":{"message":"temperature: too hot"}}', 'Acme: temperature: too hot'],
    ['the sentence of an error that is one', 400, '{"error":"no such thing"}', 'Acme: no such thing'],
    ['a detail', 422, '{"detail":"Not like this."}', 'Acme: Not like this.'],
    ['its status, for HTML', 502, '<html>', 'Acme answered with status 502.'],
    ['its status, for nothing', 503, '', 'Acme answered with status 503.'],
    ['its status, for JSON that says nothing', 503, '{"error":{}}', 'Acme answered with status 503.'],
    ['its status, for a list', 503, '[1]', 'Acme answered with status 503.'],
    [
      'that our credential was refused',
      401,
      '{"error":{"message":"Incorrect API key"}}',
      'Acme refused the credential that this service holds for it (status 401).',
    ],
  ])('says %s', async (_, status, body, message) => {
    expect((await ask((exchange) => exchange.answer(status, body))).error?.message).toBe(message)
  })

  test.each<[number, ErrorType]>([
    [400, 'invalid_request'],
    [429, 'rate_limit_exceeded'],
    [503, 'provider_overloaded'],
  ])('%d with a body without end is still that status, and little of it is kept', async (status, type) => {
    const { error } = await ask(async (exchange) => {
      await exchange.head(status, { 'content-type': 'text/html' })
      for (let piece = 0; piece < 40; piece += 1) await exchange.piece('x'.repeat(16 * 1024))
    })
    expect(error?.type).toBe(type)
    expect(String(error?.metadata['raw']).length).toBe(4096)
    await upstream.last.gone
  })

  test('tells the code of the provider, bounded', async () => {
    const { error } = await ask((exchange) =>
      exchange.answer(400, `{"error":{"message":"${'m'.repeat(5000)}","code":"${'c'.repeat(5000)}"}}`),
    )
    expect(String(error?.metadata['provider_code']).length).toBe(200)
    expect(error?.message.length).toBeLessThan(1100)
  })

  test('our credential and what looks like one are in neither the message nor the metadata', async () => {
    const leak = `${API_KEY} sk-proj-abcdefghijklmnop Bearer abc.def AIzaSyA1234567890123456789012345`
    const { error } = await ask((exchange) => exchange.answer(400, JSON.stringify({ error: { message: leak, code: API_KEY } })))
    const shown = `${error?.message} ${JSON.stringify(error?.metadata)}`
    for (const secret of [API_KEY, 'sk-proj', 'abc.def', 'AIza']) expect(shown).not.toContain(secret)
  })

  test.each<[string, number | undefined]>([
    ['7', 7],
    ['0', 0],
    [' 12 ', 12],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30],
    ['Fri, 20 Nov 2026 10:00:00 GMT', 0],
    ['Fri, 20 Nov 2026 09:59:00 GMT', undefined],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', 2],
    ['', undefined],
    ['1e3', undefined],
    ['99999999999', undefined],
  ])('Retry-After: %s is %p whole seconds', async (header, seconds) => {
    const { error } = await ask((exchange) => exchange.answer(429, '', { 'retry-after': header }))
    expect(error?.retryAfterSeconds).toBe(seconds as number)
  })
})

describe('a stream', () => {
  test('is passed on as its own text, in the pieces in which it came', async () => {
    const lines = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'a' }), FINISH_CHUNK]
    const { frames, events, error } = await ask((exchange) => exchange.stream(lines))
    expect(frames.map(({ native }) => native?.json ?? '')).toEqual(lines)
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'up-1' })
    expect([textOf(events), finishIn(events), error]).toEqual(['a', ['stop stop'], null])
  })

  test('is not passed on as text where the client asked for a whole answer', async () => {
    const { frames, events } = await ask((exchange) => exchange.stream([proseChunk('Hi'), FINISH_CHUNK]), { stream: false })
    expect(frames.every(({ native }) => native === undefined)).toBe(true)
    expect(textOf(events)).toBe('Hi')
  })

  test.each(['text/event-stream', 'text/event-stream; charset=utf-8', 'Text/Event-Stream'])('is known by its type: %s', async (type) => {
    expect(textOf((await ask(streaming(said(proseChunk('Hi'), FINISH_CHUNK, '[DONE]'), type))).events)).toBe('Hi')
  })

  test.each<[string, string, boolean]>([
    ['with a finish and [DONE]', said(proseChunk('a'), FINISH_CHUNK, '[DONE]'), true],
    ['with a finish and without [DONE]', said(proseChunk('a'), FINISH_CHUNK), true],
    ['with a last event that lacks its blank line, and is the finish', said(proseChunk('a')) + `data: ${FINISH_CHUNK}`, true],
    ['with [DONE] without its blank line', `${said(proseChunk('a'), FINISH_CHUNK)}data: [DONE]`, true],
    ['with comments and empty events', `: hello\n\ndata:\n\n${said(proseChunk('a'))}: x\n\n${said(FINISH_CHUNK, '[DONE]')}`, true],
    ['without a finish, but with [DONE]', said(proseChunk('a'), '[DONE]'), true],
    ['without a finish', said(proseChunk('a')), false],
    ['with a last event that lacks its blank line, and is no finish', said(proseChunk('a')) + `data: ${proseChunk('b')}`, false],
    ['with nothing at all', '', false],
    ['with a second choice that ends behind the first', said(proseChunk('a'), SECOND, FINISH_CHUNK, SECOND, SECOND_ENDS), true],
    ['with a second choice that never ends, and [DONE]', said(proseChunk('a'), SECOND, FINISH_CHUNK, '[DONE]'), true],
    ['without a finish, in the middle of a call, but with [DONE]', said(CUT_CALL, '[DONE]'), false],
    ['stopped early by Groq', said(proseChunk('a'), '{"choices":[],"x_groq":{"error":"over capacity"}}', '[DONE]'), false],
    ['with [DONE] alone', said('[DONE]'), false],
    ['in the middle of an event', said(proseChunk('a')) + `data: ${FINISH_CHUNK.slice(0, -2)}`, false],
  ])('ends well or not: %s', async (_, bytes, well) => {
    const { error, events } = await ask(streaming(bytes))
    expect(error?.type ?? null).toBe(well ? null : 'provider_unavailable')
    expect(finishIn(events)).toHaveLength(well ? 1 : 0)
  })

  test.each<[string, readonly string[]]>([
    ['cut', [SECOND]],
    ['failed', ['{"error":{"message":"Busy."}}', '[DONE]']],
  ])('fails if a second choice is %s after the end of the first', async (_, rest) => {
    const { error } = await ask(streaming(said(proseChunk('a'), SECOND, FINISH_CHUNK, ...rest)))
    expect(error?.type).toBe('provider_unavailable')
  })

  test('has nothing of what comes after [DONE]', async () => {
    const { events, error } = await ask(
      streaming(said(proseChunk('a'), FINISH_CHUNK, '[DONE]', proseChunk('never'), '{"error":{"message":"never"}}')),
    )
    expect(textOf(events)).toBe('a')
    expect(error).toBeNull()
  })

  test.each<[string, string, ErrorType, string]>([
    ['an object', '{"error":{"code":429,"message":"Slow down."}}', 'rate_limit_exceeded', 'Acme: Slow down.'],
    ['with a code in text', '{"error":{"code":"503","message":"Busy."}}', 'provider_overloaded', 'Acme: Busy.'],
    [
      'typed by a router',
      '{"error":{"code":502,"message":"Busy.","metadata":{"error_type":"provider_overloaded"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}',
      'provider_overloaded',
      'Acme: Busy.',
    ],
    ['without a code', '{"error":{"message":"Something."}}', 'provider_unavailable', 'Acme: Something.'],
    ['a sentence alone', '{"error":"model crashed"}', 'provider_unavailable', 'Acme: model crashed'],
    [
      'the end of a choice',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":504,"message":"Late."}}]}',
      'timeout',
      'Acme: Late.',
    ],
    [
      'the status of MiniMax',
      '{"choices":null,"base_resp":{"status_code":1027,"status_msg":"output new_sensitive"}}',
      'content_policy_violation',
      'Acme: output new_sensitive',
    ],
    ['not JSON', 'oops', 'provider_unavailable', 'Acme sent a stream event that is not JSON.'],
    ['not an object', '[1]', 'provider_unavailable', 'Acme sent a stream event that is not an object.'],
  ])('an error chunk is a failure, first or later: %s', async (_, line, type, message) => {
    for (const before of [[], [proseChunk('a')]]) {
      const { error, events } = await ask(streaming(said(...before, line, proseChunk('never'), FINISH_CHUNK, '[DONE]')))
      expect([error?.type, error?.message]).toEqual([type, message])
      expect(textOf(events)).toBe(before.length === 0 ? '' : 'a')
      expect(finishIn(events)).toEqual([])
    }
  })

  test('an event named error is a failure, whatever is in it', async () => {
    const { error } = await ask(streaming(`event: error\ndata: {"message":"Broken."}\n\n${said(FINISH_CHUNK, '[DONE]')}`))
    expect([error?.type, error?.message]).toEqual(['provider_unavailable', 'Acme: Broken.'])
  })

  test('null is no error', async () => {
    const { error, events } = await ask(streaming(said(chunk({ content: 'a' }, { error: null }), FINISH_CHUNK, '[DONE]')))
    expect([error, textOf(events)]).toEqual([null, 'a'])
  })

  test.each<[string, string]>([
    ['a line', `data: ${'x'.repeat(9 * 1024 * 1024)}`],
    ['the lines of an event', 'data: x\n'.repeat(10_001)],
    ['an event at the end of the bytes', `data: ${'x'.repeat(6 * 1024 * 1024)}\n`.repeat(3)],
  ])('over a limit is the provider’s failure: %s', async (_, bytes) => {
    expect((await ask(streaming(bytes))).error?.type).toBe('provider_unavailable')
  })

  test('characters that are cut between pieces come out whole', async () => {
    const bytes = Buffer.from(said(chunk({ content: '日本語😀' }), FINISH_CHUNK, '[DONE]'))
    const { events } = await ask(async (exchange) => {
      await exchange.head(200)
      for (const byte of bytes) await exchange.send(Buffer.from([49, 13, 10, byte, 13, 10])) // a chunk of one byte
      await exchange.done()
    })
    expect(textOf(events)).toBe('日本語😀')
  })
})

describe('usage stands', () => {
  const counts = { prompt_tokens: 10, completion_tokens: 6, total_tokens: 16 }
  const finishChoice = { index: 0, delta: {}, finish_reason: 'stop' }
  test.each<[string, string[]]>([
    ['beside the choices', [chunk({ content: 'a' }), JSON.stringify({ choices: [finishChoice], usage: counts })]],
    ['in a last chunk without choices', [chunk({ content: 'a' }), FINISH_CHUNK, JSON.stringify({ choices: [], usage: counts })]],
    ['inside the choice', [chunk({ content: 'a' }), JSON.stringify({ choices: [{ ...finishChoice, usage: counts }] })]],
    ['in a field of the vendor', [chunk({ content: 'a' }), JSON.stringify({ choices: [finishChoice], x_groq: { usage: counts } })]],
  ])('%s', async (_, lines) => {
    const { events } = await ask((exchange) => exchange.stream(lines))
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 10, output: 6 }))
  })

  test('nowhere: none is made up', async () => {
    expect(usageIn((await ask((exchange) => exchange.stream([proseChunk('a'), FINISH_CHUNK]))).events)).toBeUndefined()
  })
})

describe('a whole answer', () => {
  test('is passed on as its own text', async () => {
    const { frames, events } = await ask((exchange) => exchange.answer(200, proseAnswer('Hi')), { stream: false })
    expect(frames.map(({ native }) => native?.json ?? '')).toEqual([proseAnswer('Hi')])
    expect([textOf(events), finishIn(events), usageIn(events)]).toEqual(['Hi', ['stop stop'], usageOf({ inputFresh: 7, output: 3 })])
  })

  test('to a stream request is an answer, and not passed on as text', async () => {
    const { frames, events } = await ask((exchange) => exchange.answer(200, proseAnswer('Hi')))
    expect(frames.map(({ native }) => native)).toEqual([undefined])
    expect([textOf(events), finishIn(events)]).toEqual(['Hi', ['stop stop']])
  })

  test('that does not say how it ended has ended', async () => {
    const { events } = await ask((exchange) => exchange.answer(200, '{"choices":[{"message":{"content":"Hi"}}]}'), { stream: false })
    expect([textOf(events), finishIn(events)]).toEqual(['Hi', ['stop null']])
  })

  test.each<[string, string, ErrorType]>([
    ['HTML', '<html></html>', 'provider_unavailable'],
    ['nothing', '', 'provider_unavailable'],
    ['cut JSON', '{"choices":[', 'provider_unavailable'],
    ['null', 'null', 'provider_unavailable'],
    ['a list', '[]', 'provider_unavailable'],
    ['no choices', '{}', 'provider_unavailable'],
    ['empty choices', '{"choices":[]}', 'provider_unavailable'],
    ['choices that are none', '{"choices":{}}', 'provider_unavailable'],
    ['an error', '{"error":{"code":429,"message":"x"}}', 'rate_limit_exceeded'],
    ['an error that is a sentence', '{"error":"broken"}', 'provider_unavailable'],
    ['the status of MiniMax', '{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}', 'rate_limit_exceeded'],
    [
      'an error beside choices',
      '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"error":{"code":503,"message":"x"}}',
      'provider_overloaded',
    ],
  ])('that is %s is a failure', async (_, body, type) => {
    const { error, frames } = await ask((exchange) => exchange.answer(200, body), { stream: false })
    expect([error?.type, frames.length]).toEqual([type, 0])
  })

  test('with the status of MiniMax for an answer without a fault is one', async () => {
    const body = '{"choices":[{"message":{"content":"Hi"}}],"base_resp":{"status_code":0,"status_msg":""}}'
    const { error, events } = await ask((exchange) => exchange.answer(200, body), { stream: false })
    expect([error, textOf(events)]).toEqual([null, 'Hi'])
  })

  test('of a router that failed keeps what was said before the failure', async () => {
    const body = JSON.stringify({
      id: 'up-1',
      choices: [
        {
          index: 0,
          message: { content: 'partial' },
          finish_reason: 'error',
          error: { code: 502, message: 'Broke off.', metadata: { error_type: 'provider_unavailable' } },
        },
      ],
    })
    const { error, events, frames } = await ask((exchange) => exchange.answer(200, body), { stream: false })
    expect([textOf(events), finishIn(events), error?.type, error?.message]).toEqual([
      'partial',
      [],
      'provider_unavailable',
      'Acme: Broke off.',
    ])
    expect(frames.every(({ native }) => native === undefined)).toBe(true)
  })
})

describe('the connection', () => {
  test('refused is a failure that names no address', async () => {
    const { error } = await ask(() => undefined, { baseUrl: 'http://127.0.0.1:1/v1' })
    expect(error?.type).toBe('provider_unavailable')
    expect(error?.message).not.toContain('127.0.0.1')
  })

  test.each<[string, Script]>([
    ['before the answer', (exchange) => exchange.reset()],
    ['in the headers', async (exchange) => (await exchange.send('HTTP/1.1 200 OK\r\ncontent-'), exchange.reset())],
    ['in a stream', async (exchange) => (await exchange.head(200), await exchange.piece(said(proseChunk('a'))), exchange.reset())],
    ['in a stream, politely', async (exchange) => (await exchange.head(200), await exchange.piece(said(proseChunk('a'))), exchange.end())],
    [
      'in a whole body',
      async (exchange) => (
        await exchange.send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"choices":'),
        exchange.end()
      ),
    ],
    ['with bytes that are not HTTP', async (exchange) => (await exchange.send('nonsense\r\n\r\n'), exchange.end())],
  ])('cut %s is a failure', async (_, script) => {
    expect((await ask(script)).error?.type).toBe('provider_unavailable')
  })

  test('a redirect is not followed: the key stays where the operator sent it', async () => {
    const before = upstream.exchanges.length
    const { error } = await ask((exchange) => exchange.answer(307, '', { location: `${upstream.url}/elsewhere` }))
    expect([error?.type, upstream.exchanges.length - before]).toEqual(['provider_unavailable', 1])
  })

  test.each<[boolean, number]>([
    [true, TIMEOUTS.streamHeadersMs],
    [false, TIMEOUTS.wholeHeadersMs],
  ])('without headers in time is a timeout (stream: %p)', async (stream, limitMs) => {
    let reached: () => void = () => undefined
    const received = new Promise<void>((resolve) => (reached = resolve))
    const { clock, read } = begin(() => reached(), { stream })
    await received
    clock.advance(limitMs - 1)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    expect((await read).error).toMatchObject({ type: 'timeout', status: 504 })
    await upstream.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('is closed when the request is aborted, and the reason is what is thrown', async () => {
    const { connection, read, clock, firstBatch } = begin(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(said(proseChunk('a')))
    })
    await firstBatch
    const reason = new GatewayError('timeout', 'The client closed the connection.')
    connection.abort(reason)
    expect((await read).error).toBe(reason)
    await upstream.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('a compressed bomb is not unpacked beyond the limit of a body', async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024, 32))
    const { error } = await ask(
      async (exchange) => {
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
        await exchange.send(Buffer.concat([Buffer.from(head), bomb]))
      },
      { stream: false },
    )
    expect(error?.message).toContain('is larger than')
  })
})

describe('recordings of real providers', () => {
  const all = (name: string): Promise<Read> => ask((exchange) => exchange.stream(recordedLines(name)))
  const whole = (name: string): Promise<Read> => ask((exchange) => exchange.answer(200, recordedBody(name)), { stream: false })

  test.each<[string, Partial<Usage>, string, number, number]>([
    ['openai-text', { inputFresh: 16, output: 300, servedTier: 'default' }, 'stop stop', 0, 0],
    ['azure-model-router.1', { inputFresh: 15, output: 14, outputReasoning: 64 }, 'stop stop', 'Capital of Denmark.'.length, 0],
    ['deepseek-reasoning', { inputFresh: 18, output: 14, outputReasoning: 205 }, 'stop stop', 0, 0],
    ['deepseek-tool-call', { inputFresh: 19, inputCacheRead: 320, output: 44, outputReasoning: 39 }, 'tool_calls tool_calls', 0, 1],
    ['groq-tool-call', { inputFresh: 210, output: 15 }, 'tool_calls tool_calls', 0, 1],
    ['mistral-reasoning', { inputFresh: 10, output: 46 }, 'stop stop', '2 + 2 = 4'.length, 0],
  ])('%s, streamed', async (name, counts, finish, textLength, calls) => {
    const { events, error } = await all(name)
    expect(error).toBeNull()
    expect(usageIn(events)).toEqual(usageOf(counts))
    expect(finishIn(events)).toEqual([finish])
    if (textLength > 0) expect(textOf(events).length).toBe(textLength)
    expect(callsIn(events)).toHaveLength(calls)
    for (const call of callsIn(events)) expect(() => JSON.parse(call.arguments) as unknown).not.toThrow()
    // The events must say the same as the deltas of the recording, joined in the simplest way.
    const deltas = recordedLines(name).flatMap((line) =>
      (JSON.parse(line) as { choices: { delta?: Record<string, unknown> }[] }).choices.map(({ delta }) => delta ?? {}),
    )
    const plain = (field: string): string => deltas.map((delta) => (typeof delta[field] === 'string' ? delta[field] : '')).join('')
    if (name !== 'mistral-reasoning') expect(textOf(events)).toBe(plain('content'))
    if (name.startsWith('deepseek')) expect(textOf(events, 'reasoning')).toBe(plain('reasoning_content'))
  })

  test('azure’s first chunk names nothing; the answer’s id is that of the next', async () => {
    const { events } = await all('azure-model-router.1')
    expect(events[0]).toEqual({
      type: 'start',
      upstreamId: 'chatcmpl-CYPS1lijGoK8gd9lYzY3r9Sx50nbt',
    })
  })

  test('mistral’s thinking is reasoning, not text', async () => {
    for (const { events } of [await all('mistral-reasoning'), await whole('mistral-reasoning')]) {
      expect(textOf(events, 'reasoning')).toBe('The user is asking for 2+2. This is basic arithmetic. 2+2=4.')
      expect(textOf(events)).toBe('2 + 2 = 4')
    }
  })

  test('tool calls keep their ids and arguments', async () => {
    expect(callsIn((await all('groq-tool-call')).events)).toEqual([{ id: 'tk85n1k4m', name: 'weather', arguments: '{}' }])
    expect(callsIn((await whole('groq-tool-call')).events)).toEqual([{ id: 'ax9fskhev', name: 'weather', arguments: '{}' }])
    expect(callsIn((await whole('deepseek-tool-call')).events)).toEqual([
      { id: 'call_00_9V0vrf86Pc9aelHCJMZqnJBo', name: 'weather', arguments: '{"location": "San Francisco"}' },
    ])
  })

  test.each<[string, Partial<Usage>, string]>([
    ['deepseek-tool-call', { inputFresh: 19, inputCacheRead: 320, output: 44, outputReasoning: 48 }, 'tool_calls tool_calls'],
    ['groq-tool-call', { inputFresh: 218, output: 15, servedTier: 'on_demand' }, 'tool_calls tool_calls'],
    ['mistral-reasoning', { inputFresh: 10, output: 46 }, 'stop stop'],
  ])('%s, whole', async (name, counts, finish) => {
    const { events, error } = await whole(name)
    expect([error, finishIn(events), usageIn(events)]).toEqual([null, [finish], usageOf(counts)])
  })

  test('cut at every byte: never a normal end before the finish was there', async () => {
    const lines = recordedLines('groq-tool-call')
    const bytes = said(...lines, '[DONE]')
    const finished = bytes.indexOf('"finish_reason":"tool_calls"')
    const endOfFinish = bytes.indexOf('\n\n', finished)
    const verdict = async (cut: number): Promise<string> => {
      const { error, events } = await ask(async (exchange) => {
        // Without a length or chunks, the end of the connection is the end of the body: the worst kind of cut.
        await exchange.send(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${bytes.slice(0, cut)}`)
        exchange.end()
      })
      return `${cut}: ${error === null ? 'ended' : error.type}, ${finishIn(events).length}`
    }
    const cuts = Array.from({ length: bytes.length + 1 }, (_, cut) => cut)
    const verdicts: string[] = []
    for (const cut of cuts) verdicts.push(await verdict(cut))
    expect(verdicts).toEqual(cuts.map((cut) => (cut >= endOfFinish ? `${cut}: ended, 1` : `${cut}: provider_unavailable, 0`)))
  }, 300_000)
})
