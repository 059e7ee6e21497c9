/** Ids of calls in the form that the vendor accepts, also if a client's own JSON is relayed. */
import { describe, expect, test } from 'bun:test'

import { atOnce } from '../../src/lib/steps.ts'
import { messagesFormat } from '../../src/formats/anthropic-messages/anthropic-messages.ts'
import { chatFormat } from '../../src/formats/openai-chat/openai-chat.ts'
import { responsesFormat } from '../../src/formats/openai-responses/openai-responses.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { anthropicWire } from '../../src/providers/anthropic/encode.ts'
import { responsesWire } from '../../src/providers/openai-responses/encode.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'

const LONG = `call_${'x'.repeat(60)}`

const TARGET = { baseUrl: 'https://x', apiKey: null, modelId: 'a/b', upstreamModel: 'b', maxCompletionTokens: null }

const sentIds = (provider: string, id: string): unknown[] => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ]
  const { call } = atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', messages }))))
  const target = { ...TARGET, provider, providerName: provider }
  const sent = JSON.parse(
    atOnce(encodeChatRequest({ call, target, number: 0, warn: () => undefined, connection: new AbortController() })),
  ) as {
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

test.each([
  ['openai', `call_${'x'.repeat(60)}`, /^call_[0-9a-f]{59}$/],
  ['azure', `call_${'x'.repeat(60)}`, /^call_[0-9a-f]{59}$/],
  ['openai', `call_${'x'.repeat(59)}`, /^call_x{59}$/],
  ['own', `call_${'x'.repeat(60)}`, /^call_x{60}$/],
])('%s: items of Responses have ids of at most 64 characters where the vendor takes no more: %s', (provider, id, form) => {
  const input = [
    { role: 'user', content: `"call_id":"${id}"` },
    { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: 'ok' },
    { type: 'custom_tool_call', call_id: id, name: 'g', input: '' },
    { type: 'custom_tool_call_output', call_id: id, output: 'ok' },
  ]
  const { call } = atOnce(responsesFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', input }))))
  const target = { ...TARGET, provider, providerName: provider, upstreamModel: 'gpt-5' }
  const wire = atOnce(responsesWire({ call, target, number: 0, warn: () => undefined, connection: new AbortController() }))
  const sent = (JSON.parse(String(wire)) as { input: { call_id?: string }[] }).input
  expect(sent[0]).toEqual({ role: 'user', content: `"call_id":"${id}"` } as object)
  for (const item of sent.slice(1)) {
    expect(item.call_id).toMatch(form)
    expect(item.call_id).toBe(sent[1]?.call_id)
  }
})

describe('a Messages client whose history holds calls of other models', () => {
  const sentTo = (upstreamModel: string, id: string): string => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: { id: 'a:b' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
    ]
    const { call } = atOnce(messagesFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', max_tokens: 9, messages }))))
    const target = { ...TARGET, provider: 'anthropic', providerName: 'Anthropic', upstreamModel }
    return String(atOnce(anthropicWire({ call, target, number: 0, warn: () => undefined, connection: new AbortController() })))
  }

  test('gets ids that Claude takes, for the call and its result alike; arguments stay as they are', () => {
    const sent = sentTo('claude-opus-4-8', 'functions.read:0')
    expect(sent).toContain('"id":"functions_2eread_3a0"')
    expect(sent).toContain('"tool_use_id":"functions_2eread_3a0"')
    expect(sent).toContain('"input":{"id":"a:b"}')
    expect(sent).not.toContain('functions.read:0')
  })

  test('keeps its ids where Claude takes them, and where the model is no Claude', () => {
    expect(sentTo('claude-opus-4-8', 'toolu_01-A')).toContain('"tool_use_id":"toolu_01-A"')
    expect(sentTo('imitation-1', 'functions.read:0')).toContain('"tool_use_id":"functions.read:0"')
  })
})
