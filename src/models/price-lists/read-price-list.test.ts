import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import shippedData from '../catalogue-data.json' with { type: 'json' }
import { catalogueSchema } from '../catalogue-schema.ts'
import type { PriceListKind } from './price-list.ts'
import { PriceListError, readPriceList, type PriceList } from './read-price-list.ts'

const shipped = catalogueSchema.parse(shippedData)
const known = { providers: new Set(Object.keys(shipped.providers)), models: shipped.models }

const read = (text: string, kind: PriceListKind | null = null): PriceList => readPriceList(text, kind, () => known)

const fixture = (name: string): string => readFileSync(join(import.meta.dir, '../../../test/fixtures/price-lists', name), 'utf8')

const endpointsOf = (list: PriceList, id: string) => list.models[id]?.endpoints

describe("LiteLLM's list", () => {
  const list = read(fixture('litellm.json'))

  test('is recognised, and gives exact prices a million tokens with the tiers of long prompts', () => {
    expect(list.kind).toBe('litellm')
    expect(endpointsOf(list, 'openai/gpt-5.4')).toEqual([
      {
        provider: 'openai',
        model: 'gpt-5.4',
        prices: {
          prompt: 2.25,
          completion: 13.5,
          cache_read: 0.225,
          tiers: [{ above_prompt_tokens: 272_000, prompt: 4.5, completion: 20.25, cache_read: 0.45 }],
        },
        max_completion_tokens: 128_000,
      },
    ])
    expect(list.models['qwen/qwen-plus-latest']?.endpoints[0]?.prices).toEqual({
      prompt: 0.4,
      completion: 1.2,
      reasoning: 4,
      tiers: [{ above_prompt_tokens: 256_000, prompt: 1.2, completion: 3.6 }],
    })
  })

  test('brings models that no catalogue has, with what they can do', () => {
    expect(list.models['openai/gpt-7-nova']).toMatchObject({
      context_length: 2_000_000,
      input_modalities: ['text', 'image'],
      supported_parameters: ['tools', 'tool_choice'],
      endpoints: [{ provider: 'openai', model: 'gpt-7-nova', prices: { prompt: 0.15, completion: 0.6 } }],
    })
  })

  test('is refused line by line where a price cannot be meant', () => {
    expect(list.refused).toEqual([
      { place: 'claude-haiku-4-5', reason: 'prompt: -0.000001 is negative' },
      { place: 'claude-opus-4-8', reason: 'prompt: $5000000 a million tokens is more than anybody asks' },
      { place: 'gpt-4o-mini', reason: expect.stringContaining('costs nothing') },
    ])
    expect(Object.keys(list.models)).not.toContain('anthropic/claude-haiku-4.5')
  })

  test('tells which providers nobody has configured', () => {
    expect(list.unknownProviders).toEqual(new Map([['snowflake', 1]]))
  })
})

test('the api.json of models.dev is recognised, with prices above 200,000 tokens', () => {
  const list = read(fixture('models-dev.json'))
  expect({ kind: list.kind, refused: list.refused }).toEqual({ kind: 'models.dev', refused: [] })
  expect(list.models['x-ai/grok-9']).toMatchObject({
    name: 'Grok 9',
    created: Date.parse('2026-11-01') / 1000,
    context_length: 500_000,
    endpoints: [
      {
        provider: 'xai',
        model: 'grok-9',
        prices: {
          prompt: 0.1,
          completion: 0.7,
          cache_read: 0.025,
          tiers: [{ above_prompt_tokens: 200_000, prompt: 0.2, completion: 1.4 }],
        },
      },
    ],
  })
})

test("a hosted router's list prices its own endpoints; a zero for reasoning does not make it free", () => {
  const list = read(fixture('hosted.json'))
  expect(list.kind).toBe('hosted')
  expect(endpointsOf(list, 'openai/gpt-5.4')).toEqual([
    {
      provider: 'openrouter',
      model: 'openai/gpt-5.4',
      prices: { prompt: 2.5, completion: 15, cache_read: 0.25, web_search: 0.01 },
      max_completion_tokens: 128_000,
    },
  ])
  expect(endpointsOf(list, 'acme/tiny:free')?.[0]?.prices).toEqual({ prompt: 0, completion: 0 })
  expect(list.refused).toEqual([{ place: 'data[1] (openrouter/auto)', reason: 'prompt: -1 is negative' }])
})

test('an embedding model writes no text, so that none is chosen to answer a conversation', () => {
  const entry = { litellm_provider: 'openai', mode: 'embedding', input_cost_per_token: 6e-8, output_cost_per_token: 0 }
  const litellm = read(JSON.stringify({ 'voyage-9': entry }))
  expect(litellm.models['openai/voyage-9']?.output_modalities).toEqual(['embeddings'])
  const pricing = { prompt: '0.00000006', completion: '0' }
  const architecture = { input_modalities: ['text'], output_modalities: ['embeddings'] }
  const hosted = read(JSON.stringify({ data: [{ id: 'voyage/voyage-9', pricing, architecture }] }), 'hosted')
  expect(hosted.models['voyage/voyage-9']?.output_modalities).toEqual(['embeddings'])
})

test('a price that is a hundred times the known one is refused: two units were mixed up', () => {
  const list = read(
    JSON.stringify({
      'gpt-5.4': { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 2.5e-9, output_cost_per_token: 1.5e-5 },
    }),
  )
  expect(list.refused).toEqual([{ place: 'gpt-5.4', reason: expect.stringContaining('too far from the known $2.5') }])
})

test('a line that stands twice with different prices is taken once', () => {
  const entry = { litellm_provider: 'deepseek', mode: 'chat', input_cost_per_token: 3e-7, output_cost_per_token: 1e-6 }
  const list = read(JSON.stringify({ 'deepseek-x': entry, 'deepseek/deepseek-x': { ...entry, input_cost_per_token: 4e-7 } }))
  expect(list.models['deepseek/deepseek-x']?.endpoints).toHaveLength(1)
  expect(list.refused).toEqual([{ place: 'deepseek/deepseek-x', reason: expect.stringContaining('twice') }])
})

test('what is no list of prices is refused in a sentence', () => {
  for (const text of ['', '[]', 'null', '{"a":1}', 'price: 1']) expect(() => read(text)).toThrow(PriceListError)
  expect(() => read(fixture('litellm.json'), 'hosted')).toThrow('it does not look like hosted, but like litellm.')
})

test('any price that is taken is between nothing and the bound, and exact to the nano-dollar', () => {
  const price = fc.oneof(
    fc.double(),
    fc.constantFrom('1e-7', '0.00000125', -1, 'free', null, {}, 1e300, '1e-30'),
    fc.nat().map((n) => n / 1e15),
  )
  fc.assert(
    fc.property(price, price, (input, output) => {
      const entry = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: input, output_cost_per_token: output }
      const list = read(JSON.stringify({ 'x-model': entry }))
      const prices = list.models['openai/x-model']?.endpoints[0]?.prices
      expect(list.refused.length === 1).toBe(prices === undefined)
      for (const taken of [prices?.prompt ?? 0, prices?.completion ?? 0]) {
        expect(taken >= 0 && taken <= 10_000).toBe(true)
        expect(taken).toBe(Math.round(taken * 1e9) / 1e9)
      }
    }),
  )
})
