/** Several keys of one provider, some of which it refuses or limits (docs/failover.md#several-keys-of-one-provider). */
import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const [keyed, spare] = [await startFakeUpstream(), await startFakeUpstream()]
let service: StartedService

const failing = (name: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${name}-key-${index}`)

beforeAll(async () => {
  keyed.script((exchange) => {
    const key = exchange.headers['authorization'] ?? ''
    if (key.includes('good')) return say('with a good key')(exchange)
    const status = key.includes('limited') ? 429 : 401
    return exchange.answer(status, JSON.stringify({ error: { message: 'Not with this key.', code: 'some_code' } }))
  })
  spare.script(say('from the spare'))
  service = await services.start({
    config: `
providers:
  refused: { dialects: [openai-chat], base_url: "${keyed.url}", api_key: ${JSON.stringify([...failing('refused', 6), 'a-good-key'])} }
  limited: { dialects: [openai-chat], base_url: "${keyed.url}", api_key: ${JSON.stringify([...failing('limited', 6), 'a-good-key'])} }
  dead: { dialects: [openai-chat], base_url: "${keyed.url}", api_key: ${JSON.stringify(failing('dead', 6))} }
  spare: { dialects: [openai-chat], base_url: "${spare.url}", api_key: a-key }
models:
  v/refused: { endpoints: [{ provider: refused, model: up }] }
  v/limited: { endpoints: [{ provider: limited, model: up }] }
  v/dead: { endpoints: [{ provider: dead, model: up }] }
  v/both: { endpoints: [{ provider: dead, model: up }, { provider: spare, model: up }] }
  v/spare: { endpoints: [{ provider: spare, model: up }] }
`,
  })
})

const said = async (body: object): Promise<unknown> => {
  const { json } = await infer(service, { messages: [{ role: 'user', content: 'Hi' }], ...body })
  return (json as { choices?: { message: { content: string } }[] }).choices?.[0]?.message.content ?? json
}

test('a key that works is found behind more keys than a request makes attempts', async () => {
  expect(await said({ model: 'v/refused' })).toBe('with a good key')
  expect(await said({ model: 'v/limited' })).toBe('with a good key')
})

test('keys that fail take no turn from the next provider or the next model, however often they failed before', async () => {
  for (let request = 0; request < 3; request += 1) {
    expect(await said({ model: 'v/both', provider: { order: ['dead', 'spare'] } })).toBe('from the spare')
    expect(await said({ model: 'v/dead', models: ['v/spare'] })).toBe('from the spare')
  }
})

test('keys that are known to fail are tried four times at most', async () => {
  await said({ model: 'v/dead' })
  const before = keyed.exchanges.length
  expect(await said({ model: 'v/dead' })).toMatchObject({ error: { code: 502 } })
  expect(keyed.exchanges.length - before).toBeLessThanOrEqual(4)
})
