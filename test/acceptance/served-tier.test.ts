/** A request is charged at the price of the tier that served it; its hold is at the most expensive tier that may serve it. */
import { describe, expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const TIERED = (provider: string) => `
    endpoints:
      - { provider: ${provider}, model: up-one, prices: { prompt: 1, completion: 2 } }
      - { provider: ${provider}, model: up-one, service_tier: priority, prices: { prompt: 2, completion: 4 } }
      - { provider: ${provider}, model: up-one, service_tier: flex, prices: { prompt: 0.5, completion: 1 } }`

const CONFIG = `
providers:
  claude: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
  gpt: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  rsp: { dialects: [openai-responses], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  rsp/one:${TIERED('rsp')}
  gpt/apart:
    endpoints:
      - { provider: gpt, model: up-ordinary, prices: { prompt: 1, completion: 2 } }
      - { provider: gpt, model: up-priority, service_tier: priority, prices: { prompt: 2, completion: 4 } }
  claude/apart:
    endpoints:
      - { provider: claude, model: up-ordinary, prices: { prompt: 1, completion: 2 } }
      - { provider: claude, model: up-priority, service_tier: priority, prices: { prompt: 2, completion: 4 } }
  claude/one:${TIERED('claude')}
  gpt/one:${TIERED('gpt')}
`

const service = await useServices().start({ config: CONFIG })

const ORDINARY = 0.000_4
const PREMIUM = 0.000_8
const FLEX = 0.000_2

const messagesAnswer = (reported: object): string =>
  JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up-one',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 200, output_tokens: 100, ...reported },
  })

const costOf = ({ json }: { readonly json: unknown }): number => (json as { usage: { cost: number } }).usage.cost

test.each<[string, object, object, number]>([
  ['an ordinary request', {}, {}, ORDINARY],
  ['an ordinary request, served as such', {}, { service_tier: 'standard', speed: 'standard' }, ORDINARY],
  ['an ordinary request that was served fast', {}, { speed: 'fast' }, PREMIUM],
  ['a fast request', { speed: 'fast' }, { service_tier: 'standard', speed: 'fast' }, PREMIUM],
  ['a fast request whose answer says nothing of its speed', { speed: 'fast' }, { service_tier: 'standard' }, PREMIUM],
  ['a fast request that was served at the standard speed', { speed: 'fast' }, { service_tier: 'standard', speed: 'standard' }, ORDINARY],
  ['a request for priority that was served as any other', { service_tier: 'priority' }, { service_tier: 'standard' }, ORDINARY],
])('messages: %s', async (_, fields, reported, cost) => {
  upstream.script((exchange) => exchange.answer(200, messagesAnswer(reported)))
  const body = { model: 'claude/one', max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }], ...fields }
  expect(costOf(await infer(service, body, { path: '/messages' }))).toBeCloseTo(cost, 9)
})

test.each<[string, object, object, number]>([
  ['an ordinary request', {}, {}, ORDINARY],
  ['a request for priority', { service_tier: 'priority' }, { service_tier: 'priority' }, PREMIUM],
  ['a request for priority that was served as any other', { service_tier: 'priority' }, { service_tier: 'default' }, ORDINARY],
  ['a request for flex', { service_tier: 'flex' }, { service_tier: 'flex' }, FLEX],
  ['a request that leaves the tier open, served by the premium one', { service_tier: 'auto' }, { service_tier: 'priority' }, PREMIUM],
  ['a tier that nobody knows', {}, { service_tier: 'scale' }, ORDINARY],
])('chat: %s', async (_, fields, reported, cost) => {
  const usage = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
  upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi.', { usage, ...reported })))
  const body = { model: 'gpt/one', max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }], ...fields }
  expect(costOf(await infer(service, body))).toBeCloseTo(cost, 9)
})

