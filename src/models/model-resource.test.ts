import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { model as modelSchema } from '../contract/model.ts'
import type { PriceEntry } from './catalogue-schema.ts'
import { modelResource, presetAsModel } from './model-resource.ts'
import { plainEndpoint, unservedModel } from './models.ts'
import type { Model } from './model.ts'

const model = (prices: PriceEntry | null): Model => ({
  id: 'acme/one',
  name: 'One',
  created: 1000,
  contextLength: 100,
  inputModalities: ['text', 'image'],
  outputModalities: ['text'],
  supportedParameters: ['tools'],
  endpoints: [
    plainEndpoint(
      {
        slug: 'acme',
        name: 'Acme',
        dialects: ['openai-chat'],
        baseUrl: 'https://acme.example',
        apiKeys: ['secret'],
        anyModel: false,
      },
      'one-1',
      { prices, maxCompletionTokens: 50 },
    ),
  ],
})

test('a model is listed as the contract says, and tells nothing of where it is served', () => {
  const resource = modelResource(model({ prompt: 1.25, completion: 10 }))
  expect(modelSchema.parse(resource)).toEqual(resource)
  expect(resource).toMatchObject({ architecture: { modality: 'text+image->text' }, top_provider: { max_completion_tokens: 50 } })
  expect(JSON.stringify(resource)).not.toMatch(/secret|acme\.example|one-1/)
})

test.each<[PriceEntry | null, Record<string, string>]>([
  [null, { prompt: '-1', completion: '-1' }],
  [
    { prompt: 0, completion: 0 },
    { prompt: '0', completion: '0', request: '0' },
  ],
  [
    { prompt: 1.25, completion: 10 },
    { prompt: '0.00000125', completion: '0.00001', request: '0' },
  ],
  [
    { prompt: 1_000_000, completion: 20_000_000, request: 0.0000001, cache_read: 0.05, cache_write: 0.000001, reasoning: 3 },
    {
      prompt: '1',
      completion: '20',
      request: '0.0000001',
      input_cache_read: '0.00000005',
      input_cache_write: '0.000000000001',
      internal_reasoning: '0.000003',
    },
  ],
])('prices are decimal dollars a token: %j', (prices, expected) => {
  expect(modelResource(model(prices)).pricing).toEqual(expected)
})

test('a price is never written with an exponent, and means what it was', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (millionths) => {
      const { pricing } = modelResource(model({ prompt: millionths / 1e6, completion: 0, request: millionths / 1e6 }))
      expect(pricing['prompt']).toMatch(/^\d+(?:\.\d*[1-9])?$/)
      expect(Math.round(Number(pricing['prompt']) * 1e12)).toBe(millionths)
      expect(Math.round(Number(pricing['request']) * 1e6)).toBe(millionths)
    }),
  )
})

test('a preset is listed under its own name with the capabilities of its model', () => {
  const preset = { slug: 'support', name: 'Support', description: null, created: 5 }
  const listed = presetAsModel(preset, model({ prompt: 1, completion: 1 }))
  expect(listed).toMatchObject({
    id: '@preset/support',
    canonical_slug: '@preset/support',
    name: 'Support',
    created: 5,
    context_length: 100,
  })
  expect('description' in listed).toBe(false)
  expect(presetAsModel({ ...preset, description: 'Kind.' }, unservedModel('patchbay/auto'))).toMatchObject({
    description: 'Kind.',
    context_length: null,
    pricing: { prompt: '-1' },
  })
})
