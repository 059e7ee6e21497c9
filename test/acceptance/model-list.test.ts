/** The list of models for pickers and SDKs: what this key may call, with filters, in pages, in both formats. */
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import { NotFoundResponseError } from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, createKey, savePreset } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService

beforeAll(async () => {
  service = await services.start({ env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' } })
  await savePreset(service, 'plain', { model: 'openai/gpt-5.4' })
  await savePreset(service, 'picked', { model: 'patchbay/auto' })
  await savePreset(service, 'fallback', { models: ['nobody/none', 'claude-opus-4-8'] }, 'chat/completions')
  await savePreset(service, 'fallbacks', { fallbacks: [{ model: 'nobody/none' }, { model: 'claude-opus-4-8' }] }, 'messages')
  await savePreset(service, 'settings-only', { temperature: 0.1 })
  await savePreset(service, 'unserved', { model: 'nobody/none' })
})

interface ListWire {
  readonly data: readonly { readonly id: string; readonly [field: string]: unknown }[]
  readonly total_count: number
  readonly links: { readonly next: string | null }
}

const list = async (query = '', key = service.inferenceKey, path = '/models'): Promise<ListWire> => {
  const answer = await call(service, 'GET', path + query, { key })
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)])
  return answer.json as ListWire
}
const idsOf = async (query?: string, key?: string): Promise<readonly string[]> => (await list(query, key)).data.map(({ id }) => id)

describe('the list has', () => {
  test('presets that can be called, with the model that they use', async () => {
    const { data } = await list()
    expect(data.flatMap(({ id }) => (id.startsWith('@preset/') ? [id] : [])).toSorted()).toEqual([
      '@preset/fallback',
      '@preset/fallbacks',
      '@preset/picked',
      '@preset/plain',
    ])
    const context = (id: string): unknown => data.find((model) => model.id === id)?.['context_length']
    expect(context('@preset/plain')).toBe(context('openai/gpt-5.4') ?? 'no model')
    expect(context('@preset/fallback')).toBe(context('anthropic/claude-opus-4.8') ?? 'no model')
    expect(context('@preset/fallbacks')).toBe(context('anthropic/claude-opus-4.8') ?? 'no model')
  })

  test('no `links.details` that the key may not read, or that lead nowhere', async () => {
    const { data } = await list('?sandbox_errors=true')
    const read = await Promise.all(
      data.map(async (model) => {
        const { details } = model['links'] as { readonly details: string }
        return [details, (await call(service, 'GET', details.replace('/api/v1', ''))).status]
      }),
    )
    expect(read.filter(([, status]) => status !== 200)).toEqual([])
  })

  test('no model that fails on purpose, unless such models are requested', async () => {
    const failing = (ids: readonly string[]): number => ids.filter((id) => /^sandbox\/(error|midstream)\//.test(id)).length
    const ids = await idsOf()
    expect(ids).toContain('sandbox/echo')
    expect(failing(ids)).toBe(0)
    expect(failing(await idsOf('?sandbox_errors=true'))).toBe(54)
    expect((await call(service, 'GET', '/models/sandbox%2Ferror%2Fserver')).json).toMatchObject({ id: 'sandbox/error/server' })
  })

  test('the models that make embeddings, alone, at /embeddings/models', async () => {
    const ids = ['openai/text-embedding-3-large', 'openai/text-embedding-3-small']
    const { data, total_count } = await list('', service.inferenceKey, '/embeddings/models')
    expect([
      data
        .map(({ id }) => id)
        .filter((id) => ids.includes(id))
        .toSorted(),
      total_count,
    ]).toEqual([ids, data.length])
    expect(data).toEqual((await list('?output_modalities=embeddings')).data)
    expect((await list('?q=3-small', service.inferenceKey, '/embeddings/models')).data.map(({ id }) => id)).toEqual(ids.slice(1))
    for (const [modality, found] of [
      ['text', []],
      ['text,embeddings', ids.slice(1)],
      ['all', ids.slice(1)],
    ] as const) {
      const query = `?q=3-small&output_modalities=${modality}`
      expect((await list(query, service.inferenceKey, '/embeddings/models')).data.map(({ id }) => id)).toEqual([...found])
    }
    const sdk = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api })
    const seen: string[] = []
    for await (const page of await sdk.embeddings.listModels({ limit: 1 })) seen.push(...page.result.data.map(({ id }) => id))
    expect(seen).toEqual(data.map(({ id }) => id))
    expect((await call(service, 'GET', '/embeddings/models', { key: 'sk-wrong' })).status).toBe(401)
  })

  test('the same models at /models/user and /models/count', async () => {
    expect(await list('', service.inferenceKey, '/models/user')).toEqual(await list())
    const { json } = await call(service, 'GET', '/models/count')
    expect(json).toEqual({ data: { count: (await idsOf()).filter((id) => !id.startsWith('@preset/')).length } })
  })
})

