import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { z } from 'zod'

import data from './catalogue-data.json' with { type: 'json' }
import { catalogueSchema, modelEntry, modelId, providerEntry, providerSlug } from './catalogue-schema.ts'

const catalogue = catalogueSchema.parse(data)
const endpoints = Object.entries(catalogue.models).flatMap(([id, model]) => model.endpoints.map((endpoint) => ({ id, ...endpoint })))

test('every endpoint of the shipped catalogue is served by a provider that it lists', () => {
  expect(endpoints.filter(({ provider }) => !Object.hasOwn(catalogue.providers, provider))).toEqual([])
})

test('every shipped endpoint has prices, and no source is newer than as_of', () => {
  expect(endpoints.filter(({ prices }) => prices === undefined)).toEqual([])
  expect(catalogue.sources.filter(({ dated }) => dated !== undefined && dated > catalogue.as_of)).toEqual([])
})

test('every shipped model that its vendor lets search the web has a price of a search', () => {
  const unpriced = endpoints.filter(({ provider, prices }) => SEARCHING.has(provider) && prices?.web_search === undefined)
  // These models take no search tool.
  expect(unpriced.map(({ model }) => model).filter((name) => !/^gpt-4\.1-nano$|embedding/.test(name))).toEqual([])
})

/** The vendors whose searches the service passes on and whose prices are public. */
const SEARCHING: ReadonlySet<string> = new Set(['anthropic', 'google', 'openai'])

test('no model id and no provider slug is written twice: JSON would silently keep the last', () => {
  const text = readFileSync(new URL('catalogue-data.json', import.meta.url), 'utf8')
  for (const key of [...Object.keys(catalogue.models), ...Object.keys(catalogue.providers)])
    expect(text.split(`"${key}": {`)).toHaveLength(2)
})

test('no provider serves a model twice under one id, nor one upstream name under two ids', () => {
  const served = endpoints.map(({ id, provider }) => `${id} by ${provider}`)
  expect(served).toEqual([...new Set(served)])
  const upstream = endpoints.map(({ provider, model }) => `${provider}: ${model}`)
  expect(upstream).toEqual([...new Set(upstream)])
})

test('a long-prompt tier never costs less than the base price, and a cache read never more than fresh input', () => {
  for (const { prices } of endpoints) {
    if (prices === undefined) continue
    for (const tier of prices.tiers ?? []) {
      expect(tier.prompt).toBeGreaterThanOrEqual(prices.prompt)
      expect(tier.completion).toBeGreaterThanOrEqual(prices.completion)
    }
    for (const price of [prices, ...(prices.tiers ?? [])]) expect(price.cache_read ?? 0).toBeLessThanOrEqual(price.prompt)
  }
})

test('nothing is longer than the context, and no list names a thing twice', () => {
  for (const [id, { context_length, endpoints, supported_parameters, input_modalities }] of Object.entries(catalogue.models)) {
    for (const endpoint of endpoints) {
      const context = endpoint.context_length ?? context_length ?? Number.POSITIVE_INFINITY
      expect({ id, fits: (endpoint.max_completion_tokens ?? 0) <= context }).toEqual({ id, fits: true })
    }
    expect(new Set(supported_parameters).size).toBe(supported_parameters.length)
    expect(new Set(input_modalities).size).toBe(input_modalities.length)
  }
})

test("the documented examples are entries, and a model's entry may override one fact alone", () => {
  expect(
    providerEntry.parse({
      name: 'OpenAI',
      dialects: ['openai-responses', 'openai-chat'],
      base_url: 'https://api.openai.com/v1',
      api_key: ['a', 'b'],
    }),
  ).toMatchObject({ api_key: ['a', 'b'] })
  expect(providerEntry.parse({ dialects: ['openai-chat'], base_url: 'http://127.0.0.1:8000/v1' })).not.toHaveProperty('api_key')
  const endpoint = {
    provider: 'openai',
    model: 'gpt-5.4',
    prices: { prompt: 1.25, completion: 10, cache_read: 0.125 },
    max_completion_tokens: 128000,
  }
  expect(modelEntry.parse({ context_length: 400000, endpoints: [endpoint] }).endpoints).toEqual([endpoint])
  expect(modelEntry.parse({ context_length: 400000 })).toEqual({ context_length: 400000 })
})

test.each([
  ['a misspelt field', { contextLength: 1 }],
  ['a negative price', { endpoints: [{ provider: 'openai', model: 'm', prices: { prompt: -1, completion: 1 } }] }],
  ['a price of prompts alone', { endpoints: [{ provider: 'openai', model: 'm', prices: { prompt: 1 } }] }],
  ['no endpoint at all', { endpoints: [] }],
])('a model entry with %s is refused', (_fault, entry) => {
  expect(modelEntry.safeParse(entry).success).toBe(false)
})

test.each([
  ['an unknown dialect', { dialects: ['soap'] }],
  ['an address that is not http', { base_url: 'file:///etc/passwd' }],
  ['an empty key', { api_key: '' }],
])('a provider entry with %s is refused', (_fault, entry) => {
  expect(providerEntry.safeParse(entry).success).toBe(false)
})

test('a model id without a vendor is refused, and the shipped file may hold no key', () => {
  const [model] = Object.values(data.models)
  const [provider] = Object.values(data.providers)
  expect(catalogueSchema.safeParse({ ...data, models: { 'gpt-5.4': model } }).success).toBe(false)
  expect(catalogueSchema.safeParse({ ...data, providers: { openai: { ...provider, api_key: 'sk-x' } } }).success).toBe(false)
})

test('the entries can be published as JSON Schema, each field with its description', () => {
  const published = z.toJSONSchema(
    z.strictObject({ providers: z.record(providerSlug, providerEntry), models: z.record(modelId, modelEntry) }),
  )
  const definitions = published.$defs ?? {}
  expect(Object.keys(definitions).sort()).toEqual(['DataPolicy', 'EndpointEntry', 'ModelEntry', 'PriceEntry', 'PriceTier', 'ProviderEntry'])
  const fields = Object.values(definitions).flatMap(({ properties }) => Object.entries(properties ?? {}))
  expect(fields.filter(([, schema]) => typeof schema === 'boolean' || schema.description === undefined)).toEqual([])
})
