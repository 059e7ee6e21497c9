/** Several keys of one provider: which one is used, when the next one is, and how that is reported. */
import { beforeEach, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { rawAnswer, rst, startRawUpstream } from '../support/raw-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()
const spare = await startFakeUpstream()
spare.script(say('From the spare.'))
const CHUNKED_ANSWER = rawAnswer(
  200,
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Again.' }, finish_reason: 'stop' }] }),
)
const racing = await startRawUpstream([CHUNKED_ANSWER])

const KEYS = ['sk-first-key-000000', 'sk-second-key-00000', 'sk-third-key-000000'] as const

const names = ['refused', 'limited', 'all', 'none'] as const

const service = await useServices().start({
  config: `
providers:
${names.map((name) => `  ${name}: { name: ${name}, dialects: [openai-chat], base_url: "${upstream.url}", api_key: [${KEYS.join(', ')}] }`).join('\n')}
  spare: { name: Spare, dialects: [openai-chat], base_url: "${spare.url}", api_key: spare-key }
  racing: { name: Racing, dialects: [openai-chat], base_url: "http://127.0.0.1:${racing.port}/v1" }
models:
${names.map((name) => `  m/${name}: { endpoints: [{ provider: ${name}, model: up }, { provider: spare, model: up }] }`).join('\n')}
  m/racing: { endpoints: [{ provider: racing, model: up }] }
  m/small: { endpoints: [{ provider: refused, model: up }, { provider: spare, model: up }] }
  m/large: { endpoints: [{ provider: spare, model: up }] }
`,
})

beforeEach(() => {
  from = upstream.exchanges.length
})
let from = 0

const ask = (model: string, more: object = {}) => infer(service, { model, messages: [{ role: 'user', content: 'Hi' }], ...more })
const keysUsed = (): (string | undefined)[] => upstream.exchanges.slice(from).map(({ headers }) => headers['authorization']?.slice(7))

test('after a refused key, the next one is used; the refused one is set aside, and an alarm names its place', async () => {
  upstream.script((exchange) =>
    exchange.headers['authorization'] === `Bearer ${KEYS[0]}`
      ? exchange.answer(401, JSON.stringify({ error: { message: `Incorrect key ${KEYS[0]}`, code: 'invalid_api_key' } }))
      : say('With another key.')(exchange),
  )
  for (let round = 0; round < 2; round += 1) expect((await ask('m/refused')).text).toContain('With another key.')
  expect(keysUsed()).toEqual([KEYS[0], KEYS[1], KEYS[1]])
  await until(() => service.stderr().includes('refuses a key of ours'), 'the alarm')
  const alarm = service
    .stderr()
    .split('\n')
    .find((line) => line.includes('refuses a key of ours'))
  expect(JSON.parse(alarm ?? '{}')).toMatchObject({ level: 'error', provider: 'refused', key_number: 1 })
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('patchbay_credentials_refused_total{provider="refused"} 1')
  expect(service.stderr() + service.stdout()).not.toContain(KEYS[0])
})

test('after a rate-limited key, the next one is used; the limited one rests for as long as the provider asked', async () => {
  upstream.script((exchange) =>
    exchange.headers['authorization'] === `Bearer ${KEYS[0]}`
      ? exchange.answer(429, '{"error":{"message":"Slow down."}}', { 'retry-after': '60' })
      : say('With another key.')(exchange),
  )
  for (let round = 0; round < 2; round += 1) expect((await ask('m/limited', { stream: true })).text).toContain('With another key.')
  expect(keysUsed()).toEqual([KEYS[0], KEYS[1], KEYS[1]])
})

test('if every key is refused, the next provider answers, and the client never gets a 401', async () => {
  upstream.script((exchange) => exchange.answer(401, '{"error":{"message":"No."}}'))
  const answer = await ask('m/all')
  expect(answer.text).toContain('From the spare.')
  expect(keysUsed()).toEqual([...KEYS])
  const alone = await ask('m/none', { provider: { only: ['none'] } })
  expect(alone.error).toMatchObject({ code: 502, metadata: { error_type: 'provider_unavailable' } })
  expect(alone.error.metadata['previous_errors']).toMatchObject([
    { provider_name: 'none', model: 'm/none', code: 502, error_type: 'provider_unavailable' },
    { provider_name: 'none', model: 'm/none', code: 502, error_type: 'provider_unavailable' },
  ])
  expect(alone.text).not.toContain('sk-')
  const id = alone.headers.get('x-generation-id') ?? ''
  const { json } = await call(service, 'GET', `/generation?id=${id}`, { key: service.inferenceKey })
  expect((json as { data: { provider_responses: unknown[] } }).data.provider_responses).toMatchObject([
    { status: 401 },
    { status: 401 },
    { status: 401 },
  ])
})

test('a prompt too long for one model is sent to no other provider of it, but to the next model of the list', async () => {
  upstream.script((exchange) => exchange.answer(400, '{"error":{"message":"Too long.","code":"context_length_exceeded"}}'))
  const asked = spare.exchanges.length
  const alone = await ask('m/small')
  expect(alone.error).toMatchObject({ code: 400, metadata: { error_type: 'context_length_exceeded' } })
  expect(spare.exchanges).toHaveLength(asked)
  const answer = await ask('m/small', { models: ['m/large'] })
  expect(answer.json).toMatchObject({ model: 'm/large', provider: 'Spare' })
})

test('a connection that is reset at the moment of its reuse is silently retried once, on a fresh one', async () => {
  expect((await ask('m/racing')).text).toContain('Again.')
  const { connections } = racing
  // The first connection resets on its next request; a new connection answers.
  racing.play([CHUNKED_ANSWER], [rst])
  const answer = await ask('m/racing')
  expect(answer.text).toContain('Again.')
  expect(racing.connections).toBe(connections + 1)
  const id = answer.headers.get('x-generation-id') ?? ''
  const { json } = await call(service, 'GET', `/generation?id=${id}`, { key: service.inferenceKey })
  expect((json as { data: { provider_responses: unknown[] } }).data.provider_responses).toMatchObject([{ status: 200 }])
})
