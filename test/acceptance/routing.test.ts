/** Endpoints and providers as `@openrouter/sdk` reads them, and what reaches the providers. */
import { OpenRouter } from '@openrouter/sdk'
import { beforeAll, describe, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
let sdk: OpenRouter

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", data_policy: { training: false } }
  keeper: { dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  fake/one:
    context_length: 1000
    distillable: true
    supported_parameters: [tools, tool_choice]
    endpoints:
      - { provider: keeper, model: up-keeper }
      - provider: fake
        model: up-one
        quantization: fp8
        max_completion_tokens: 100
        data_policy: { retains: false }
        prices: { prompt: 2, completion: 10, cache_read: 0.2, request: 0.01, image: 0.002, audio: 4, cache_write_1h: 4 }
      - { provider: fake, model: up-one, service_tier: priority, context_length: 500, supported_parameters: [] }
      - { provider: fake, model: up-eu, variant: eu }
  fake/failing:
    endpoints:
      - { provider: fake, model: up-broken, prices: { prompt: 1, completion: 1 } }
      - { provider: keeper, model: up-well, prices: { prompt: 9, completion: 9 } }
  fake/limited:
    endpoints:
      - { provider: fake, model: up-limited, variant: ordinary, prices: { prompt: 1, completion: 1 } }
      - { provider: fake, model: up-limited-tier, service_tier: priority, prices: { prompt: 2, completion: 2 } }
      - { provider: keeper, model: up-free, prices: { prompt: 9, completion: 9 } }
  fake/balanced:
    endpoints:
      - { provider: fake, model: up-left, variant: left, prices: { prompt: 1, completion: 1 } }
      - { provider: keeper, model: up-right, prices: { prompt: 1, completion: 1 } }
`,
  })
  sdk = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
})

describe('@openrouter/sdk', () => {
  test('lists the endpoints of a model with the known facts of each', async () => {
    const { data } = await sdk.endpoints.list({ author: 'fake', slug: 'one' })
    expect(data.endpoints.map(({ tag }) => tag)).toEqual(['keeper', 'fake', 'fake/priority', 'fake/eu'])
    expect(data.endpoints[1]).toMatchObject({
      providerName: 'Fake',
      modelId: 'fake/one',
      quantization: 'fp8',
      status: 0,
      contextLength: 1000,
      maxCompletionTokens: 100,
      uptimeLast5m: null,
      latencyLast30m: null,
      supportedParameters: ['tools', 'tool_choice'],
      supportsToolChoice: { auto: true },
      supportsImplicitCaching: true,
      pricing: {
        prompt: '0.000002',
        completion: '0.00001',
        request: '0.01',
        image: '0.002',
        audio: '0.000004',
        inputCacheWrite1h: '0.000004',
      },
    })
    expect(data.endpoints[2]).toMatchObject({ contextLength: 500, supportedParameters: [], quantization: 'unknown' })
  })

  test('lists the endpoints without data retention', async () => {
    const { data } = await sdk.endpoints.listZdrEndpoints()
    expect(data.filter(({ modelId }) => modelId === 'fake/one').map(({ tag }) => tag)).toEqual(['fake'])
    expect(data.some(({ modelId }) => modelId === 'sandbox/echo')).toBe(true)
  })

  test('lists the enabled providers', async () => {
    const { data } = await sdk.providers.list()
    expect(data.map(({ slug }) => slug)).toEqual(['fake', 'keeper', 'sandbox', 'sandbox-spare'])
    expect(data[0]).toMatchObject({ name: 'Fake', privacyPolicyUrl: null })
  })
})

const chat = async (fields: object): Promise<Readonly<Record<string, unknown>>> => {
  upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi')))
  const answer = await infer(service, { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  expect(answer.status).toBe(200)
  return upstream.last.body
}

describe('what goes to the provider', () => {
  test.each<[string, object, Record<string, unknown>]>([
    ['an endpoint that is named by its tag', { provider: { only: ['fake/eu'] } }, { model: 'up-eu' }],
    ['data_collection deny: who is known not to train', { provider: { data_collection: 'deny', sort: 'price' } }, { model: 'up-one' }],
    [
      'fast: the endpoint of the priority tier, asked for priority',
      { service_tier: 'fast' },
      { model: 'up-one', service_tier: 'priority' },
    ],
    [
      'an ordinary endpoint in place of one of a tier: default',
      { service_tier: 'priority', provider: { order: ['keeper'] } },
      { model: 'up-keeper', service_tier: 'default' },
    ],
  ])('%s', async (_, fields, wanted) => {
    expect(await chat(fields)).toMatchObject(wanted)
  })

  test('a session stays with the provider that answered it, while others are drawn by lot', async () => {
    const asked = async (session: string): Promise<unknown> => (await chat({ model: 'fake/balanced', session_id: session }))['model']
    const same = new Set<unknown>()
    for (let time = 0; time < 12; time += 1) same.add(await asked('same'))
    expect(same.size).toBe(1)
    const others = new Set<unknown>()
    for (let time = 0; time < 30; time += 1) others.add(await asked(`session-${time}`))
    expect(others).toEqual(new Set(['up-left', 'up-right']))
  })

  test('a session continues where its last answer came from, even if a filter had left no other provider', async () => {
    const asked = async (provider: object): Promise<unknown> =>
      (await chat({ model: 'fake/balanced', session_id: 'filtered', provider }))['model']
    for (const [only, model] of [
      ['keeper', 'up-right'],
      ['fake/left', 'up-left'],
      ['keeper', 'up-right'],
    ] as const) {
      expect(await asked({ only: [only] })).toBe(model)
      for (let time = 0; time < 8; time += 1) expect(await asked({})).toBe(model)
    }
  })

  test('503: if no endpoint fits, the error names every filter', async () => {
    const answer = await infer(service, {
      model: 'fake/one',
      messages: [{ role: 'user', content: 'Hi' }],
      provider: { zdr: true, quantizations: ['int4'] },
    })
    expect(answer.status).toBe(503)
    expect(answer.error.metadata['excluded_by']).toEqual([
      { model: 'fake/one', provider: 'keeper', reason: 'provider.zdr: not known of this provider' },
      { model: 'fake/one', provider: 'fake', reason: 'provider.quantizations' },
      { model: 'fake/one', provider: 'fake/priority', reason: 'service_tier' },
      { model: 'fake/one', provider: 'fake/eu', reason: 'provider.zdr: not known of this provider' },
    ])
  })
})

test('a provider that keeps failing gets no more requests, and its endpoint tells so', async () => {
  const sent: string[] = []
  upstream.script((exchange) => {
    sent.push(exchange.body.model)
    return exchange.body.model === 'up-broken' ? exchange.answer(503, '{}') : exchange.answer(200, proseAnswer('Hi'))
  })
  for (let time = 0; time < 40; time += 1) {
    const answer = await infer(service, {
      model: 'fake/failing',
      messages: [{ role: 'user', content: `Hi ${time}` }],
      provider: { sort: 'price' },
    })
    expect(answer.json).toMatchObject({ model: 'fake/failing', provider: 'keeper' })
  }
  expect(sent.filter((name) => name === 'up-broken')).toHaveLength(5)
  const { data } = await sdk.endpoints.list({ author: 'fake', slug: 'failing' })
  expect(data.endpoints.map(({ status, uptimeLast5m }) => [status, uptimeLast5m])).toEqual([
    [-2, 0],
    [0, 100],
  ])
  const refusal = await infer(service, { model: 'fake/failing', messages: [{ role: 'user', content: 'Hi' }], provider: { only: ['fake'] } })
  expect([refusal.status, refusal.error.metadata['excluded_by']]).toEqual([
    503,
    [
      { model: 'fake/failing', provider: 'fake', reason: 'circuit breaker open' },
      { model: 'fake/failing', provider: 'keeper', reason: 'provider.only' },
    ],
  ])
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0)
})

test.each<[string, object]>([
  ['provider.order', { provider: { order: ['fake', 'keeper'] } }],
  ['provider.order without fallbacks', { provider: { order: ['fake', 'keeper'], allow_fallbacks: false } }],
  ['sort', { provider: { sort: 'price' } }],
  ['a variant of the name', { model: 'fake/limited:floor' }],
  ['the wished service tier', { service_tier: 'priority' }],
])('an endpoint that asked for a pause by 429 comes last for as long as it asked, after all others of %s', async (_, fields) => {
  const sent: string[] = []
  upstream.script((exchange) => {
    sent.push(exchange.body.model)
    return exchange.body.model === 'up-free'
      ? exchange.answer(200, proseAnswer('Hi'))
      : exchange.answer(429, '{"error":{"message":"Slow down."}}', { 'retry-after': '60' })
  })
  const asked = async (): Promise<unknown> => {
    const answer = await infer(service, { model: 'fake/limited', messages: [{ role: 'user', content: 'Hi' }], ...fields })
    return answer.json
  }
  for (let time = 0; time < 3; time += 1) expect(await asked()).toMatchObject({ provider: 'keeper' })
  expect(sent.slice(-2)).toEqual(['up-free', 'up-free'])
})
