import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock, turn, type FakeClock } from '../../../test/support/fake-clock.ts'
import { dataEvent, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { Attempt } from '../provider.ts'
import { createUpstream } from '../transport/upstream.ts'
import { google } from './google.ts'
import { googleTarget, promptOf } from './encode.test-kit.ts'

const upstream = await startFakeUpstream()
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly events: readonly ModelEvent[]
  /** The error that the adapter threw. */
  readonly error: GatewayError | null
}

interface Asked {
  readonly clock: FakeClock
  readonly connection: AbortController
  readonly read: Promise<Read>
}

const begin = (script: Script, { stream = true, target = {} }: { stream?: boolean; target?: Partial<Attempt['target']> } = {}): Asked => {
  upstream.script(script)
  const clock = createFakeClock()
  const connection = new AbortController()
  const call = {
    dialect: 'chat',
    body: JsonBody.read('{}'),
    models: [],
    stream,
    maxOutputTokens: null,
    sessionId: null,
    user: null,
    passHeaders: {},
    prompt: () => promptOf(),
    *readingPrompt(): Generator<undefined, void, undefined> {
      yield
    },
  } as const
  const attempt = {
    call,
    target: { ...googleTarget, baseUrl: upstream.url.replace('/v1', ''), ...target },
    number: 0,
    warn: () => undefined,
    connection,
  }
  const read = async (): Promise<Read> => {
    const events: ModelEvent[] = []
    try {
      for await (const frames of pulled((take) => google(attempt, { upstream: createUpstream(clock, TIMEOUTS), clock }, take)))
        events.push(...frames.flatMap((frame) => frame.events))
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      return { events, error: thrown }
    }
    return { events, error: null }
  }
  return { clock, connection, read: read() }
}

const ask = (script: Script, options?: Parameters<typeof begin>[1]): Promise<Read> => begin(script, options).read

const streaming =
  (bytes: string): Script =>
  async (exchange) => {
    await exchange.head(200)
    await exchange.piece(bytes)
    await exchange.done()
  }

const said = (...chunks: readonly object[]): string => chunks.map((chunk) => dataEvent(JSON.stringify(chunk))).join('')
const text = (content: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text: content }], role: 'model' }, ...more }],
  responseId: 'r',
})
const STOP = text('', { finishReason: 'STOP' })

const RECORDED = join(import.meta.dir, '../../../test/fixtures/recorded/google')
const recordedBody = (name: string): string => readFileSync(join(RECORDED, `${name}.json`), 'utf8')
const recordedStream = (name: string): string =>
  said(
    ...readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  )

const textOf = (events: readonly ModelEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('')
const finishOf = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'finish' ? [`${event.reason} ${event.native}`] : []))
const usageIn = (events: readonly ModelEvent[]) => events.findLast((event) => event.type === 'usage')?.usage
const proofsIn = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => ((event.type === 'tool-call' || event.type === 'reasoning-end') && event.proof ? [event.proof.data] : []))

describe('the request', () => {
  test('names the model and the wish for a stream in its address, and carries our key in a header', async () => {
    await ask(streaming(said(STOP)))
    const { path, headers, body } = upstream.last
    expect(path).toBe('/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse')
    expect(headers).toMatchObject({ 'x-goog-api-key': googleTarget.apiKey, accept: 'text/event-stream', 'accept-encoding': 'identity' })
    expect(body as unknown).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: {} })
  })

  test.each<[Partial<Attempt['target']>, string]>([
    [{}, '/v1beta/models/gemini-3.5-flash:generateContent'],
    [{ baseUrl: `${upstream.url.replace('/v1', '')}/proxy/v1beta/` }, '/proxy/v1beta/models/gemini-3.5-flash:generateContent'],
    [{ upstreamModel: 'tunedModels/mine' }, '/v1beta/tunedModels/mine:generateContent'],
  ])('%j goes to %s', async (target, path) => {
    await ask((exchange) => exchange.answer(200, JSON.stringify(STOP)), { stream: false, target })
    expect([upstream.last.path, upstream.last.headers['accept']]).toEqual([path, 'application/json'])
  })
})

