/** The defaults of a workspace apply to requests of its keys that do not set the value themselves, and to no others. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, createKey, infer } from '../support/calls.ts'
import { startFakeUpstream, say } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const fake = await startFakeUpstream()
let service: StartedService
let tenant: { readonly id: string; readonly management: string; readonly inference: string }

const keyOf = async (body: object): Promise<string> => (await createKey(service, body)).key

beforeAll(async () => {
  // By price `cheap` comes first, in the file's order `dear` does, so the result shows which sort applied.
  service = await services.start({
    config: `
providers:
  dear: { name: Dear, dialects: [openai-chat], base_url: "${fake.url}", api_key: sk-dear-0123456789 }
  cheap: { name: Cheap, dialects: [openai-chat], base_url: "${fake.url}", api_key: sk-cheap-0123456789 }
models:
  fake/both:
    endpoints:
      - { provider: dear, model: up, prices: { prompt: 1.1, completion: 1.1 } }
      - { provider: cheap, model: up, prices: { prompt: 1, completion: 1 } }
`,
  })
  fake.script(say('Hello.'))
  const made = await call(service, 'POST', '/workspaces', { body: { name: 'Tenant', slug: 'tenant' } })
  const { id } = (made.json as { data: { id: string } }).data
  tenant = {
    id,
    management: await keyOf({ name: 'm', kind: 'management', workspace_id: id }),
    inference: await keyOf({ name: 'i', workspace_id: id }),
  }
})

const set = async (settings: object): Promise<void> => {
  const nothing = { default_text_model: null, default_image_model: null, default_provider_sort: null }
  expect((await call(service, 'PATCH', '/workspaces/tenant', { key: tenant.management, body: { ...nothing, ...settings } })).status).toBe(
    200,
  )
}

const messages = [{ role: 'user', content: 'Hi' }]
const ask = (body: object, path = '/chat/completions'): Promise<Answer> =>
  infer(service, { messages, ...body }, { key: tenant.inference, path })
const modelOf = (answer: Answer): unknown => (answer.json as { model?: unknown }).model

describe('default_text_model', () => {
  test.each([
    ['/chat/completions', { messages }],
    ['/responses', { input: 'Hi' }],
    ['/messages', { messages, max_tokens: 20 }],
  ])('%s without a model is answered by it, at once after it was set', async (path, body) => {
    await set({})
    const asked = () => infer(service, body, { key: tenant.inference, path })
    expect((await asked()).status).toBe(400)
    await set({ default_text_model: 'sandbox/echo' })
    const answer = await asked()
    expect([answer.status, modelOf(answer)]).toEqual([200, 'sandbox/echo'])
    // Another workspace has its own defaults.
    expect((await infer(service, body, { path })).status).toBe(400)
  })

  test('a model or models of the request, and the model of a preset, win', async () => {
    await set({ default_text_model: 'sandbox/echo' })
    await call(service, 'POST', '/presets/lorem/chat/completions', { key: tenant.management, body: { model: 'fake/both' } })
    expect(modelOf(await ask({ model: 'fake/both' }))).toBe('fake/both')
    expect(modelOf(await ask({ models: ['fake/both'] }))).toBe('fake/both')
    expect(modelOf(await ask({ model: '@preset/lorem' }))).toBe('fake/both')
    expect(modelOf(await ask({ preset: 'lorem' }))).toBe('fake/both')
  })

  test('a preset without a model is answered by it; one as the default is a preset', async () => {
    await call(service, 'POST', '/presets/bare/chat/completions', {
      key: tenant.management,
      body: { messages: [{ role: 'system', content: 'Be kind.' }] },
    })
    await set({ default_text_model: 'sandbox/echo' })
    for (const body of [{ model: '@preset/bare' }, { preset: 'bare' }]) {
      const answer = await ask(body)
      expect([answer.status, modelOf(answer), answer.headers.get('x-preset')]).toEqual([200, 'sandbox/echo', 'bare@1'])
    }
    await set({ default_text_model: '@preset/lorem' })
    const answer = await ask({})
    expect([modelOf(answer), answer.headers.get('x-preset')]).toEqual(['fake/both', 'lorem@1'])
    // It does not supply what another preset lacks.
    expect((await ask({ preset: 'bare' })).status).toBe(400)
  })

  test('a request for pictures takes default_image_model, and only that', async () => {
    await set({ default_text_model: 'sandbox/echo', default_image_model: 'sandbox/no-such-painter' })
    const answer = await ask({ modalities: ['image', 'text'] })
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('sandbox/no-such-painter')])
    expect(modelOf(await ask({ modalities: ['text'] }))).toBe('sandbox/echo')
    await set({ default_text_model: 'sandbox/echo' })
    expect((await ask({ modalities: ['image', 'text'] })).status).toBe(400)
  })
})

describe('default_provider_sort', () => {
  /** The reported reason for the order of the attempts. */
  const strategy = async (body: object): Promise<string> => {
    const answer = await infer(
      service,
      { model: 'fake/both', messages, ...body },
      { key: tenant.inference, headers: { 'x-service-dry-run': 'enabled' } },
    )
    expect(answer.status).toBe(200)
    return answer.text
  }

  test('sorts where the request names no sort, and keeps the rest of what it wishes', async () => {
    await set({})
    expect(await strategy({})).not.toContain('sort:price')
    await set({ default_provider_sort: 'price' })
    expect(await strategy({})).toContain('sort:price')
    expect(await strategy({ provider: { sort: null } })).toContain('sort:price')
    expect(await strategy({ provider: { sort: { partition: 'none' } } })).toContain('sort:price')
    expect(await strategy({ provider: { order: ['dear'] } })).toContain('provider.order')
    expect(await strategy({ provider: { sort: 'latency' } })).toContain('sort:latency')
    expect(await strategy({ provider: { sort: { by: 'throughput' } } })).toContain('sort:throughput')
    expect(await strategy({ model: 'fake/both:nitro' })).toContain('sort:throughput')
  })

  test('sorts the providers of embeddings too, and changes nothing of what they get', async () => {
    fake.script((exchange) => exchange.answer(200, '{"object":"list","data":[],"model":"up","usage":{"prompt_tokens":1,"total_tokens":1}}'))
    const asked = async (): Promise<unknown> => {
      const before = fake.exchanges.length
      const body = { model: 'fake/both', input: 'Hi' }
      expect((await infer(service, body, { key: tenant.inference, path: '/embeddings' })).status).toBe(200)
      return { ...fake.exchanges[before]?.body, key: fake.exchanges[before]?.headers['authorization'] }
    }
    try {
      await set({ default_provider_sort: 'price' })
      const cheap = { model: 'up', input: 'Hi', key: 'Bearer sk-cheap-0123456789' }
      // By chance alone the more expensive one would be called now and then.
      for (let time = 0; time < 12; time += 1) expect(await asked()).toEqual(cheap)
    } finally {
      fake.script(say('Hello.'))
    }
  })

  test('does not change the bytes that a provider gets', async () => {
    const sent = async (): Promise<unknown> => {
      const before = fake.exchanges.length
      await ask({ model: 'fake/both', temperature: 0.5 })
      return fake.exchanges[before]?.body
    }
    await set({})
    const plain = await sent()
    await set({ default_provider_sort: 'price' })
    expect(await sent()).toEqual(plain)
  })
})
