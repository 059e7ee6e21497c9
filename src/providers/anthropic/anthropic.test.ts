import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { createUpstream } from '../transport/upstream.ts'
import { anthropic } from './anthropic.ts'
import { attemptOf, promptOf } from './encode.test-kit.ts'

const upstream = await startFakeUpstream()
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly frames: readonly Frame[]
  readonly events: readonly ModelEvent[]
  readonly error: GatewayError | null
}

interface Asked {
  readonly stream?: boolean
  readonly dialect?: ClientDialect
  readonly baseUrl?: string
  readonly passHeaders?: Readonly<Record<string, string>>
}

const ask = async (
  script: Script,
  { stream = true, dialect = 'chat', baseUrl = upstream.url, passHeaders = {} }: Asked = {},
): Promise<Read> => {
  upstream.script(script)
  const clock = createFakeClock()
  const attempt = attemptOf(
    promptOf(),
    () => undefined,
    { stream, dialect },
    '{"model":"a/b","messages":[{"role":"user","content":"Hi"}],"max_tokens":9}',
  )
  const answer = pulled((take) =>
    anthropic(
      { ...attempt, call: { ...attempt.call, passHeaders }, target: { ...attempt.target, baseUrl, apiKey: 'secret-key-123456' } },
      { upstream: createUpstream(clock, TIMEOUTS), clock },
      take,
    ),
  )
  const frames: Frame[] = []
  let error: GatewayError | null = null
  try {
    for await (const batch of answer) frames.push(...batch)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    error = thrown
  }
  const events = frames.flatMap((frame) => frame.events)
  return { frames, events, error }
}

const RECORDED = join(import.meta.dir, '../../../test/fixtures/recorded/anthropic')
const lines = (name: string): string[] =>
  readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
