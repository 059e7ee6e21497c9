/** Embeddings are only sent to providers that speak the dialect of the request. */
import { beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { call, infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  other: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  openai: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  openai/three: { endpoints: [{ provider: openai, model: up-three }] }
  other/two: { endpoints: [{ provider: other, model: up-two }] }
  fake/one:
    endpoints: [{ provider: other, model: up-other }, { provider: fake, model: up-one }]
`,
  })
  upstream.script((exchange) =>
    exchange.answer(200, '{"object":"list","data":[],"model":"up","usage":{"prompt_tokens":1,"total_tokens":1}}'),
  )
})

test.each(['sandbox/echo', 'other/two'])(
  'a model whose providers have no embeddings is refused before any provider is asked: %s',
  async (model) => {
    const answer = await infer(service, { model, input: 'hi' }, { path: '/embeddings' })
    expect([answer.status, upstream.exchanges.length]).toEqual([422, 0])
    expect(answer.json).toMatchObject({ error: { message: 'No provider of this model has embeddings. Use an embedding model.' } })
  },
)

test.each(['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'])(
  'an embedding model of OpenAI needs no entry in the file, under the name that libraries ask for: %s',
  async (model) => {
    const answer = await infer(service, { model, input: 'hi' }, { path: '/embeddings' })
    expect([answer.status, upstream.last.body['model']]).toEqual([200, model])
    const { json } = await call(service, 'GET', '/models?output_modalities=embeddings')
    expect((json as { data: readonly { id: string }[] }).data.map(({ id }) => id)).toContain(`openai/${model}`)
    const { json: texts } = await call(service, 'GET', '/models?output_modalities=text')
    expect((texts as { data: readonly { id: string }[] }).data.map(({ id }) => id)).not.toContain(`openai/${model}`)
  },
)

test('a provider without embeddings is skipped for one that has them', async () => {
  const answer = await infer(service, { model: 'fake/one', input: 'hi', provider: { order: ['other'] } }, { path: '/embeddings' })
  expect([answer.status, upstream.last.body['model']]).toEqual([200, 'up-one'])
})

test('the openai client, which asks for base64 by itself, reads the numbers of a server that knows no base64', async () => {
  const embedding = [0.5, -0.25, 0.125, 1]
  const answer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding }], usage: { prompt_tokens: 1, total_tokens: 1 } }
  upstream.script((exchange) => exchange.answer(200, JSON.stringify(answer)))
  const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
  const { data } = await client.embeddings.create({ model: 'fake/one', input: 'hi' })
  expect(upstream.last.body['encoding_format']).toBe('base64')
  expect(data.map((one) => Array.from(one.embedding))).toEqual([embedding])
})

test('a field that a provider does not accept causes a warning, and in a strict request a refusal before any provider is asked', async () => {
  const asked = { model: 'openai/three', input: 'hi', input_type: 'search_query' }
  const lenient = await infer(service, asked, { path: '/embeddings' })
  expect([lenient.status, lenient.headers.get('x-service-warnings'), upstream.last.body['input_type']]).toEqual([200, '1', undefined])
  const online = await infer(service, { model: 'openai/three:online', input: 'hi' }, { path: '/embeddings' })
  expect([online.status, online.headers.get('x-service-warnings')]).toEqual([200, '1'])
  const before = upstream.exchanges.length
  const strict = [
    await infer(service, asked, { path: '/embeddings', headers: { 'x-service-strict': 'enabled' } }),
    await infer(service, { ...asked, strict: true }, { path: '/embeddings' }),
    await infer(service, { model: 'openai/three:thinking', input: 'hi', strict: true }, { path: '/embeddings' }),
    await infer(service, { model: 'openai/three:online', input: 'hi', strict: true }, { path: '/embeddings' }),
    await infer(service, { ...asked, plugins: [{ id: 'web' }] }, { path: '/embeddings', headers: { 'x-service-strict': 'enabled' } }),
  ]
  expect(strict.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
  expect(upstream.exchanges.length).toBe(before)
})

test.each([
  ['model', { model: '@preset/any' }],
  ['model', { model: 'openai/three@preset/any' }],
  ['preset', { model: 'openai/three', preset: 'any' }],
])('400: a preset, which is for conversations, named in %s', async (field, named) => {
  const before = upstream.exchanges.length
  const answer = await infer(service, { input: 'hi', ...named }, { path: '/embeddings' })
  expect([answer.status, upstream.exchanges.length]).toEqual([400, before])
  expect(answer.json).toMatchObject({ error: { message: `${field}: A preset is for conversations. Name an embedding model.` } })
})

test.each([
  ['models', ['openai/four']],
  ['plugins', [{ id: 'moderation' }]],
  ['route', 'fallback'],
])('%s, which only conversations have, causes a warning, and in a strict request a refusal', async (field, value) => {
  const asked = { model: 'openai/three', input: 'hi', [field]: value }
  const lenient = await infer(service, asked, { path: '/embeddings' })
  expect([lenient.status, lenient.headers.get('x-service-warnings'), upstream.last.body[field]]).toEqual([200, '1', undefined])
  const before = upstream.exchanges.length
  const strict = await infer(service, { ...asked, strict: true }, { path: '/embeddings' })
  expect([strict.status, upstream.exchanges.length]).toEqual([400, before])
  expect(strict.json).toMatchObject({ error: { message: expect.stringContaining(`Embeddings do not take ${field}`) } })
})

test.each([
  ['provider.data_colection', { provider: { data_colection: 'deny' } }],
  ['provider.only', { provider: { only: 'openai' } }],
  ['strict', { strict: 'yes' }],
])('400: a fault in a field for the service, which no provider would report: %s', async (path, fields) => {
  const before = upstream.exchanges.length
  const answer = await infer(service, { model: 'openai/three', input: 'hi', ...fields }, { path: '/embeddings' })
  expect([answer.status, upstream.exchanges.length]).toEqual([400, before])
  expect(answer.json).toMatchObject({ error: { metadata: { issues: [{ path }] } } })
})

test('a dry run shows the body for the provider, and asks no provider', async () => {
  const before = upstream.exchanges.length
  const asked = { model: 'openai/three', input: ['hi', 'there'], dimensions: 8 }
  const shown = await infer(service, asked, { path: '/embeddings', headers: { 'x-service-dry-run': 'enabled' } })
  expect([shown.status, upstream.exchanges.length]).toEqual([200, before])
  expect(shown.json).toMatchObject({
    object: 'service.dry_run',
    request: asked,
    upstream_request: { provider: 'OpenAI', model: 'up-three', body: { model: 'up-three', input: ['hi', 'there'], dimensions: 8 } },
  })
  const unknown = { model: 'openai/thre', input: 'hi' }
  expect((await infer(service, unknown, { path: '/embeddings', headers: { 'x-service-dry-run': 'enabled' } })).status).toBe(404)
})

test('routing metadata, where they are asked for, name the provider and each warning of an answer, and those of a refusal', async () => {
  const ask = (fields: object, header = 'x-service-metadata') =>
    infer(service, { model: 'openai/three', input: 'hi', ...fields }, { path: '/embeddings', headers: { [header]: 'enabled' } })
  const lossy = await ask({ plugins: [{ id: 'moderation' }] })
  expect(lossy.json).toMatchObject({
    object: 'list',
    service_metadata: { requested: 'openai/three', attempt: 1, warnings: [{ code: 'unsupported_field', field: 'plugins' }] },
  })
  expect((await ask({}, 'x-openrouter-metadata')).json).toHaveProperty('openrouter_metadata.attempt', 1)
  expect((await infer(service, { model: 'openai/three', input: 'hi' }, { path: '/embeddings' })).json).not.toHaveProperty(
    'service_metadata',
  )
  const nobody = await ask({ provider: { only: ['nobody'] } })
  expect([nobody.status, nobody.json]).toEqual([
    503,
    expect.objectContaining({ service_metadata: expect.objectContaining({ requested: 'openai/three', attempt: 0 }) }),
  ])
  expect((await ask({ input: 5 })).json).not.toHaveProperty('service_metadata')
  upstream.script((exchange) => exchange.answer(429, '{"error":{"message":"Slow down."}}'))
  const failed = await ask({})
  expect([failed.status, failed.json]).toEqual([
    429,
    expect.objectContaining({ service_metadata: expect.objectContaining({ attempt: 1 }) }),
  ])
  upstream.script((exchange) =>
    exchange.answer(200, '{"object":"list","data":[],"model":"up","usage":{"prompt_tokens":1,"total_tokens":1}}'),
  )
})

test('a request without a model is refused, because the default models of a workspace are for conversations', async () => {
  await call(service, 'PATCH', '/workspaces/default', { body: { default_text_model: 'fake/one' } })
  const answer = await infer(service, { input: 'hi' }, { path: '/embeddings' })
  expect(answer.status).toBe(400)
})

test("the client's trace is in the record, with the limits of the other interfaces, and reaches no provider", async () => {
  const trace = { trace_name: 'Indexing', order: { id: 7 } }
  const answer = await infer(service, { model: 'fake/one', input: 'hi', trace }, { path: '/embeddings' })
  expect([answer.status, upstream.last.body['trace']]).toEqual([200, undefined])
  const { json } = await call(service, 'GET', `/generation?id=${(answer.json as { id: string }).id}`)
  expect(json).toMatchObject({ data: { trace } })
  const before = upstream.exchanges.length
  for (const large of [{ text: 'x'.repeat(16 * 1024) }, Object.fromEntries(Array.from({ length: 65 }, (_, key) => [`k${key}`, 1]))]) {
    expect((await infer(service, { model: 'fake/one', input: 'hi', trace: large }, { path: '/embeddings' })).status).toBe(400)
  }
  expect(upstream.exchanges.length).toBe(before)
})

test.each([
  ['openai/three', 64],
  ['fake/one', 150],
])('%s: a user name has the length that the vendor accepts', async (model, length) => {
  const answer = await infer(service, { model, input: 'hi', user: 'u'.repeat(150) }, { path: '/embeddings' })
  expect([answer.status, String(upstream.last.body['user']).length]).toEqual([200, length])
})

test('input in tokens, which no guardrail can read, is refused where a guardrail may keep it from the provider', async () => {
  const filter = (action: string) =>
    call(service, 'PATCH', '/guardrails/default', { body: { content_filters: [{ pattern: 'PROJ-\\d+', action }] } })
  const ask = (input: unknown) => infer(service, { model: 'fake/one', input }, { path: '/embeddings' })
  for (const action of ['block', 'redact']) {
    await filter(action)
    const before = upstream.exchanges.length
    const refused = [await ask([1, 2, 3]), await ask([[1, 2], [3]])]
    expect(refused.map(({ status }) => status)).toEqual([403, 403])
    expect(refused[0]?.error.message).toBe('The guardrails of this key read the input: send it as text, and not as tokens.')
    expect(upstream.exchanges.length).toBe(before)
    expect((await ask(['hi'])).status).toBe(200)
  }
  await filter('flag')
  expect((await ask([1, 2, 3])).status).toBe(200)
  await call(service, 'DELETE', '/guardrails/default')
})