describe('recordings', () => {
  test('thinking, streamed: the signature comes after the text', async () => {
    const { events, error } = await ask(streaming(recordedStream('google-reasoning')))
    expect(error).toBeNull()
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'dX6LadKVC7SZ28oPr9yJoQs' })
    expect(textOf(events)).toBe('There are **3** "r"s in strawberry.\n\nHere is the breakdown: st**r**awbe**rr**y.')
    expect([finishOf(events), usageIn(events), proofsIn(events).length]).toEqual([
      ['stop STOP'],
      usageOf({ inputFresh: 9, output: 29, outputReasoning: 256 }),
      1,
    ])
    expect(events.at(-1)?.type).toBe('finish')
  })

  test('thinking, whole', async () => {
    const { events } = await ask((exchange) => exchange.answer(200, recordedBody('google-reasoning')), { stream: false })
    expect([finishOf(events), usageIn(events), proofsIn(events)[0]?.slice(0, 8)]).toEqual([
      ['stop STOP'],
      usageOf({ inputFresh: 9, output: 29, outputReasoning: 282 }),
      'EvsFCvgF',
    ])
  })

  test.each([true, false])('a call keeps its signature (stream: %p)', async (stream) => {
    const script: Script = stream
      ? streaming(recordedStream('google-tool-call'))
      : (exchange) => exchange.answer(200, recordedBody('google-tool-call'))
    const { events } = await ask(script, { stream })
    expect(events.filter(({ type }) => type.startsWith('tool'))).toMatchObject([
      {
        index: 0,
        id: stream ? 'call_b36LacjwM668nsEP2tbsgQQ_0' : 'call_m36LaZGyCLz1xs0PtNSB-QU_0',
        name: 'weather',
        proof: { format: 'google-gemini-v1' },
      },
      { index: 0, json: '{"location":"San Francisco"}' },
    ])
    expect(finishOf(events)).toEqual(['tool_calls STOP'])
  })

  test('429 tells how long to wait', async () => {
    const { error } = await ask((exchange) => exchange.answer(429, recordedBody('google-429-retry-info')))
    expect(error).toMatchObject({ type: 'rate_limit_exceeded', retryAfterSeconds: 35 })
  })

  test('cut at every byte: never a normal end before the finish was there', async () => {
    const bytes = recordedStream('google-tool-call')
    const endOfFinish = bytes.lastIndexOf('\n\n')
    for (let cut = 0; cut <= bytes.length; cut += 7) {
      const { error, events } = await ask(async (exchange) => {
        await exchange.send(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${bytes.slice(0, cut)}`)
        exchange.end()
      })
      expect([cut, error?.type ?? null, finishOf(events).length]).toEqual(
        cut >= endOfFinish ? [cut, null, 1] : [cut, 'provider_unavailable', 0],
      )
    }
  })
})

describe('a stream', () => {
  test('continues after its finish until its bytes end: usage, text and a later finish count', async () => {
    const { events } = await ask(
      streaming(
        said(text('a', { finishReason: 'STOP' }), text('b', { finishReason: 'MAX_TOKENS' }), { usageMetadata: { promptTokenCount: 3 } }),
      ),
    )
    expect([textOf(events), finishOf(events), usageIn(events)?.inputFresh]).toEqual(['ab', ['length MAX_TOKENS'], 3])
  })

  test('that stays open after its finish is ended by us, and is whole', async () => {
    const { read, clock } = begin(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(said(text('a'), STOP))
    })
    while (clock.waiting < 2) await turn()
    clock.advance(5000)
    const { events, error } = await read
    expect([error, textOf(events), finishOf(events), clock.waiting]).toEqual([null, 'a', ['stop STOP'], 0])
    await upstream.last.gone
  })

  test('that breaks after its finish is whole; one that the client left is not', async () => {
    const script: Script = async (exchange) => {
      await exchange.head(200)
      await exchange.piece(said(text('a'), STOP))
    }
    const breaking = begin(script)
    while (breaking.clock.waiting < 2) await turn()
    upstream.last.reset()
    const broken = await breaking.read
    expect([broken.error, finishOf(broken.events)]).toEqual([null, ['stop STOP']])
    const left = begin(script)
    while (left.clock.waiting < 2) await turn()
    const reason = new GatewayError('timeout', 'The client is gone.')
    left.connection.abort(reason)
    expect((await left.read).error).toBe(reason)
  })

  test.each<[string, string, string, string]>([
    ['without a finish', said(text('a')), 'a', 'provider_unavailable'],
    [
      'with an error in it',
      said(text('a'), { error: { code: 503, status: 'UNAVAILABLE', message: 'Busy.' } }, STOP),
      'a',
      'provider_overloaded',
    ],
    ['with an error in a list', `data: [{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]\n\n`, '', 'rate_limit_exceeded'],
    ['with something that is not JSON', `${said(text('a'))}data: {oops\n\n`, 'a', 'provider_unavailable'],
    ['with a number', 'data: 7\n\n', '', 'provider_unavailable'],
    [
      'with a malformed call',
      said(text('a'), text('', { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: f(' })),
      'a',
      'provider_unavailable',
    ],
    [
      'of a blocked prompt',
      said({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } }),
      '',
      'content_policy_violation',
    ],
    ['with nothing', '', '', 'provider_unavailable'],
  ])('%s fails, with what came before it', async (_, bytes, kept, type) => {
    const { events, error } = await ask(streaming(bytes))
    expect([textOf(events), error?.type as string, finishOf(events)]).toEqual([kept, type, []])
  })

  test('whose end marker a proxy added, or whose last blank line it lost, is whole', async () => {
    for (const bytes of [`${said(text('a'), STOP)}data: [DONE]\n\n`, said(text('a'), STOP).slice(0, -1)]) {
      const { events, error } = await ask(streaming(bytes))
      expect([error, textOf(events), finishOf(events)]).toEqual([null, 'a', ['stop STOP']])
    }
  })

  test('that comes as a list of chunks is read as one answer; a list without an end was cut', async () => {
    const whole = await ask((exchange) => exchange.answer(200, JSON.stringify([text('a'), text('b'), STOP])))
    expect([textOf(whole.events), finishOf(whole.events), whole.error]).toEqual(['ab', ['stop STOP'], null])
    expect((await ask((exchange) => exchange.answer(200, JSON.stringify([text('a')])))).error?.type).toBe('provider_unavailable')
  })
})

describe('a whole answer', () => {
  test.each<[string, string, string]>([
    ['is not JSON', '<html>', 'provider_unavailable'],
    ['is empty', '', 'provider_unavailable'],
    ['is no object', '7', 'provider_unavailable'],
    ['has no candidates', '{"usageMetadata":{}}', 'provider_unavailable'],
    ['is an error under a good status', '{"error":{"code":500,"status":"INTERNAL"}}', 'server'],
    ['is of a blocked prompt', '{"promptFeedback":{"blockReason":"OTHER"}}', 'content_policy_violation'],
  ])('fails where it %s', async (_, body, type) => {
    expect((await ask((exchange) => exchange.answer(200, body), { stream: false })).error?.type as string).toBe(type)
  })

  test('ends well where it does not say how', async () => {
    const { events } = await ask((exchange) => exchange.answer(200, JSON.stringify(text('a'))), { stream: false })
    expect(finishOf(events)).toEqual(['stop null'])
  })
})
