/** The facts of an endpoint that the operator's file can state in addition to its provider. */
import { describe, expect, test } from 'bun:test'

import { buildModels } from './build-models.ts'
import type { EndpointEntry, ModelEntry } from './catalogue-schema.ts'
import type { Models } from './models.ts'
import type { ModelEndpoint } from './model.ts'

const build = (model: Partial<ModelEntry> & { endpoints: EndpointEntry[] }): Models =>
  buildModels(
    { as_of: '2026-11-18', providers: {}, models: {} },
    {
      providers: {
        acme: { dialects: ['openai-chat'], base_url: 'https://acme.example', any_model: true, data_policy: { training: false } },
        other: { dialects: ['openai-chat'], base_url: 'https://other.example' },
      },
      models: { 'm/one': model },
    },
    {},
    [],
  )

const endpointsOf = (endpoints: EndpointEntry[], model: Partial<ModelEntry> = {}): readonly ModelEndpoint[] =>
  build({ ...model, endpoints }).find('m/one')?.endpoints ?? []

describe('the tag of an endpoint', () => {
  test('is its provider, with the variant or the service tier after a slash', () => {
    const entries: EndpointEntry[] = [
      { provider: 'acme', model: 'a' },
      { provider: 'acme', model: 'a', variant: 'us-east5' },
      { provider: 'acme', model: 'a', service_tier: 'flex' },
      { provider: 'acme', model: 'a', service_tier: 'flex', variant: 'flex-eu' },
    ]
    expect(endpointsOf(entries).map(({ tag, serviceTier }) => [tag, serviceTier])).toEqual([
      ['acme', null],
      ['acme/us-east5', null],
      ['acme/flex', 'flex'],
      ['acme/flex-eu', 'flex'],
    ])
  })

  test('has a number where a provider stands twice, so that no two share their health', () => {
    const entries: EndpointEntry[] = ['a', 'b', 'c'].map((model) => ({ provider: 'acme', model }))
    const tiers: EndpointEntry[] = ['a', 'b'].map((model) => ({ provider: 'acme', model, service_tier: 'flex' }))
    expect(endpointsOf([...entries, ...tiers]).map(({ tag }) => tag)).toEqual(['acme', 'acme/2', 'acme/3', 'acme/flex', 'acme/flex-2'])
  })
})

test('what an endpoint does not say comes from its model or its provider, and what nobody says is unknown', () => {
  const [own, plain] = endpointsOf(
    [
      {
        provider: 'acme',
        model: 'a',
        context_length: 50,
        quantization: 'fp8',
        data_policy: { retains: false },
        supported_parameters: ['seed'],
      },
      { provider: 'other', model: 'b' },
    ],
    { context_length: 100, supported_parameters: ['tools'], distillable: true },
  )
  expect(own).toMatchObject({
    contextLength: 50,
    quantization: 'fp8',
    dataPolicy: { training: false, retains: false },
    supportedParameters: ['seed'],
    distillable: true,
  })
  expect(plain).toMatchObject({
    contextLength: 100,
    quantization: 'unknown',
    dataPolicy: { training: null, retains: null },
    supportedParameters: ['tools'],
    distillable: true,
    serviceTier: null,
  })
})

test("a provider's data policy holds for the models that no list names too", () => {
  const models = build({ endpoints: [{ provider: 'other', model: 'b' }] })
  expect(models.find('acme/anything')?.endpoints[0]?.dataPolicy).toEqual({ training: false, retains: null })
})