describe("the tier of the endpoint is reported if the provider of the client's dialect reports none", () => {
  const USAGE = { input_tokens: 200, output_tokens: 100, total_tokens: 300 }
  const CHAT_USAGE = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
  const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up-one', choices: [] }
  const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'up-one', output: [] }
  const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up-one', content: [], usage: USAGE }

  test.each<[path: string, model: string, whole: string, streamed: readonly object[]]>([
    [
      '/chat/completions',
      'gpt/one',
      proseAnswer('Hi.', { usage: CHAT_USAGE }),
      [
        { ...CHUNK, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] },
        { ...CHUNK, usage: CHAT_USAGE },
      ],
    ],
    [
      '/responses',
      'rsp/one',
      JSON.stringify({ ...RESPONSE, status: 'completed', usage: USAGE, service_tier: null }),
      [
        { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
        { type: 'response.completed', response: { ...RESPONSE, status: 'completed', usage: USAGE } },
      ],
    ],
    [
      '/messages',
      'claude/one',
      messagesAnswer({ service_tier: null }),
      [
        { type: 'message_start', message: MESSAGE },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } },
        { type: 'message_stop' },
      ],
    ],
  ])('%s', async (path, model, whole, streamed) => {
    upstream.script((exchange) =>
      exchange.body.stream === true ? exchange.stream(streamed.map((event) => JSON.stringify(event))) : exchange.answer(200, whole),
    )
    const said = path === '/responses' ? { input: 'Hello!' } : { max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }] }
    const body = { model, service_tier: 'priority', ...said }
    expect(tierIn((await infer(service, body, { path })).json)).toBe('priority')
    const { text } = await infer(service, { ...body, stream: true }, { path })
    const told = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => tierIn(JSON.parse(data ?? '')))
    expect(told.filter((tier) => tier !== null && tier !== undefined)).toEqual(['priority'])
  })

  const tierIn = (value: unknown): unknown => {
    const { service_tier, response, usage } = value as Record<string, Record<string, unknown> | undefined>
    return service_tier ?? response?.['service_tier'] ?? usage?.['service_tier']
  }
})

test('speed: "fast" goes to the endpoint of the tier priority, and at ordinary speed to its fallback', async () => {
  const asked: unknown[] = []
  upstream.script((exchange) => {
    const { model, speed, service_tier: tier } = exchange.body
    asked.push([model, speed ?? tier])
    return exchange.answer(model === 'up-priority' ? 500 : 200, messagesAnswer({}))
  })
  const body = { model: 'claude/apart', max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }] }
  const answer = await infer(service, { ...body, speed: 'fast' }, { path: '/messages' })
  await infer(service, { ...body, speed: 'fast', service_tier: 'default' }, { path: '/messages' })
  expect(asked).toEqual([
    ['up-priority', 'fast'],
    ['up-ordinary', 'standard_only'],
    ['up-ordinary', 'fast'],
  ])
  const path = `/generation?id=${answer.headers.get('x-generation-id') ?? ''}`
  const record = async () => (await call(service, 'GET', path)).json as { data?: { provider_responses: readonly object[] } }
  await until(async () => (await record()).data !== undefined, 'the record')
  expect((await record()).data?.provider_responses).toMatchObject([{ routed_service_tier: 'priority' }, {}])
  expect((await record()).data?.provider_responses[1]).not.toHaveProperty('routed_service_tier')
  asked.length = 0
  await infer(service, { ...body, model: 'gpt/apart', speed: 'fast' }, { path: '/messages' })
  expect(asked[0]).toEqual(['up-priority', 'priority'])
})

test('the record names the tier that served', async () => {
  const tierOf = async (fields: object, reported: object): Promise<unknown> => {
    upstream.script((exchange) => exchange.answer(200, messagesAnswer(reported)))
    const answer = await infer(service, {
      model: 'claude/one',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello!' }],
      ...fields,
    })
    const path = `/generation?id=${answer.headers.get('x-generation-id') ?? ''}`
    const record = async () =>
      (await call(service, 'GET', path, { key: service.inferenceKey })).json as { data?: { service_tier: unknown } }
    await until(async () => (await record()).data !== undefined, 'the record')
    return (await record()).data?.service_tier
  }
  expect(await tierOf({ service_tier: 'priority' }, { service_tier: 'priority' })).toBe('priority')
  expect(await tierOf({ service_tier: 'priority' }, { service_tier: 'standard' })).toBe('default')
  expect(await tierOf({}, {})).toBeNull()
})

test('a request that a more expensive tier may serve is held at its price', async () => {
  upstream.script((exchange) => exchange.answer(200, messagesAnswer({})))
  const { key } = await createKey(service, { name: 'limited', limit: 0.003 })
  const statusOf = async (fields: object): Promise<number> => {
    const body = { model: 'claude/one', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello!' }], ...fields }
    return (await infer(service, body, { path: '/messages', key })).status
  }
  expect([await statusOf({ speed: 'fast' }), await statusOf({ service_tier: 'auto' }), await statusOf({})]).toEqual([403, 403, 200])
})
