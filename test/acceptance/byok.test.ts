/** Customers' own provider keys: entered once, never shown, used first, and paid for by the customer. */

import { OpenRouter } from '@openrouter/sdk'
import { beforeEach, describe, expect, test } from 'bun:test'

import { filesBelow } from '../support/files-below.ts'
import { call, createKey, infer, streamChunks } from '../support/calls.ts'
import { type Exchange, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const SHARED = 'sk-shared-credential-0123456789'
const OWN = 'sk-own-credential-aaaaaaaaaaaa'
const OTHER = 'sk-own-credential-bbbbbbbbbbbb'

const fake = await startFakeUpstream()
const spare = await startFakeUpstream()

const config = (fakeUrl: string): string => `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${fakeUrl}", api_key: ${SHARED} }
  spare: { name: Spare, dialects: [openai-chat], base_url: "${spare.url}", api_key: ${SHARED} }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1000, completion: 1000 } }] }
  alias/second: { endpoints: [{ provider: fake, model: UP-two, prices: { prompt: 1, completion: 1 } }] }
  fake/two:
    endpoints:
      - { provider: spare, model: up-two, prices: { prompt: 1, completion: 1 } }
      - { provider: fake, model: up-two, prices: { prompt: 1, completion: 1 } }
`

const service = await useServices().start({ config: config(fake.url) })

interface Entered {
  readonly id: string
  readonly label: string
  readonly sort_order: number
}

const enter = async (body: object, key?: string): Promise<Entered> => {
  const made = await call(service, 'POST', '/byok', {
    body: { provider: 'fake', key: OWN, ...body },
    ...(key === undefined ? {} : { key }),
  })
  expect(made.status).toBe(201)
  return (made.json as { data: Entered }).data
}

const forgetAll = async (): Promise<void> => {
  const { json } = await call(service, 'GET', '/byok?limit=100')
  for (const { id } of (json as { data: Entered[] }).data) expect((await call(service, 'DELETE', `/byok/${id}`)).status).toBe(200)
}

const tokenOf = ({ headers }: Exchange): string => headers['authorization']?.replace('Bearer ', '') ?? ''

/** The keys that the upstream received for one request, in order. */
const keysSeen = async (body: object = {}, options: { key?: string } = {}): Promise<readonly string[]> => {
  const before = fake.exchanges.length
  await infer(service, { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }], ...body }, options)
  return fake.exchanges.slice(before).map(tokenOf)
}

beforeEach(async () => {
  for (const upstream of [fake, spare]) upstream.script(say('Hello.'))
  await forgetAll()
})