describe("a key's guardrails", () => {
  const keyWith = async (settings: object): Promise<string> => {
    const made = await createKey(service, { name: 'k' })
    const guardrail = (await call(service, 'POST', '/guardrails', { body: { name: 'g', ...settings } })).json as { data: { id: string } }
    const assigned = await call(service, 'POST', `/guardrails/${guardrail.data.id}/assignments/keys`, {
      body: { key_hashes: [made.data.hash] },
    })
    expect(assigned.status).toBeLessThan(300)
    return made.key
  }

  test.each([
    [{ allowed_models: ['anthropic/*'] }, /^(anthropic\/|@preset\/(fallbacks?|picked)$)/],
    [{ allowed_providers: ['openai'] }, /^(openai\/|@preset\/(plain|picked)$)/],
    [{ ignored_providers: ['anthropic', 'deepseek', 'sandbox', 'sandbox-spare'] }, /^(openai\/|@preset\/(plain|picked)$)/],
    [{ ignored_models: ['openai/*', 'sandbox/*', 'deepseek/*'] }, /^(anthropic\/|@preset\/(fallbacks?|picked)$)/],
  ])('%j: only what they allow is listed', async (settings, allowed) => {
    const key = await keyWith(settings)
    const expected = (await idsOf()).filter((id) => allowed.test(id))
    expect(expected.length).toBeGreaterThan(3)
    // A model with several providers stays in the list if one of them passes the filter.
    expect(await idsOf('', key)).toEqual(expected)
    const { json } = await call(service, 'GET', '/models/count', { key })
    expect(json).toEqual({ data: { count: expected.filter((id) => !id.startsWith('@preset/')).length } })
  })

  test('a management key, which calls no models, sees all', async () => {
    expect(await idsOf('', service.managementKey)).toEqual(await idsOf())
  })
})

