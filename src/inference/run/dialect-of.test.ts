import { expect, test } from 'bun:test'

import { callOf, endpoint, model } from '../../../test/support/plans.ts'
import type { ProviderDialect } from '../../canonical/provider-dialects.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import { dialectOf } from './dialect-of.ts'

/** The dialect in which OpenAI's endpoint of this model gets a request, if it speaks these. */
const chosen = (
  dialects: readonly ProviderDialect[],
  client: ClientDialect,
  fields: Readonly<Record<string, unknown>> = {},
  id = 'gpt-4o',
) => {
  const { provider, ...rest } = endpoint('openai')
  const asked = { ...rest, upstreamModel: id, provider: { ...provider, dialects } }
  return dialectOf({ endpoint: asked, model: model(`openai/${id}`, [asked]) }, callOf(fields, client))
}

const BOTH = ['openai-responses', 'openai-chat'] as const
const TOOLS = { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }], reasoning_effort: 'low' }

test('a request goes out in its own dialect if the provider has it', () => {
  expect([chosen(BOTH, 'chat'), chosen(BOTH, 'responses')]).toEqual(['openai-chat', 'openai-responses'])
})

test('a request that the provider refuses in that dialect goes out in another, if there is one', () => {
  expect(chosen(BOTH, 'chat', TOOLS, 'gpt-5.4')).toBe('openai-responses')
  expect(chosen(['openai-chat'], 'chat', TOOLS, 'gpt-5.4')).toBe('openai-chat')
})

test('a request in a dialect that the provider lacks goes out in the one that loses least', () => {
  expect(chosen(BOTH, 'messages', { stop_sequences: ['END'] })).toBe('openai-chat')
  expect(chosen(BOTH, 'messages', { stop_sequences: ['END'] }, 'o3')).toBe('openai-responses')
})

test('a provider with dialects into which nothing is translated gets its first', () => {
  expect(chosen(['sandbox'], 'chat')).toBe('sandbox')
})
