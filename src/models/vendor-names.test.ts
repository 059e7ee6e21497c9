import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { buildModels, type OperatorEntries } from './build-models.ts'
import catalogueData from './catalogue-data.json' with { type: 'json' }
import type { Catalogue } from './catalogue-schema.ts'

const catalogue = catalogueData as Catalogue

/** The models with every provider of the catalogue enabled and these entries in the operator's file. */
const modelsWith = (operator: Partial<OperatorEntries> = {}) => {
  const variables = Object.values(catalogue.providers).flatMap(({ api_key_env: key, base_url_env: url }) =>
    key === undefined ? [[url, 'http://127.0.0.1:1/v1']] : [[key, 'k']],
  )
  return buildModels(catalogue, { providers: {}, models: {}, ...operator }, Object.fromEntries(variables), [])
}

const models = modelsWith()
const idsOf = (name: string, all = models): readonly string[] => all.named(name).map(({ id }) => id)

describe('names that clients ask for by themselves', () => {
  test.each([
    ['claude-opus-4-8', 'anthropic/claude-opus-4.8'],
    ['claude-opus-4-8[1m]', 'anthropic/claude-opus-4.8'],
    ['claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5'],
    ['claude-haiku-4-5', 'anthropic/claude-haiku-4.5'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5-latest', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5@20250929', 'anthropic/claude-sonnet-4.5'],
    ['Claude-Sonnet-5', 'anthropic/claude-sonnet-5'],
    ['gpt-5.4', 'openai/gpt-5.4'],
    ['gpt-5.4-mini', 'openai/gpt-5.4-mini'],
    ['gpt-5-4', 'openai/gpt-5.4'],
    ['gpt-4o-2024-08-06', 'openai/gpt-4o'],
    ['o3', 'openai/o3'],
    ['gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['grok-4.7', 'x-ai/grok-4.7'],
    // The vendor's own name differs from the catalogue's.
    ['deepseek-flash', 'deepseek/deepseek-v4.1-flash'],
    ['MiniMax-M2.5', 'minimax/minimax-m2.5'],
    ['anthropic/claude-opus-4-8', 'anthropic/claude-opus-4.8'],
    ['anthropic/claude-opus-4.8[1m]', 'anthropic/claude-opus-4.8'],
  ])('%s is %s', (name, id) => {
    expect(idsOf(name)).toEqual([id])
  })

  test.each([
    '',
    'claude',
    'gpt',
    'claude-opus',
    'claude-3-5-haiku-20241022',
    'gpt-5.4-',
    'openai/claude-opus-4-8',
    'x'.repeat(100_000),
    '[1m]',
  ])('%j is none', (name) => {
    expect(idsOf(name)).toEqual([])
  })
})

test('every model of the catalogue is found by its id without the vendor, and by what its first provider calls it', () => {
  for (const [id, { endpoints }] of Object.entries(catalogue.models)) {
    expect([id, idsOf(id.slice(id.indexOf('/') + 1))]).toEqual([id, [id]])
    expect([id, idsOf(endpoints[0]?.model ?? '')]).toEqual([id, [id]])
  }
})

test('one way to write a name finds what any other finds', () => {
  const ids = Object.keys(catalogue.models)
  const spelling = fc.record({
    id: fc.constantFrom(...ids),
    bare: fc.boolean(),
    upper: fc.boolean(),
    dashes: fc.boolean(),
    end: fc.constantFrom('', '-20251001', '-2025-10-01', '@20251001', '-latest', '[1m]', '-20251001[1m]'),
  })
  fc.assert(
    fc.property(spelling, ({ id, bare, upper, dashes, end }) => {
      const name = bare ? id.slice(id.indexOf('/') + 1) : id
      const written = dashes ? name.replaceAll('.', '-') : name
      expect(idsOf((upper ? written.toUpperCase() : written) + end)).toContain(id)
    }),
  )
})

describe("the operator's file", () => {
  const served = (provider: string, model: string) => ({ endpoints: [{ provider, model }] })

  test('a model of that name wins over the catalogue', () => {
    const own = modelsWith({ models: { 'team/gpt-5.4': served('openai', 'something') } })
    expect(idsOf('gpt-5.4', own)).toEqual(['team/gpt-5.4'])
    expect(idsOf('gpt-5-4-2026-01-01', own)).toEqual(['team/gpt-5.4'])
  })

  test('what its provider is asked for does not', () => {
    const own = modelsWith({ models: { 'team/fast': served('openai', 'gpt-5.4'), 'team/new': served('openai', 'gpt-99') } })
    expect(idsOf('gpt-5.4', own)).toEqual(['openai/gpt-5.4'])
    expect(idsOf('gpt-99', own)).toEqual(['team/new'])
  })

  test('two of that name: both, since none is likelier', () => {
    const own = modelsWith({ models: { 'team/gpt-5.4': served('openai', 'a'), 'lab/gpt-5.4': served('openai', 'b') } })
    expect(idsOf('gpt-5.4', own).toSorted()).toEqual(['lab/gpt-5.4', 'team/gpt-5.4'])
  })
})

describe('models that are not enabled', () => {
  const dark = buildModels(catalogue, { providers: {}, models: {} }, {}, [])
  test('are not found, but the error says what would enable them', () => {
    expect(dark.named('claude-opus-4-8')).toEqual([])
    expect(dark.enabledBy('claude-opus-4-8')).toEqual(['ANTHROPIC_API_KEY', 'OPENROUTER_API_KEY'])
    expect(dark.enabledBy('claude-haiku-4-5-20251001')).toContain('ANTHROPIC_API_KEY')
    expect(dark.enabledBy('never')).toEqual([])
  })
})
