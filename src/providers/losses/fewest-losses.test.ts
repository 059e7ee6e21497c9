import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../canonical/call.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { fewestLosses, refusesIn } from './fewest-losses.ts'

const BOTH = ['openai-responses', 'openai-chat'] as const

test.each<[string, string, ClientDialect, object, string]>([
  ['nothing is lost in either: the first', 'gpt-4o', 'messages', { max_tokens: 5, temperature: 0.5 }, 'openai-responses'],
  ['stop sequences', 'gpt-4o', 'messages', { max_tokens: 5, stop_sequences: ['END'] }, 'openai-chat'],
  ['stop sequences of a model that takes none', 'o3', 'messages', { max_tokens: 5, stop_sequences: ['END'] }, 'openai-responses'],
  ['what neither has', 'gpt-4o', 'messages', { max_tokens: 5, top_k: 5 }, 'openai-responses'],
  ['a null asks for nothing', 'gpt-4o', 'messages', { stop_sequences: null }, 'openai-responses'],
])('%s', (_, model, client, fields, chosen) => {
  const body = JsonBody.read(JSON.stringify({ model: 'a/b', messages: [], ...fields }))
  const target = { provider: 'openai', upstreamModel: model, modelId: `openai/${model}` }
  expect(fewestLosses(BOTH, { dialect: client, body }, target)).toBe(chosen as never)
})

const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }

describe('tools by Chat Completions to models of OpenAI', () => {
  test.each<[string, string, object, boolean]>([
    ['with an effort', 'gpt-5.4', { tools: [TOOL], reasoning_effort: 'low' }, true],
    ['with an effort in the words of this service', 'gpt-5.4', { tools: [TOOL], reasoning: { effort: 'low' } }, true],
    ['with a budget of thinking', 'gpt-5.4-mini', { tools: [TOOL], reasoning: { max_tokens: 2000 } }, true],
    ['without an effort, of which it has none by default', 'gpt-5.4', { tools: [TOOL] }, false],
    ['without an effort, where it thinks by default', 'gpt-5.6-sol', { tools: [TOOL] }, true],
    ['in the older words', 'gpt-5.5', { functions: [TOOL.function] }, true],
    ['without thinking', 'gpt-5.6-sol', { tools: [TOOL], reasoning_effort: 'none' }, false],
    ['with thinking turned off', 'gpt-5.6-sol', { tools: [TOOL], reasoning: { enabled: false } }, false],
    ['none', 'gpt-5.6-sol', { tools: [], reasoning_effort: 'high' }, false],
    ['of an older model', 'gpt-5.1', { tools: [TOOL], reasoning_effort: 'high' }, false],
    ['of a model that only talks', 'gpt-4.1', { tools: [TOOL] }, false],
  ])('%s: %s', (_, model, fields, refused) => {
    const body = JsonBody.read(JSON.stringify({ model: 'a/b', messages: [], ...fields }))
    const target = { provider: 'openai', upstreamModel: model, modelId: `openai/${model}` }
    const call = { dialect: 'chat', body } as const
    expect(refusesIn('openai-chat', call, target)).toBe(refused)
    expect(refusesIn('openai-responses', call, target)).toBe(false)
    expect(refusesIn('openai-chat', call, { ...target, provider: 'own' })).toBe(false)
    if (refused) expect(fewestLosses(['openai-chat', 'openai-responses'], call, target)).toBe('openai-responses')
  })
})

test('a provider of other dialects alone has none to choose', () => {
  const body = JsonBody.read('{"model":"a/b"}')
  expect(
    fewestLosses(['sandbox'], { dialect: 'chat', body }, { provider: 'sandbox', upstreamModel: 'echo', modelId: 'sandbox/echo' }),
  ).toBeNull()
})