describe('managing them', () => {
  test('@openrouter/sdk: create, get, update, list by provider, delete', async () => {
    const { byok } = new OpenRouter({ apiKey: service.managementKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
    const createBYOKKeyRequest = { provider: 'fake' as 'openai', key: OWN, name: 'Ours', allowedModels: ['fake/one'] }
    const { data } = await byok.create({ createBYOKKeyRequest })
    expect(data).toMatchObject({ name: 'Ours', provider: 'fake', label: 'sk-…aaaa', allowedModels: ['fake/one'], isFallback: false })
    expect((await byok.get({ id: data.id })).data).toEqual(data)
    const updated = await byok.update({ id: data.id, updateBYOKKeyRequest: { key: OTHER, isFallback: true, allowedModels: null } })
    expect(updated.data).toMatchObject({ label: 'sk-…bbbb', isFallback: true, allowedModels: null, name: 'Ours' })
    const found: string[] = []
    for await (const page of await byok.list({ provider: 'fake' as 'openai', limit: 1 }))
      found.push(...page.result.data.map(({ id }) => id))
    expect(found).toEqual([data.id])
    expect(await byok.delete({ id: data.id })).toMatchObject({ deleted: true })
    expect((await call(service, 'GET', `/byok/${data.id}`)).status).toBe(404)
  })

  test('no region is declared: global means the same, and any other is refused', async () => {
    const body = { provider: 'fake', key: OWN }
    for (const declared_region of [null, 'global']) {
      const { status, json } = await call(service, 'POST', '/byok', { body: { ...body, declared_region } })
      expect([status, json]).toMatchObject([201, { data: { declared_region: null } }])
    }
    expect((await call(service, 'POST', '/byok', { body: { ...body, declared_region: 'europe' } })).status).toBe(400)
  })

  test('the label of a short key shows only its end', async () => {
    const labels = await Promise.all(
      ['eight-ch', 'short-key-ab', 'nineteen-characters'].map(async (key) => {
        const made = await call(service, 'POST', '/byok', { body: { provider: 'fake', key } })
        return (made.json as { data: Entered }).data.label
      }),
    )
    expect(labels).toEqual(['…ch', '…ab', '…rs'])
  })

  test('the key appears in no answer and in no file of the service', async () => {
    const made = await call(service, 'POST', '/byok', { body: { provider: 'fake', key: OWN } })
    const { id } = (made.json as { data: Entered }).data
    const reported = [
      made,
      await call(service, 'GET', '/byok'),
      await call(service, 'GET', `/byok/${id}`),
      await call(service, 'GET', '/audit-log'),
    ]
    for (const { text } of reported) expect(text).not.toContain(OWN)
    for (const bytes of filesBelow(service.dataDir)) expect(bytes.includes(OWN)).toBe(false)
  })

  test.each([
    ['a provider that is not enabled', { provider: 'never', key: OWN }],
    ['a mask in place of the key', { provider: 'fake', key: 'sk-…aaaa' }],
    ['another mask', { provider: 'fake', key: 'sk-abc***********wxyz' }],
    ['a key with a line end', { provider: 'fake', key: `${OWN}\n` }],
    ['an address of its own', { provider: 'https://evil.example', key: OWN }],
    ['fallback and the only one', { provider: 'fake', key: OWN, is_fallback: true, is_byok_only: true }],
    ['an API key of nobody', { provider: 'fake', key: OWN, allowed_api_key_hashes: ['ab'.repeat(32)] }],
    ['a list of none', { provider: 'fake', key: OWN, allowed_models: [] }],
  ])('400: %s', async (_, body) => {
    expect((await call(service, 'POST', '/byok', { body })).status).toBe(400)
  })

  test.each([
    ['a fallback becomes the only one', { is_fallback: true }, { is_byok_only: true }],
    ['a fallback becomes required', { is_fallback: true }, { is_required: true }],
    ['the only one becomes a fallback', { is_byok_only: true }, { is_fallback: true }],
  ])('400, and nothing changes: %s', async (_, given, change) => {
    const { id } = await enter(given)
    expect((await call(service, 'PATCH', `/byok/${id}`, { body: change })).status).toBe(400)
    expect((await call(service, 'GET', `/byok/${id}`)).json).toMatchObject({ data: given })
  })

  test('a change without the key keeps the key; the provider cannot be changed', async () => {
    const { id } = await enter({})
    expect((await call(service, 'PATCH', `/byok/${id}`, { body: { provider: 'spare', base_url: spare.url } })).status).toBe(400)
    await call(service, 'PATCH', `/byok/${id}`, { body: { name: 'renamed' } })
    expect((await call(service, 'GET', `/byok/${id}`)).json).toMatchObject({ data: { provider: 'fake', name: 'renamed' } })
    expect(await keysSeen()).toEqual([OWN])
  })
})

describe('at inference', () => {
  test('a key is used at once, and no longer once it is disabled or deleted', async () => {
    expect(await keysSeen()).toEqual([SHARED])
    const { id } = await enter({})
    expect(await keysSeen()).toEqual([OWN])
    await call(service, 'PATCH', `/byok/${id}`, { body: { disabled: true } })
    expect(await keysSeen()).toEqual([SHARED])
    await call(service, 'PATCH', `/byok/${id}`, { body: { disabled: false, key: OTHER } })
    expect(await keysSeen()).toEqual([OTHER])
    await call(service, 'DELETE', `/byok/${id}`)
    expect(await keysSeen()).toEqual([SHARED])
  })

  test('a key takes precedence over the order of providers that the request names', async () => {
    await enter({})
    const before = spare.exchanges.length
    expect(await keysSeen({ model: 'fake/two', provider: { order: ['spare', 'fake'] } })).toEqual([OWN])
    expect(spare.exchanges).toHaveLength(before)
  })

  test('the customer’s keys are used in their order, then the shared one, then those for fallback', async () => {
    await enter({ key: 'sk-fallback-credential-cccc', is_fallback: true })
    await enter({ key: OTHER, sort_order: 9 })
    await enter({ sort_order: 5 })
    fake.script((exchange) => exchange.answer(401, '{"error":{"message":"no","code":"invalid_api_key"}}'))
    expect(await keysSeen()).toEqual([OWN, OTHER, SHARED, 'sk-fallback-credential-cccc'])
  })

  test('the shared key is not used after they fail: with is_required for its models, with is_byok_only for all', async () => {
    fake.script((exchange) => exchange.answer(401, '{"error":{"message":"no","code":"invalid_api_key"}}'))
    const { id } = await enter({ is_required: true, allowed_models: ['fake/one'] })
    expect(await keysSeen()).toEqual([OWN])
    expect(await keysSeen({ model: 'fake/two', provider: { only: ['fake'] } })).toEqual([SHARED])
    await call(service, 'PATCH', `/byok/${id}`, { body: { is_byok_only: true } })
    expect(await keysSeen({ model: 'fake/two', provider: { only: ['fake'] } })).toEqual([])
    const refused = await infer(service, { model: 'fake/two', messages: [{ role: 'user', content: 'Hi' }], provider: { only: ['fake'] } })
    expect([refused.status, refused.error.code]).toEqual([503, 503])
  })

  test('a failure says that it concerns the customer’s own key and not the service’s', async () => {
    fake.script((exchange) => exchange.answer(401, JSON.stringify({ error: { message: 'Incorrect API key provided.' } })))
    const reported = async () =>
      (await infer(service, { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }] }, { key: service.inferenceKey })).error
        .metadata
    expect(await reported()).not.toHaveProperty('is_byok')
    await enter({ is_byok_only: true })
    expect(await reported()).toMatchObject({ provider_name: 'Fake', is_byok: true })
  })

  test('a key can be restricted to models, users and API keys', async () => {
    const made = await createKey(service, { name: 'other' })
    const { id } = await enter({ allowed_models: ['fake/two'] })
    expect(await keysSeen()).toEqual([SHARED])
    await call(service, 'PATCH', `/byok/${id}`, { body: { allowed_models: null, allowed_api_key_hashes: [made.data.hash] } })
    expect([await keysSeen(), await keysSeen({}, { key: made.key })]).toEqual([[SHARED], [OWN]])
    await call(service, 'PATCH', `/byok/${id}`, { body: { allowed_api_key_hashes: null, allowed_user_ids: ['user_stranger'] } })
    expect(await keysSeen()).toEqual([SHARED])
  })

  test.each([
    ['the id', 'fake/two', true],
    ['the id in other case', 'Fake/TWO', true],
    ['a variant of it', 'fake/two:nitro', true],
    ['an alias that asks for the same', 'alias/second', true],
    ["the provider's own name", 'fake/up-two', true],
    ["the vendor's name for it", 'two', true],
    ['a pattern', 'fake/*', true],
    ['another model', 'fake/one', false],
    ['a name of nothing', 'fake/tw', false],
  ])('a model is allowed by any of its names: %s', async (_, name, allowed) => {
    await enter({ allowed_models: [name] })
    for (const model of ['fake/two', 'fake/two:nitro', 'alias/second', 'two'])
      expect([model, await keysSeen({ model, provider: { only: ['fake'] } })]).toEqual([model, [allowed ? OWN : SHARED]])
  })

  test('another workspace neither sees nor uses a key; one for every workspace is used in all', async () => {
    const { id: workspaceId } = (
      (await call(service, 'POST', '/workspaces', { body: { name: 'B', slug: 'b' } })).json as { data: { id: string } }
    ).data
    const keyOf = async (kind: string) => (await createKey(service, { name: kind, kind, workspace_id: workspaceId })).key
    const [management, inference] = [await keyOf('management'), await keyOf('inference')]
    const { id } = await enter({})
    const expectOutOfReach = async (keyId: string): Promise<void> => {
      for (const [method, body] of [['GET'], ['PATCH', { disabled: true }], ['DELETE']] as const)
        expect([method, (await call(service, method, `/byok/${keyId}`, { key: management, body })).status]).toEqual([method, 404])
    }
    await expectOutOfReach(id)
    expect((await call(service, 'GET', '/byok', { key: management })).json).toEqual({ data: [], total_count: 0 })
    expect(await keysSeen({}, { key: inference })).toEqual([SHARED])
    const body = { provider: 'fake', key: OTHER, workspace_id: null }
    expect((await call(service, 'POST', '/byok', { key: management, body })).status).toBe(403)
    await expectOutOfReach((await enter({ key: OTHER, workspace_id: null })).id)
    expect(await keysSeen({}, { key: inference })).toEqual([OTHER])
    await enter({ key: 'sk-of-workspace-b-dddddd' }, management)
    expect(await keysSeen({}, { key: inference })).toEqual([OTHER])
  })

  test('its cost is the customer’s: it is shown in usage, metadata and record, and does not use up the key’s limit', async () => {
    const made = (await call(service, 'POST', '/keys', { body: { name: 'paying', limit: 5 } })).json as {
      key: string
      data: { hash: string }
    }
    await enter({})
    // The worst-case cost is above the limit, so the service's key may not be used, but the customer's own may.
    const answered = await infer(
      service,
      { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }] },
      { key: made.key, headers: { 'x-service-metadata': 'enabled' } },
    )
    const { id, usage, service_metadata } = answered.json as { id: string; usage: object; service_metadata: object }
    expect(usage).toMatchObject({ is_byok: true, cost: 0 })
    expect(service_metadata).toMatchObject({ is_byok: true })
    const record = await call(service, 'GET', `/generation?id=${id}`, { key: made.key })
    expect(record.json).toMatchObject({ data: { is_byok: true, total_cost: 0, provider_responses: [{ is_byok: true }] } })
    const upstreamCost = (usage as { cost_details: { upstream_inference_cost: number } }).cost_details.upstream_inference_cost
    expect(upstreamCost).toBeGreaterThan(0)
    const reported = (await call(service, 'GET', '/key', { key: made.key })).json
    expect(reported).toMatchObject({ data: { usage: 0, byok_usage: upstreamCost, limit_remaining: 5 } })
    await call(service, 'PATCH', `/keys/${made.data.hash}`, { body: { include_byok_in_limit: true } })
    const counted = (await call(service, 'GET', '/key', { key: made.key })).json as { data: { limit_remaining: number } }
    expect(counted.data.limit_remaining).toBeCloseTo(5 - upstreamCost, 9)
    const streamed = await infer(
      service,
      { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100, stream: true },
      { key: made.key },
    )
    expect(streamChunks(streamed.text).at(-1)?.usage).toMatchObject({ is_byok: true })
  })

  test("if the operator moves the provider to another address, the key is not sent there until it is entered again, nor is the service's own for one that is is_byok_only", async () => {
    const { id } = await enter({})
    service.configure(config(spare.url))
    service.signal('SIGHUP')
    await until(() => service.stderr().includes('configuration reloaded'), 'the reload')
    const before = spare.exchanges.length
    const ask = () => infer(service, { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }] })
    await ask()
    expect(spare.exchanges.slice(before).map(tokenOf)).toEqual([SHARED])
    await call(service, 'PATCH', `/byok/${id}`, { body: { is_byok_only: true } })
    await ask()
    expect(spare.exchanges.slice(before).map(tokenOf)).toEqual([SHARED])
    await call(service, 'PATCH', `/byok/${id}`, { body: { key: OTHER } })
    await ask()
    expect(spare.exchanges.slice(before).map(tokenOf)).toEqual([SHARED, OTHER])
    await until(() => service.stderr().includes('does not open'), 'the line of the log')
    for (const secret of [OWN, OTHER, SHARED]) expect(service.stderr()).not.toContain(secret)
  })
})
