/** Requests that hurt the users of other gateways (docs/contract/requests.md#losses): which parts of them reach a provider. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import type { SettingName } from '../../src/canonical/settings.ts'
import { SETTING_OUTCOMES, TRANSLATED_DIALECTS } from '../../src/providers/losses/loss-table.ts'
import { at } from '../support/json-at.ts'
import { UPSTREAM_DIALECTS } from '../support/recordings.ts'
import { sentTo } from '../support/upstream-replies.ts'

const CALLS = [
  { id: 'call_a1', name: 'look', args: '{"at":"Zürich"}', result: 'rain' },
  { id: 'call_b2', name: 'time', args: '{}', result: 'noon' },
] as const

/** A history of two calls and their results in each client dialect. */
const HISTORY: Readonly<Record<ClientDialect, Readonly<Record<string, unknown>>>> = {
  chat: {
    messages: [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: CALLS.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
      },
      ...CALLS.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
    ],
    tools: CALLS.map(({ name }) => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } })),
  },
  responses: {
    instructions: 'First.',
    input: [
      { role: 'user', content: 'Hi' },
      ...CALLS.map(({ id, name, args }) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args })),
      ...CALLS.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
    ],
    tools: CALLS.map(({ name }) => ({ type: 'function', name, parameters: { type: 'object', properties: {} }, strict: false })),
  },
  messages: {
    max_tokens: 500,
    system: 'First.',
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: CALLS.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as unknown })),
      },
      { role: 'user', content: CALLS.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })) },
    ],
    tools: CALLS.map(({ name }) => ({ name, input_schema: { type: 'object', properties: {} } })),
  },
}

describe('requests', () => {
  test('two calls and two results keep their ids, in every pair', async () => {
    for (const client of CLIENT_DIALECTS) {
      const responses = (await sentTo(client, 'openai-responses', HISTORY[client])).body
      const items = responses['input'] as { type?: string; call_id: string }[]
      expect(items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id)).toEqual(['call_a1', 'call_b2'])
      expect(items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)).toEqual(['call_a1', 'call_b2'])

      const chat = (await sentTo(client, 'openai-chat', HISTORY[client])).body['messages'] as {
        role: string
        tool_call_id?: string
        tool_calls?: { id: string }[]
      }[]
      expect(chat.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))).toEqual(['call_a1', 'call_b2'])
      expect(chat.filter(({ role }) => role === 'tool').map(({ tool_call_id: id }) => id ?? '')).toEqual(['call_a1', 'call_b2'])

      const messages = (await sentTo(client, 'anthropic', HISTORY[client])).body['messages'] as {
        content: { type: string; id?: string; tool_use_id?: string }[]
      }[]
      const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      expect(blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))).toEqual(['call_a1', 'call_b2'])
      expect(blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []))).toEqual(['call_a1', 'call_b2'])

      const google = (await sentTo(client, 'google', HISTORY[client])).body['contents'] as {
        parts: { functionCall?: { name: string }; functionResponse?: { name: string } }[]
      }[]
      const parts = google.flatMap(({ parts: each }) => each)
      expect(parts.flatMap(({ functionCall: call }) => call?.name ?? [])).toEqual(['look', 'time'])
      expect(parts.flatMap(({ functionResponse: response }) => response?.name ?? [])).toEqual(['look', 'time'])
    }
  })

  test('the budget of output reaches every provider, under its own name', async () => {
    const asked: Readonly<Record<ClientDialect, object>> = {
      chat: { max_completion_tokens: 321 },
      responses: { max_output_tokens: 321 },
      messages: { max_tokens: 321 },
    }
    for (const client of CLIENT_DIALECTS) {
      const request = { ...HISTORY[client], ...asked[client] }
      const chat = (await sentTo(client, 'openai-chat', request)).body
      expect(chat['max_tokens'] ?? chat['max_completion_tokens']).toBe(321)
      expect((await sentTo(client, 'openai-responses', request)).body['max_output_tokens']).toBe(321)
      expect((await sentTo(client, 'anthropic', request)).body['max_tokens']).toBe(321)
      expect(at((await sentTo(client, 'google', request)).body, 'generationConfig', 'maxOutputTokens')).toBe(321)
    }
  })

  test('every setting has an outcome for every dialect, and a dropped one is told', async () => {
    for (const name of Object.keys(SETTING_OUTCOMES) as SettingName[]) {
      for (const dialect of TRANSLATED_DIALECTS) expect(['kept', 'mapped', 'dropped', 'refused']).toContain(SETTING_OUTCOMES[name][dialect])
    }
    const plain = await sentTo('chat', 'anthropic', HISTORY.chat)
    const lossy = await sentTo('chat', 'anthropic', { ...HISTORY.chat, seed: 7, logit_bias: { 5: 1 }, x_unheard_of: 1 })
    expect(lossy.warnings).toBe(plain.warnings + 3)
    expect(lossy.text).not.toContain('x_unheard_of')
  })

  test('a tool’s name beside its result is no warning: the call has the name', async () => {
    const named = (HISTORY.chat['messages'] as readonly { role: string }[]).map((message) =>
      message.role === 'tool' ? { ...message, name: 'look' } : message,
    )
    for (const dialect of UPSTREAM_DIALECTS) {
      const plain = await sentTo('chat', dialect, HISTORY.chat)
      expect((await sentTo('chat', dialect, { ...HISTORY.chat, messages: named })).warnings).toBe(plain.warnings)
    }
  })

  test('a wish for arguments as soon as they are made is no warning where there is no other way', async () => {
    const tools = (HISTORY.messages['tools'] as readonly object[]).map((tool) => ({ ...tool, eager_input_streaming: true }))
    for (const dialect of UPSTREAM_DIALECTS) {
      const plain = await sentTo('messages', dialect, HISTORY.messages)
      const eager = await sentTo('messages', dialect, { ...HISTORY.messages, tools })
      expect(eager.warnings).toBe(plain.warnings)
      expect(eager.text.includes('eager_input_streaming')).toBe(dialect === 'anthropic')
    }
  })

  test('a system message in the middle keeps its place, and turns before it stay the same bytes', async () => {
    const begin = [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ]
    const turn = [
      { role: 'system', content: 'Be brief from now on.' },
      { role: 'user', content: 'three' },
    ]
    const field = {
      'openai-chat': 'messages',
      'openai-responses': 'input',
      anthropic: 'messages',
      google: 'contents',
      bedrock: 'messages',
    } as const
    for (const dialect of UPSTREAM_DIALECTS) {
      const before = await sentTo('chat', dialect, { messages: [...begin, { role: 'user', content: 'again' }] })
      const after = await sentTo('chat', dialect, { messages: [...begin, ...turn] })
      const history = JSON.stringify(after.body[field[dialect]])
      expect(history.indexOf('Be brief from now on.')).toBeGreaterThan(history.indexOf('two'))
      expect(history.indexOf('three')).toBeGreaterThan(history.indexOf('Be brief from now on.'))
      const shared = JSON.stringify(before.body[field[dialect]]).split('again')[0] ?? ''
      // Compares up to the beginning of the new message.
      expect(history.slice(0, history.indexOf('two') + 3)).toBe(shared.slice(0, shared.indexOf('two') + 3))
    }
  })
})
