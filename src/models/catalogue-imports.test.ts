import { describe, expect, test } from 'bun:test'

import { buildModels, type OperatorEntries } from './build-models.ts'
import { catalogueChanges } from './catalogue-changes.ts'
import { layerImports, type CatalogueImport } from './catalogue-imports.ts'
import type { Catalogue, PriceEntry } from './catalogue-schema.ts'
import type { Models } from './models.ts'

const model = (provider: string, name: string, prices: PriceEntry): Catalogue['models'][string] => ({
  name,
  input_modalities: ['text'],
  output_modalities: ['text'],
  supported_parameters: [],
  endpoints: [{ provider, model: name, prices, max_completion_tokens: 100 }],
})

const provider = (slug: string) => ({
  name: slug,
  dialects: ['openai-chat' as const],
  base_url: `https://${slug}.example`,
  base_url_env: 'X_BASE_URL',
  api_key_env: 'X_API_KEY',
})

const catalogue: Omit<Catalogue, 'sources'> = {
  as_of: '2026-11-18',
  providers: { acme: provider('acme'), host: provider('host') },
  models: { 'acme/one': model('acme', 'one', { prompt: 1, completion: 2, cache_read: 0.1 }) },
}

const list = (
  kind: CatalogueImport['kind'],
  models: CatalogueImport['models'],
  importedAt = '2026-11-20T00:00:00.000Z',
): CatalogueImport => ({
  kind,
  asOf: importedAt.slice(0, 10),
  importedAt,
  models,
})

const build = (imports: readonly CatalogueImport[], models: OperatorEntries['models'] = {}): Models =>
  buildModels(catalogue, { providers: {}, models }, { X_API_KEY: 'secret' }, [], imports)

const priceOf = (models: Models, id: string) => {
  const [endpoint] = models.find(id)?.endpoints ?? []
  return { prices: endpoint?.prices, from: endpoint?.pricesFrom }
}

describe('imported prices', () => {
  const cheaper = list('litellm', {
    'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices: { prompt: 0.5, completion: 1 } }] },
  })

  test('replace the shipped ones, and what else the catalogue knows of the endpoint stays', () => {
    const models = build([cheaper])
    expect(priceOf(models, 'acme/one')).toEqual({ prices: { prompt: 0.5, completion: 1 }, from: { from: 'litellm', asOf: '2026-11-20' } })
    expect(models.find('acme/one')?.endpoints[0]?.maxCompletionTokens).toBe(100)
    expect(models.find('acme/one')?.origin).toBeUndefined()
  })

  test('that agree on input alone replace all prices of tokens, and fees of their own win', () => {
    const shipped = {
      ...catalogue,
      models: { 'acme/one': model('acme', 'one', { prompt: 1, completion: 2, cache_read: 0.1, web_search: 0.01 }) },
    }
    const prices = { prompt: 1, completion: 3, web_search: 0.02 }
    const news = list('litellm', { 'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices }] } })
    const models = buildModels(shipped, { providers: {}, models: {} }, { X_API_KEY: 'secret' }, [], [news])
    expect(priceOf(models, 'acme/one').prices).toEqual(prices)
  })

  test('of a tier or a variant are those of an endpoint of its own, and what the catalogue says of a model stays', () => {
    const prices = { prompt: 9, completion: 9 }
    const news = list('litellm', {
      'acme/one': {
        name: 'Another name',
        endpoints: [
          { provider: 'acme', model: 'one', service_tier: 'priority', prices },
          { provider: 'acme', model: 'one', variant: 'eu', prices },
        ],
      },
    })
    const found = build([news]).find('acme/one')
    expect(found?.name).toBe('one')
    expect(found?.endpoints.map(({ tag, prices: own }) => [tag, own?.prompt])).toEqual([
      ['acme', 1],
      ['acme/priority', 9],
      ['acme/eu', 9],
    ])
  })

  test('that agree on input and output take no other known price away', () => {
    const same = list('litellm', { 'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices: { prompt: 1, completion: 2 } }] } })
    expect(priceOf(build([same]), 'acme/one').prices).toEqual({ prompt: 1, completion: 2, cache_read: 0.1 })
  })

  test('that differ leave the fee of a search and the factors of geographies, which lists do not have', () => {
    const kept = { web_search: 0.01, inference_geo: { us: 1.1 } }
    const shipped = { ...catalogue, models: { 'acme/one': model('acme', 'one', { prompt: 1, completion: 2, cache_read: 0.1, ...kept }) } }
    const models = buildModels(shipped, { providers: {}, models: {} }, { X_API_KEY: 'secret' }, [], [cheaper])
    expect(priceOf(models, 'acme/one').prices).toEqual({ prompt: 0.5, completion: 1, ...kept })
  })

  test('the last import wins, in whatever order they are read', () => {
    const later = list(
      'hosted',
      { 'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices: { prompt: 0.7, completion: 1 } }] } },
      '2026-11-21T00:00:00.000Z',
    )
    for (const imports of [
      [cheaper, later],
      [later, cheaper],
    ])
      expect(priceOf(build(imports), 'acme/one').from).toEqual({ from: 'hosted', asOf: '2026-11-21' })
  })

  test("the operator's own entry beats them", () => {
    const own = build([cheaper], { 'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices: { prompt: 9, completion: 9 } }] } })
    expect(priceOf(own, 'acme/one')).toEqual({ prices: { prompt: 9, completion: 9 }, from: { from: 'operator', asOf: null } })
  })

  test('bring new models and new providers of known ones, which take no short name from a model that had it', () => {
    const models = build([
      list('litellm', {
        'acme/one': { endpoints: [{ provider: 'host', model: 'acme-one', prices: { prompt: 3, completion: 3 } }] },
        'host/one': { endpoints: [{ provider: 'host', model: 'one', prices: { prompt: 3, completion: 3 } }] },
      }),
    ])
    expect(models.find('acme/one')?.endpoints.map((endpoint) => endpoint.provider.slug)).toEqual(['acme', 'host'])
    expect(models.find('host/one')?.origin).toBe('import')
    expect(models.named('one').map(({ id }) => id)).toEqual(['acme/one'])
  })
})

test('changes are named with what was and what becomes; the same list again changes nothing', () => {
  const before = layerImports(catalogue.models, [
    list('litellm', { 'acme/old': { endpoints: [{ provider: 'acme', model: 'old', prices: { prompt: 1, completion: 1 } }] } }),
  ]).models
  const after = layerImports(catalogue.models, [
    list('litellm', {
      'acme/one': { endpoints: [{ provider: 'acme', model: 'one', prices: { prompt: 0.5, completion: 2 } }] },
      'acme/two': { endpoints: [{ provider: 'acme', model: 'two', prices: { prompt: 1, completion: 1 } }] },
    }),
  ]).models
  const changes = catalogueChanges(before, after)
  expect(changes.map(({ kind, model: id }) => `${kind} ${id}`)).toEqual(['gone acme/old', 'changed acme/one', 'new acme/two'])
  expect(changes[1]?.facts).toEqual([
    { fact: 'prompt', before: '1', after: '0.5' },
    { fact: 'cache_read', before: '0.1', after: undefined },
  ])
  expect(catalogueChanges(after, after)).toEqual([])
})
