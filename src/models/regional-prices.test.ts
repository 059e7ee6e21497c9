import { expect, test } from 'bun:test'

import { buildModels, type OperatorEntries } from './build-models.ts'
import type { Catalogue } from './catalogue-schema.ts'
import { pricesAt } from './regional-prices.ts'

const MARCH = Date.UTC(2026, 2, 5) / 1000
const PRICES = {
  prompt: 1.25,
  completion: 10,
  cache_read: 0.125,
  web_search: 0.01,
  tiers: [{ above_prompt_tokens: 100, prompt: 2.5, completion: 15 }],
}

const modelOf = (provider: string, created: number): Catalogue['models'][string] => ({
  name: 'One',
  created,
  input_modalities: ['text'],
  output_modalities: ['text'],
  supported_parameters: [],
  endpoints: [{ provider, model: 'one', prices: PRICES }],
})

const vendor = (name: string) => ({
  name,
  dialects: ['openai-responses' as const],
  base_url: `https://api.${name}/v1`,
  base_url_env: `${name.slice(0, 1).toUpperCase()}_BASE_URL`,
  api_key_env: `${name.slice(0, 1).toUpperCase()}_API_KEY`,
})

const CATALOGUE = {
  as_of: '2026-11-18',
  providers: { openai: vendor('openai.com'), xai: vendor('x.ai') },
  models: {
    'openai/newer': modelOf('openai', MARCH),
    'openai/older': modelOf('openai', MARCH - 1),
    'x-ai/any': modelOf('xai', 0),
  },
}

const pricesOf = (id: string, address: string, models: OperatorEntries['models'] = {}) => {
  const provider = id.startsWith('x-ai') ? 'xai' : 'openai'
  const providers = { [provider]: { api_key: 'k', base_url: address } }
  return buildModels(CATALOGUE, { providers, models }, {}, []).find(id)?.endpoints[0]?.prices
}

const RAISED = {
  ...PRICES,
  prompt: 1.375,
  completion: 11,
  cache_read: 0.1375,
  tiers: [{ above_prompt_tokens: 100, prompt: 2.75, completion: 16.5 }],
}

test.each([
  ['openai/newer', 'https://api.openai.com/v1', PRICES],
  ['openai/newer', 'https://eu.api.openai.com/v1', RAISED],
  ['openai/newer', 'https://mtls.api.openai.com/v1', PRICES],
  ['openai/newer', 'https://eu.api.openai.com.example/v1', PRICES],
  ['openai/older', 'https://us.api.openai.com/v1', PRICES],
  ['x-ai/any', 'https://api.x.ai/v1', PRICES],
  ['x-ai/any', 'https://us.api.x.ai/v1', RAISED],
])('the prices of tokens of %s at %s', (id, address, prices) => {
  expect(pricesOf(id, address)).toEqual(prices)
})

test('prices in the file of the operator hold as they are at any address', () => {
  const endpoints = [{ provider: 'openai', model: 'one', prices: PRICES }]
  expect(pricesOf('openai/newer', 'https://eu.api.openai.com/v1', { 'openai/newer': { endpoints } })).toEqual(PRICES)
})

test('where the day of a model is not known it costs more, as a newer one does, and so do its sound and its pictures', () => {
  const sound = { prompt: 1, completion: 2, audio: 3, completion_audio: 4, completion_image: 5 }
  const raised = { prompt: 1.1, completion: 2.2, audio: 3.3, completion_audio: 4.4, completion_image: 5.5 }
  expect(pricesAt(sound, 'https://eu.api.openai.com/v1', undefined)).toEqual(raised)
})
