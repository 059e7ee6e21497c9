import { expect, test } from 'bun:test'

import type { ClientDialect } from '../canonical/call.ts'
import { JsonBody } from '../lib/json-body.ts'
import { fewestLosses } from './fewest-losses.ts'

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

test('a provider of other dialects alone has none to choose', () => {
  const body = JsonBody.read('{"model":"a/b"}')
  expect(
    fewestLosses(['sandbox'], { dialect: 'chat', body }, { provider: 'sandbox', upstreamModel: 'echo', modelId: 'sandbox/echo' }),
  ).toBeNull()
})