describe('filters', () => {
  const price = (model: ListWire['data'][number], side: string): number =>
    Number((model['pricing'] as Record<string, string>)[side]) * 1_000_000

  test.each<[string, (model: ListWire['data'][number]) => boolean]>([
    ['?q=OPUS-4', ({ id }) => id.includes('opus-4')],
    ['?model_authors=anthropic', ({ id }) => id.startsWith('anthropic/')],
    ['?model_authors=anthropic,deepseek&q=/', ({ id }) => /^(anthropic|deepseek)\//.test(id)],
    ['?providers=OpenAI', ({ id }) => id.startsWith('openai/')],
    [
      '?supported_parameters=tools,response_format',
      ({ supported_parameters: own }) => ['tools', 'response_format'].every((one) => (own as string[]).includes(one)),
    ],
    ['?input_modalities=image', ({ architecture }) => (architecture as { input_modalities: string[] }).input_modalities.includes('image')],
    ['?output_modalities=text', ({ architecture }) => (architecture as { output_modalities: string[] }).output_modalities.includes('text')],
    ['?context=500000', ({ context_length: length }) => Number(length) >= 500_000],
    ['?min_price=2&max_price=5', (model) => price(model, 'prompt') >= 2 && price(model, 'prompt') <= 5],
    ['?min_output_price=10', (model) => price(model, 'completion') >= 10],
    ['?max_output_price=10', (model) => price(model, 'completion') >= 0 && price(model, 'completion') <= 10],
    ['?max_age_days=100', ({ created }) => Date.now() / 1000 - Number(created) <= 100 * 86_400],
    ['?zdr=true', ({ id }) => id.startsWith('sandbox/')],
    ['?distillable=true', ({ id }) => id.startsWith('sandbox/')],
    ['?q=', () => true],
  ])('%s', async (query, fits) => {
    // A preset has the abilities of its model.
    const models = (ids: ListWire['data']) => ids.filter(({ id }) => !id.startsWith('@preset/'))
    const found = models((await list(query)).data)
    expect(found.length).toBeGreaterThan(0)
    expect(found.map(({ id }) => id)).toEqual(
      models((await list()).data)
        .filter(fits)
        .map(({ id }) => id),
    )
  })

  test('sort', async () => {
    const prices = (await list('?sort=pricing-low-to-high&model_authors=openai')).data.map(
      (model) => price(model, 'prompt') + price(model, 'completion'),
    )
    expect(prices).toEqual(prices.toSorted((a, b) => a - b))
    const contexts = (await list('?sort=context-high-to-low')).data.map(({ context_length: length }) => Number(length ?? -1))
    expect(contexts).toEqual(contexts.toSorted((a, b) => b - a))
    const dates = (await list('?sort=newest&model_authors=openai,anthropic')).data.map(({ created }) => Number(created))
    expect(dates).toEqual(dates.toSorted((a, b) => b - a))
  })

  test.each([
    '?sort=most-popular',
    '?category=programming',
    '?min_coding_index=3',
    '?context=big',
    '?zdr=maybe',
    '?max_price=-1',
    '?limit=0',
    '?offset=x',
  ])('400: %s, named in the error', async (query) => {
    const { status, error } = await call(service, 'GET', `/models${query}`, { key: service.inferenceKey })
    expect([status, error.metadata['issues']]).toMatchObject([400, [{ path: /\w+/.exec(query)?.[0] ?? '' }]])
  })
})

describe('paging', () => {
  test('links.next leads through the whole list once, with the same filters', async () => {
    const seen: string[] = []
    let next: string | null = '/api/v1/models?limit=7&model_authors=anthropic,openai'
    while (next !== null) {
      const { data, total_count: total, links } = await list(next.slice('/api/v1/models'.length))
      expect(data.length).toBeLessThanOrEqual(7)
      expect(total).toBe((await list('?model_authors=anthropic,openai')).data.length)
      seen.push(...data.map(({ id }) => id))
      next = links.next
    }
    expect(seen).toEqual([...(await idsOf('?model_authors=anthropic,openai'))])
    expect(await list('?offset=5000')).toMatchObject({ data: [], links: { next: null } })
  })

  test.each([1, 5, 20, 1000])("Anthropic's client reads the whole list, forward and backward, %p at a time", async (limit) => {
    const client = new Anthropic({ apiKey: service.inferenceKey, baseURL: service.url, maxRetries: 0 })
    const all = await idsOf()
    expect((await Array.fromAsync(client.models.list({ limit }))).map(({ id }) => id)).toEqual([...all])
    const backward: string[] = []
    for (let page = await client.models.list({ limit, before_id: all.at(-1) ?? '' }); ; page = await page.getNextPage()) {
      backward.unshift(...page.data.map(({ id }) => id))
      if (!page.hasNextPage()) break
    }
    expect(backward).toEqual(all.slice(0, -1))
  })

  test("Anthropic's format: the whole list without a limit; 400 for an unknown cursor, and for two", async () => {
    const read = (query: string) =>
      call(service, 'GET', `/models${query}`, { key: service.inferenceKey, headers: { 'anthropic-version': '2023-06-01' } })
    const all = await idsOf()
    expect((await read('')).json).toMatchObject({ has_more: false, first_id: all[0], last_id: all.at(-1) })
    expect((await read('?limit=2')).json).toMatchObject({ has_more: true, first_id: all[0], last_id: all[1] })
    expect((await read(`?after_id=${encodeURIComponent(all.at(-1) ?? '')}`)).json).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
    for (const query of ['?after_id=nobody/none', '?after_id=openai/gpt-5&before_id=openai/gpt-5', '?limit=1001'])
      expect((await read(query)).status).toBe(400)
  })

  test("Codex's list has the same models", async () => {
    const { data, ...rest } = (await list('?client_version=0.169.0&limit=3')) as ListWire & { readonly models: unknown }
    expect(rest.models).toEqual(data)
    expect(data).toHaveLength(3)
  })
})

describe('GET /model/{author}/{slug}', () => {
  test("returns what @openrouter/sdk's models.get reads: models, presets, and names of a vendor's own", async () => {
    const client = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
    for (const [author, slug, id] of [
      ['openai', 'gpt-5.4', 'openai/gpt-5.4'],
      ['sandbox', 'error/server', 'sandbox/error/server'],
      ['@preset', 'plain', '@preset/plain'],
      ['anthropic', 'claude-opus-4-8', 'anthropic/claude-opus-4.8'],
    ] as const)
      expect((await client.models.get({ author, slug })).data.id).toBe(id)
    expect(await client.models.get({ author: 'openai', slug: 'never' }).catch((thrown: unknown) => thrown)).toBeInstanceOf(
      NotFoundResponseError,
    )
    expect(await client.models.get({ author: '@preset', slug: 'settings-only' }).catch((thrown: unknown) => thrown)).toBeInstanceOf(
      NotFoundResponseError,
    )
  })
})

test('an endpoint has the members that typed clients require, among them which tool its provider runs itself', async () => {
  const endpointOf = async (model: string) => (await call(service, 'GET', `/models/${model}/endpoints`, { key: service.inferenceKey })).json
  const search = (type: string) => ({ native_tools: { 'openrouter:web_search': { type } }, supports_diarization: false })
  expect(await endpointOf('anthropic/claude-opus-4.8')).toMatchObject({ data: { endpoints: [search('web_search_20250305')] } })
  expect(await endpointOf('sandbox/echo')).toMatchObject({ data: { endpoints: [{ native_tools: {}, supports_diarization: false }] } })
})

test('a preset can be read by its name even if the list is too long to contain it', async () => {
  const crowded = await services.start()
  await savePreset(crowded, 'oldest', { model: 'sandbox/echo' })
  for (let made = 0; made < 1000; made += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => savePreset(crowded, `newer-${made + i}`, { model: 'sandbox/echo' })))
  }
  const get = (path: string) => call(crowded, 'GET', path, { key: crowded.inferenceKey })
  expect((await get('/models?limit=1000')).text).not.toContain('"@preset/oldest"')
  for (const path of ['/models/@preset/oldest', '/models/oldest', '/model/@preset/oldest', '/models/@preset/oldest/endpoints']) {
    expect([path, (await get(path)).status]).toEqual([path, 200])
  }
})
