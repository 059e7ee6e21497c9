/** The details of its request that a client may see: the bodies that were sent, the routing metadata, and a dry run. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { infer, streamChunks } from '../support/calls.ts'
import { FINISH_CHUNK, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const bad = await startFakeUpstream()
bad.script((exchange) => exchange.answer(503, '{"error":{"message":"Busy."}}', { 'retry-after': '3' }))
const good = await startFakeUpstream()
good.script(say('Well.'))
const native = await startFakeUpstream()
const KEY = 'sk-provider-key-0123456789'
let service: StartedService

/** One model for each test, so that failures in one test are not remembered in another. */
const PAIRS = 20
let used = 0
const both = (): string => `m/both-${used++}`

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  bad: { name: Bad, dialects: [openai-chat], base_url: "${bad.url}", api_key: ${KEY} }
  good: { name: Good, dialects: [openai-chat], base_url: "${good.url}", api_key: ${KEY} }
  native: { name: Native, dialects: [openai-responses], base_url: "${native.url}", api_key: ${KEY} }
models:
  m/good: { endpoints: [{ provider: good, model: up-good, prices: { prompt: 1, completion: 10 }, max_completion_tokens: 1000 }] }
  m/native: { endpoints: [{ provider: native, model: up-native }] }
${Array.from(
  { length: PAIRS },
  (_, number) => `  m/both-${number}: { endpoints: [{ provider: bad, model: up-bad }, { provider: good, model: up-good }] }
  m/bad-${number}: { endpoints: [{ provider: bad, model: up-bad }] }`,
).join('\n')}
`,
  })
})

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const responses = { input: 'Hi' }
const messages = { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
const ECHO = { stream: true, debug: { echo_upstream_body: true } }

interface Event {
  readonly type?: string
  readonly choices?: readonly unknown[]
  readonly sequence_number?: number
  readonly debug?: { readonly echo_upstream_body: { readonly model: string } & Record<string, unknown> }
  readonly [field: string]: unknown
}
const events = (text: string): readonly Event[] => streamChunks(text) as unknown as readonly Event[]

describe('debug.echo_upstream_body', () => {
  test('chat: the first chunks, without choices, show one body for each provider that was tried, under its name', async () => {
    const model = both()
    const { text } = await infer(service, { model, ...chat, ...ECHO, temperature: 0.5 })
    const [first, second, third] = events(text)
    expect(first).toEqual({
      id: expect.stringMatching(/^gen-/) as string,
      object: 'chat.completion.chunk',
      created: expect.any(Number) as number,
      model,
      provider: 'Bad',
      choices: [],
      debug: { echo_upstream_body: expect.objectContaining({ model: 'up-bad', temperature: 0.5, messages: chat.messages }) as never },
    })
    expect([second?.provider, second?.debug?.echo_upstream_body.model]).toEqual(['Good', 'up-good'])
    expect([third?.provider, third?.debug]).toEqual(['Good', undefined])
    expect(new Set(events(text).map(({ id }) => id)).size).toBe(1)
    expect(new Set(events(text).map(({ created }) => created)).size).toBe(1)
    expect(text).not.toContain(KEY)
  })

  test('responses: it follows response.created directly, and the sequence numbers continue', async () => {
    const { text } = await infer(service, { model: both(), ...responses, ...ECHO }, { path: '/responses' })
    const all = events(text)
    expect(all.slice(0, 4).map(({ type }) => type)).toEqual([
      'response.created',
      'response.debug',
      'response.debug',
      'response.in_progress',
    ])
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index))
    expect(all[2]?.debug?.echo_upstream_body.model).toBe('up-good')
  })

  test('responses: it works for a provider of the same dialect too, whose own events are renumbered', async () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const own = [
      { type: 'response.created', response: { id: 'resp_up', status: 'in_progress', output: [] } },
      { type: 'response.in_progress', response: { id: 'resp_up', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'resp_up', status: 'completed', output: [item], usage: null } },
    ]
    native.script((exchange) => exchange.stream(own.map((event, index) => JSON.stringify({ ...event, sequence_number: index }))))
    const { text } = await infer(service, { model: 'm/native', ...responses, ...ECHO }, { path: '/responses' })
    const all = events(text)
    expect(all.map(({ type }) => type)).toEqual([own[0]?.type, 'response.debug', ...own.slice(1).map(({ type }) => type)] as string[])
    expect(all.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('the bodies are shown even if every provider failed', async () => {
    for (const [path, body] of [
      ['/chat/completions', chat],
      ['/responses', responses],
    ] as const) {
      const { text, status } = await infer(service, { model: `m/bad-${used++}`, ...body, ...ECHO }, { path })
      const found = events(text)
      expect(status).toBe(200)
      expect(found.filter(({ debug }) => debug !== undefined).map(({ debug }) => debug?.echo_upstream_body.model)).toEqual(['up-bad'])
      expect(text).toContain('Busy.')
    }
  })

  test('pictures, files and sound are shown as their size, and anything that looks like a key is masked', async () => {
    const picture = Buffer.alloc(3000).toString('base64')
    const content = [
      { type: 'text', text: 'My key is sk-abcdefghijklmnop1234.' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
      { type: 'input_audio', input_audio: { data: picture, format: 'wav' } },
    ]
    const { text } = await infer(service, { model: 'm/good', messages: [{ role: 'user', content }], ...ECHO })
    const body = JSON.stringify(events(text)[0]?.debug?.echo_upstream_body)
    expect(body).toContain('data:image/png;base64,[3000 bytes]')
    expect(body).toContain('"data":"[3000 bytes]"')
    expect(body).toContain('My key is [redacted].')
  })

  test('a request with only a list of models counts as asking for the first of them', async () => {
    const { json } = await infer(service, { models: ['m/good', 'm/native'], ...chat }, { headers: { 'x-service-metadata': 'enabled' } })
    expect(json).toMatchObject({ service_metadata: { requested: 'm/good', strategy: 'fallback', attempt: 1 } })
  })

  test('the sandbox shows the body that it received too', async () => {
    const { text } = await infer(service, { model: 'sandbox/echo', ...chat, ...ECHO })
    expect(events(text)[0]).toMatchObject({
      choices: [],
      debug: { echo_upstream_body: { model: 'sandbox/echo', messages: chat.messages } },
    })
  })

  test.each([
    ['a whole answer', '/chat/completions', { ...chat, debug: ECHO.debug }],
    ['a whole response', '/responses', { ...responses, debug: ECHO.debug }],
    ['a message', '/messages', { ...messages, ...ECHO }],
    ['a stream whose client did not ask', '/chat/completions', { ...chat, stream: true }],
    ['a stream whose client asked not to', '/chat/completions', { ...chat, stream: true, debug: { echo_upstream_body: false } }],
  ])('is not in %s', async (_, path, body) => {
    const { text, status } = await infer(service, { model: 'm/good', ...body }, { path })
    expect([status, text.includes('echo_upstream_body')]).toEqual([200, false])
    expect(text).toContain('Well.')
  })
})

const METADATA = { 'x-service-metadata': 'Enabled' }
interface WithMetadata {
  readonly service_metadata?: Readonly<Record<string, unknown>>
  readonly response?: WithMetadata
}
const INTERFACES = [
  ['chat', '/chat/completions', chat],
  ['responses', '/responses', responses],
  ['messages', '/messages', messages],
] as const

describe('service_metadata', () => {
  test.each(INTERFACES)('%s: the routing metadata of an answer is the same whole and at the end of a stream', async (_, path, body) => {
    const expected = (model: string) => ({
      requested: model,
      strategy: 'direct',
      region: null,
      summary: 'Good answered at attempt 2.',
      attempt: 2,
      is_byok: false,
      endpoints: {
        total: 2,
        available: [
          { provider: 'Bad', model, selected: false },
          { provider: 'Good', model, selected: true },
        ],
      },
      attempts: [
        { provider: 'Bad', model, status: 503 },
        { provider: 'Good', model, status: 200 },
      ],
      params: { order: expect.any(String) as string },
      generation_time: expect.any(Number) as number,
    })
    const first = both()
    const whole = await infer(service, { model: first, ...body }, { path, headers: METADATA })
    expect((whole.json as WithMetadata).service_metadata).toEqual(expected(first))
    const second = both()
    const { text } = await infer(service, { model: second, ...body, stream: true }, { path, headers: METADATA })
    const last = events(text).at(-1) as unknown as WithMetadata
    expect(last.service_metadata ?? last.response?.service_metadata).toEqual(expected(second))
    expect(text.split('service_metadata')).toHaveLength(2)
  })

  test.each(INTERFACES)('%s: a failure has the routing metadata in the body and in the stream', async (_, path, body) => {
    for (const stream of [false, true]) {
      const model = `m/bad-${used++}`
      const { text } = await infer(service, { model, ...body, stream }, { path, headers: METADATA })
      const all = stream ? (events(text) as unknown as WithMetadata[]) : [JSON.parse(text) as WithMetadata]
      const last = all.at(-1)
      expect(last?.service_metadata ?? last?.response?.service_metadata).toMatchObject({
        requested: model,
        attempt: 1,
        summary: 'No provider answered; the last one tried was Bad.',
        endpoints: { total: 1, available: [{ provider: 'Bad', model, selected: false }] },
        attempts: [{ provider: 'Bad', model, status: 503 }],
      })
    }
  })

  test.each(INTERFACES)('%s: a request that no endpoint fits has the routing metadata with attempt 0', async (_, path, body) => {
    const asked = { model: 'm/good', ...body, provider: { only: ['elsewhere'] } }
    const answer = await infer(service, asked, { path, headers: { 'X-Service-Experimental-Metadata': 'enabled' } })
    expect(answer.status).toBe(503)
    expect((answer.json as WithMetadata).service_metadata).toMatchObject({
      requested: 'm/good',
      attempt: 0,
      endpoints: { total: 1, available: [] },
      attempts: [],
    })
  })

  test.each(['X-OpenRouter-Metadata', 'X-OpenRouter-Experimental-Metadata'])('%s: by the name that its client knows', async (header) => {
    const { json } = await infer(service, { model: 'm/good', ...chat }, { headers: { [header]: 'enabled' } })
    expect(json).toHaveProperty('openrouter_metadata.attempt', 1)
    expect(json).not.toHaveProperty('service_metadata')
  })

  test.each<[string, number, object, object]>([
    ['a 500', 500, { model: 'sandbox/error/server' }, { 'x-service-provider-failure': 'status' }],
    ['a request that is malformed', 400, { model: 'm/good', temperature: 'hot' }, {}],
    ['a key that is unknown', 401, { model: 'm/good' }, { authorization: 'Bearer pb_inf_nobody' }],
  ])('is not in %s', async (_, status, body, headers) => {
    const answer = await infer(service, { ...chat, ...body }, { headers: { ...METADATA, ...headers } })
    expect([answer.status, answer.text.includes('service_metadata')]).toEqual([status, false])
  })

  test('is in no answer whose client did not ask for it', async () => {
    for (const headers of [{}, { 'x-service-metadata': 'yes' }, { 'x-service-metadata': 'disabled' }])
      expect((await infer(service, { model: 'm/good', ...chat }, { headers })).text).not.toContain('_metadata')
  })
})

describe('a dry run', () => {
  const DRY = { 'x-service-dry-run': 'enabled' }

  test.each(INTERFACES)('%s: shows the plan, the upstream request and the cost, and calls no provider', async (_, path, body) => {
    const asked = good.exchanges.length
    const { status, json, headers } = await infer(
      service,
      { model: 'm/good', ...body, max_tokens: 100, stream: true },
      { path, headers: DRY },
    )
    expect([status, headers.get('content-type'), good.exchanges.length]).toEqual([200, 'application/json; charset=utf-8', asked])
    expect(json).toMatchObject({
      object: 'service.dry_run',
      requested: 'm/good',
      preset: null,
      request: { model: 'm/good' },
      plan: {
        strategy: 'direct',
        attempts: [{ model: 'm/good', provider: 'Good', upstream_model: 'up-good', dialect: 'openai-chat' }],
        candidates: 1,
        removed: [],
      },
      upstream_request: { provider: 'Good', model: 'up-good', body: { model: 'up-good', messages: [{ role: 'user', content: 'Hi' }] } },
    })
    const { cost_estimate: cost } = json as { cost_estimate: { input_tokens: number; min_usd: number; max_usd: number } }
    expect(cost.min_usd).toBeCloseTo(cost.input_tokens * 1e-6, 9)
    // Responses has another name for its limit, so the endpoint's own limit applies there.
    expect(cost.max_usd).toBeCloseTo(cost.min_usd + (path === '/responses' ? 1000 : 100) * 1e-5, 9)
    expect(JSON.stringify(json)).not.toContain(KEY)
  })

  test('counts each of several answers in the highest cost', async () => {
    const { json } = await infer(service, { model: 'm/good', ...chat, max_tokens: 100, n: 5 }, { headers: DRY })
    const { cost_estimate: cost } = json as { cost_estimate: { min_usd: number; max_usd: number } }
    expect(cost.max_usd - cost.min_usd).toBeCloseTo(5 * 100 * 1e-5, 9)
  })

  test('shows the same body that a real call then sends', async () => {
    const body = {
      model: 'm/good',
      ...chat,
      temperature: 0.25,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    }
    const { json } = await infer(service, body, { headers: DRY })
    await infer(service, body)
    expect((json as { upstream_request: { body: unknown } }).upstream_request.body).toEqual(good.last.body as never)
  })

  test('shows which endpoints were excluded and why, and which would be tried next', async () => {
    const { json } = await infer(service, { model: both(), ...chat, provider: { ignore: ['bad'] } }, { headers: DRY })
    expect(json).toMatchObject({ plan: { attempts: [{ provider: 'Good' }], removed: [{ provider: 'bad', reason: 'provider.ignore' }] } })
  })

  test('fails as the real call would', async () => {
    const cases: readonly (readonly [number, object])[] = [
      [404, { model: 'm/none' }],
      [503, { model: 'm/good', provider: { only: ['elsewhere'] } }],
      [400, { model: 'm/good', temperature: 'hot' }],
    ]
    for (const [status, body] of cases) {
      const dry = await infer(service, { ...chat, ...body }, { headers: DRY })
      const real = await infer(service, { ...chat, ...body })
      expect([dry.status, real.status, dry.error.message]).toEqual([status, status, real.error.message])
    }
    expect((await infer(service, { model: 'm/good', ...chat }, { headers: DRY, key: null })).status).toBe(401)
  })
})

test('a content chunk follows the shown bodies unchanged', async () => {
  good.script((exchange) => exchange.stream([proseChunk('Hello', { extra: 1 }), FINISH_CHUNK]))
  const { text } = await infer(service, { model: 'm/good', ...chat, ...ECHO })
  expect(events(text)[1]).toMatchObject({ extra: 1, choices: [{ delta: { content: 'Hello' } }] })
})