const body = (name: string): string => readFileSync(join(RECORDED, `${name}.json`), 'utf8')
const sse = (given: readonly string[]): string =>
  given.map((line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`).join('')

const streaming =
  (bytes: string): Script =>
  async (exchange) => {
    await exchange.head(200)
    await exchange.piece(bytes)
    await exchange.done()
  }

const textOf = (events: readonly ModelEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('')
const TEXT = sse(lines('anthropic-text'))

describe('the request', () => {
  test('goes to the messages path with our key and version, and asks for no compression', async () => {
    await ask(streaming(TEXT))
    expect(upstream.last.path).toBe('/v1/messages')
    expect(upstream.last.headers).toMatchObject({
      'x-api-key': 'secret-key-123456',
      'anthropic-version': '2023-06-01',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
    })
    expect([upstream.last.headers['authorization'], upstream.last.headers['anthropic-beta']]).toEqual([undefined, undefined])
    expect(upstream.last.body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 8192,
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  test.each(['', '/', '/v1', '/v1/'])('an address that ends in %p', async (end) => {
    await ask(streaming(TEXT), { baseUrl: upstream.url.replace(/\/v1$/, end) })
    expect(upstream.last.path).toBe('/v1/messages')
  })

  test('takes the betas and the version of a client that speaks the dialect', async () => {
    await ask(streaming(TEXT), { dialect: 'messages', passHeaders: { 'anthropic-beta': 'a-1,b-2', 'anthropic-version': '2024-01-01' } })
    expect(upstream.last.headers).toMatchObject({ 'anthropic-beta': 'a-1,b-2', 'anthropic-version': '2024-01-01' })
  })
})

describe('frames', () => {
  test('hold the upstream’s own text for a client of the dialect, but for pings and what nobody knows', async () => {
    const novel = '{"type":"novelty"}'
    const { frames, error } = await ask(
      streaming(sse([...lines('anthropic-text').slice(0, 3), novel, ...lines('anthropic-text').slice(3)])),
      { dialect: 'messages' },
    )
    expect(error).toBeNull()
    expect(frames.map(({ native }) => native?.json)).toEqual(lines('anthropic-text').filter((line) => !line.includes('"ping"')))
  })

  test('hold no text of the upstream for a client of another dialect, or where the form is not the one asked for', async () => {
    for (const asked of [{ dialect: 'chat' }, { dialect: 'messages', stream: false }] as const) {
      const { frames, events, error } = await ask(streaming(TEXT), asked)
      expect([error, frames.some(({ native }) => native !== undefined), textOf(events).length > 0]).toEqual([null, false, true])
    }
    const whole = await ask((exchange) => exchange.answer(200, body('anthropic-text')), { dialect: 'messages', stream: true })
    expect([whole.error, whole.frames.length, whole.frames[0]?.native]).toEqual([null, 1, undefined])
  })

  test('a whole answer is one frame with its own text', async () => {
    const { frames, events } = await ask((exchange) => exchange.answer(200, body('anthropic-text')), { dialect: 'messages', stream: false })
    expect([frames.length, frames[0]?.native]).toEqual([1, { dialect: 'messages', json: body('anthropic-text') }])
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'usage', 'finish'])
  })

  test('nothing after the end counts', async () => {
    const { events, error } = await ask(
      streaming(`${TEXT}data: [DONE]\n\nevent: error\ndata: {"type":"error","error":{"type":"api_error","message":"late"}}\n\n`),
    )
    expect([error, events.at(-1)?.type]).toEqual([null, 'finish'])
  })
})

describe('failures', () => {
  const OVERLOADED = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'

  test.each<[number, string, string]>([
    [529, OVERLOADED, 'provider_overloaded'],
    [429, '{"type":"error","error":{"type":"rate_limit_error","message":"x"}}', 'rate_limit_exceeded'],
    [502, '<html>', 'provider_unavailable'],
    [200, OVERLOADED, 'provider_overloaded'],
    [200, '', 'provider_unavailable'],
    [200, '<html>', 'provider_unavailable'],
    [200, '{}', 'provider_unavailable'],
    [200, '[]', 'provider_unavailable'],
  ])('status %p, %s: %s', async (status, text, type) => {
    const { error } = await ask((exchange) => exchange.answer(status, text, { 'retry-after': '7' }), { stream: false })
    expect([error?.type, error?.retryAfterSeconds]).toEqual([type as 'server', status === 429 || status === 529 ? 7 : undefined])
  })

  test.each<[string, string, string]>([
    ['as the first event', `event: error\ndata: ${OVERLOADED}\n\n`, 'provider_overloaded'],
    ['without its name', `data: ${OVERLOADED}\n\n`, 'provider_overloaded'],
    ['that is no JSON', 'event: message_start\ndata: {"type"\n\n', 'provider_unavailable'],
    ['that is no object', 'data: 7\n\n', 'provider_unavailable'],
  ])('an error %s', async (_, bytes, type) => {
    expect((await ask(streaming(bytes))).error?.type).toBe(type as 'server')
  })

  test('in the middle, what was said before it still counts', async () => {
    const { events, error } = await ask(streaming(`${sse(lines('anthropic-text').slice(0, 5))}event: error\ndata: ${OVERLOADED}\n\n`))
    expect([textOf(events), error?.type]).toEqual(['Hello! I', 'provider_overloaded'])
  })

  test('cut at every byte: never a normal end before the model has ended', async () => {
    const bytes = sse(lines('anthropic-json-tool.1'))
    const end = bytes.indexOf('\n\n', bytes.indexOf('event: message_delta'))
    const verdicts: string[] = []
    const expected: string[] = []
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      // Without a length or chunks, the end of the connection is the end of the body: the worst kind of cut.
      const { error, events } = await ask(async (exchange) => {
        await exchange.send(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${bytes.slice(0, cut)}`)
        exchange.end()
      })
      verdicts.push(`${cut}: ${error?.type ?? 'ended'}, ${events.filter(({ type }) => type === 'finish').length}`)
      expected.push(cut >= end ? `${cut}: ended, 1` : `${cut}: provider_unavailable, 0`)
    }
    expect(verdicts).toEqual(expected)
  }, 300_000)
})
