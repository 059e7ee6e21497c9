import { describe, expect, test } from 'bun:test'

import { createModels, dialectFor, plainEndpoint } from './models.ts'
import { patient } from '../../test/support/patience.ts'
import type { Model, Provider } from './model.ts'

const provider = (slug: string, more: Partial<Provider> = {}): Provider => ({
  slug,
  name: slug,
  dialects: ['openai-chat'],
  baseUrl: `https://${slug}.example/v1`,
  apiKeys: [],
  anyModel: false,
  ...more,
})

const model = (id: string): Model => ({
  id,
  name: id,
  created: 0,
  contextLength: null,
  inputModalities: ['text'],
  outputModalities: ['text'],
  supportedParameters: [],
  endpoints: [plainEndpoint(provider('acme'), id)],
})

const known = ['openai/gpt-5.4', 'openai/gpt-5.4-mini', 'anthropic/claude-opus-5', 'google/gemini-3']
const models = createModels(known.map(model), [provider('acme'), provider('ollama', { anyModel: true, name: 'Ollama' })])

describe('find', () => {
  test.each(known)('knows %s', (id) => {
    expect(models.find(id)?.id).toBe(id)
  })

  test.each([
    '',
    '/',
    'openai',
    'openai/',
    'openai/GPT-5.4',
    'acme/anything',
    'ollama',
    'ollama/',
    '/ollama/x',
    'Ollama/x',
    '__proto__',
    'constructor/x',
  ])('knows no %j', (id) => {
    expect(models.find(id)).toBeUndefined()
  })

  test.each<[string, string]>([
    ['ollama/llama4', 'llama4'],
    ['ollama/library/llama4:70b', 'library/llama4:70b'],
    ['ollama/x@y', 'x@y'],
  ])('any name behind a server that lists none is a model of it: %s', (id, upstreamModel) => {
    expect(models.find(id)).toMatchObject({
      id,
      name: upstreamModel,
      endpoints: [{ upstreamModel, prices: null, provider: { slug: 'ollama' } }],
    })
  })

  test('but not one that is longer than a listed name may be: it would be kept in every record', () => {
    expect(models.find(`ollama/${'x'.repeat(249)}`)).toBeDefined()
    expect(models.find(`ollama/${'x'.repeat(250)}`)).toBeUndefined()
  })

  test('a listed model wins over the server that serves any', () => {
    const both = createModels([{ ...model('ollama/llama4'), contextLength: 8 }], [provider('ollama', { anyModel: true })])
    expect(both.find('ollama/llama4')?.contextLength).toBe(8)
  })
})

describe('nearest', () => {
  test.each<[string, readonly string[]]>([
    ['openai/gpt-5.5', ['openai/gpt-5.4']],
    ['gpt-5.4', ['openai/gpt-5.4']],
    ['openai/gpt-5.4mini', ['openai/gpt-5.4-mini']],
    ['claude-opus-5', ['anthropic/claude-opus-5']],
    ['zzzzzzzz', []],
  ])('%s', (id, expected) => {
    const near = models.nearest(id, 3)
    expect(near.slice(0, expected.length)).toEqual([...expected])
    if (expected.length === 0) expect(near).toEqual([])
  })

  test.each(['down', 'x', '', '/', 'openai/', 'openai/zzz', 'openai/down', 'gpt', 'gemini/flash'])('%j is near nothing', (id) => {
    expect(models.nearest(id, 3)).toEqual([])
  })

  test('the name after the slash counts too, the right vendor first', () => {
    expect(models.nearest('azure/gpt-5.4', 1)).toEqual(['openai/gpt-5.4'])
    const both = createModels(['other/gpt-5.4', 'openai/gpt-5.4'].map(model), [])
    expect(both.nearest('opnai/gpt-5.4', 3)).toEqual(['openai/gpt-5.4', 'other/gpt-5.4'])
  })

  test('models that a variable would enable are among them, others that nobody serves are not', () => {
    const dormant = new Map([
      ['openai/gpt-5', ['OPENAI_API_KEY']],
      ['nobody/gpt-5', []],
    ])
    expect(createModels(known.map(model), [], dormant).nearest('gpt-5', 3)).toEqual(['openai/gpt-5', 'openai/gpt-5.4'])
  })

  test('gives no more than was asked for', () => {
    expect(models.nearest('openai/gpt-5.4', 1)).toEqual(['openai/gpt-5.4'])
    expect(models.nearest('openai/gpt-5.4', 0)).toEqual([])
  })

  test('a hostile name is near nothing, and soon answered', () => {
    const started = performance.now()
    expect(models.nearest('x'.repeat(10_000_000), 3)).toEqual([])
    expect(performance.now() - started).toBeLessThan(patient(500))
  })
})

describe('the dialect to speak to a provider in', () => {
  test.each<[Provider['dialects'], 'chat' | 'responses' | 'messages', string]>([
    [['openai-responses', 'openai-chat'], 'chat', 'openai-chat'],
    [['openai-responses', 'openai-chat'], 'responses', 'openai-responses'],
    [['openai-responses', 'openai-chat'], 'messages', 'openai-responses'],
    [['openai-chat', 'anthropic'], 'messages', 'anthropic'],
    [['google'], 'chat', 'google'],
    [['sandbox'], 'responses', 'sandbox'],
  ])('%j for %s: its own where the provider has it, else the first', (dialects, client, expected) => {
    expect(dialectFor(provider('x', { dialects }), client)).toBe(expected as never)
  })
})
