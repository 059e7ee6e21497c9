/** POST /providers/{slug}/test (docs/contract/management.md#provider-tests). */
import { beforeEach, expect, test } from 'bun:test'

import { type Answer, call } from '../support/calls.ts'
import { FINISH_CHUNK, proseChunk, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

interface Reported {
  readonly ok: boolean
  readonly model: string
  readonly status: number | null
  readonly ttft_ms: number | null
  readonly total_ms: number
  readonly cost_usd: number
  readonly generation_id: string | null
  readonly error?: { readonly type: string; readonly message: string }
}

const services = useServices()
const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  idle: { name: Idle, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/dear: { endpoints: [{ provider: fake, model: up-dear, prices: { prompt: 10, completion: 10 } }] }
  fake/cheap: { endpoints: [{ provider: fake, model: up-cheap, prices: { prompt: 1, completion: 1 } }] }
  idle/one: { endpoints: [{ provider: idle, model: up-idle, prices: { prompt: 1, completion: 1 } }] }
`

const USAGE_CHUNK = JSON.stringify({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
})

const service = await services.start({ config: CONFIG })

beforeEach(() => {
  upstream.script((exchange) => exchange.stream([proseChunk('Hi'), FINISH_CHUNK, USAGE_CHUNK]))
})

const tryProvider = (slug: string, body: object = {}, of = service): Promise<Answer> =>
  call(of, 'POST', `/providers/${slug}/test`, { body })
const reported = (answer: Answer): Reported => (answer.json as { data: Reported }).data

test('a test asks for one token of the cheapest model, and returns its times and cost, recorded as a test', async () => {
  const answer = await tryProvider('fake')
  expect(answer.status).toBe(200)
  const result = reported(answer)
  expect(result).toMatchObject({ ok: true, model: 'fake/cheap', status: 200, cost_usd: 8e-6 })
  expect(result.ttft_ms).toBeGreaterThan(0)
  expect(result.total_ms).toBeGreaterThanOrEqual(result.ttft_ms ?? Number.POSITIVE_INFINITY)
  expect(result.error).toBeUndefined()
  expect(upstream.last.body).toMatchObject({ model: 'up-cheap', max_tokens: 1 })
  const record = await call(service, 'GET', `/generation?id=${result.generation_id}`)
  expect(record.json).toMatchObject({ data: { origin: 'test', model: 'fake/cheap' } })
})

test('a test can name a model', async () => {
  expect(reported(await tryProvider('fake', { model: 'fake/dear' }))).toMatchObject({ ok: true, model: 'fake/dear' })
})

test('a failure is a 200 with the status of the provider and a sentence of what happened', async () => {
  upstream.script((exchange) =>
    exchange.answer(401, JSON.stringify({ error: { message: 'Incorrect API key provided.' } }), { 'content-type': 'application/json' }),
  )
  const result = reported(await tryProvider('fake'))
  expect(result).toMatchObject({ ok: false, status: 401, cost_usd: 0 })
  expect(result.error?.message).toContain('refused the credential')
})

test("a provider's own failure is reported in the provider's words, as in the record", async () => {
  upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The model ran out of memory.' } })))
  const result = reported(await tryProvider('fake'))
  const record = await call(service, 'GET', `/generation?id=${result.generation_id}`)
  const { error } = (record.json as { data: { error: { message: string } } }).data
  expect(result).toMatchObject({ ok: false, status: 500, error: { message: error.message } })
  expect(error.message).toContain('The model ran out of memory.')
})

test('404 for an unknown provider, 400 for a model that it does not serve, 403 for an inference key', async () => {
  expect((await tryProvider('unknown')).status).toBe(404)
  expect((await tryProvider('fake', { model: 'sandbox/echo' })).status).toBe(400)
  expect((await tryProvider('fake', { modle: 'x' })).status).toBe(400)
  expect((await call(service, 'POST', '/providers/fake/test', { key: service.inferenceKey, body: {} })).status).toBe(403)
})

test('404 says which variable enables a known provider, and which name was meant', async () => {
  const reasonFor = async (slug: string): Promise<string> => (await tryProvider(slug)).text
  expect(await reasonFor('openai')).toContain('The provider \\"openai\\" is not enabled here. The operator can set OPENAI_API_KEY.')
  expect(await reasonFor('fakee')).toContain('There is no provider \\"fakee\\". Did you mean \\"fake\\"?')
})

test('429: six a minute for one provider, with Retry-After; another provider has its own', async () => {
  const statuses: number[] = []
  for (let asked = 0; asked < 7; asked += 1) statuses.push((await tryProvider('idle')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
  const refused = await tryProvider('idle')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await tryProvider('sandbox')).status).toBe(200)
})

test('a provider that failed recently is still asked', async () => {
  const lone = await services.start({ config: CONFIG })
  upstream.script((exchange) => exchange.answer(500, '{}'))
  const ask = () =>
    call(lone, 'POST', '/chat/completions', {
      key: lone.inferenceKey,
      body: { model: 'idle/one', messages: [{ role: 'user', content: 'Hi' }] },
    })
  for (let asked = 0; asked < 30; asked += 1) await ask()
  expect(reported(await tryProvider('idle', {}, lone)).ok).toBe(false)
  upstream.script((exchange) => exchange.stream([proseChunk('Hi'), FINISH_CHUNK, USAGE_CHUNK]))
  const before = upstream.exchanges.length
  expect(reported(await tryProvider('idle', {}, lone))).toMatchObject({ ok: true })
  expect(upstream.exchanges.length).toBe(before + 1)
})

test('the test of a provider that does not answer is abandoned after ten seconds', async () => {
  const lone = await services.start({ config: CONFIG })
  upstream.script((exchange) => exchange.head(200, { 'content-type': 'text/event-stream' }))
  const answer = reported(await tryProvider('fake', {}, lone))
  expect(answer).toMatchObject({ ok: false, error: { type: 'timeout' } })
  expect(answer.total_ms).toBeGreaterThanOrEqual(9900)
}, 300_000)
