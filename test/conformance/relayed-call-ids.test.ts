/** Ids of calls as the vendor takes them, also where a chat client's own JSON is passed on. */
import { expect, test } from 'bun:test'

import { chatFormat } from '../../src/formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../../src/lib/json-body.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'

const LONG = `call_${'x'.repeat(60)}`

const sentIds = (provider: string, id: string): unknown[] => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ]
  const { call } = chatFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', messages })))
  const target = {
    provider,
    providerName: provider,
    baseUrl: 'https://x',
    apiKey: null,
    modelId: 'a/b',
    upstreamModel: 'b',
    maxCompletionTokens: null,
  }
  const sent = JSON.parse(encodeChatRequest({ call, target, number: 0, warn: () => undefined, connection: new AbortController() })) as {
    messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[]
  }
  return [sent.messages[1]?.tool_calls?.[0]?.id, sent.messages[2]?.tool_call_id]
}

test.each([
  ['openai', LONG, /^call_[0-9a-f]{35}$/],
  ['mistral', 'call_1', /^[0-9a-z]{9}$/],
  ['openai', 'call_1', /^call_1$/],
  ['mistral', 'abcDEF123', /^abcDEF123$/],
  ['own', LONG, new RegExp(`^${LONG}$`)],
])('%s: %s in the call and its result alike', (provider, id, form) => {
  const [called, answered] = sentIds(provider, id)
  expect(called).toMatch(form)
  expect(answered).toBe(called as string)
})
