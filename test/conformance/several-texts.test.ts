/** A tool that returned several texts. */
import { expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { replay } from '../support/replay.ts'

const TEXTS = ['First page.', 'Second page.']

const QUESTIONS: Readonly<Record<ClientDialect, object>> = {
  chat: {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: TEXTS.map((text) => ({ type: 'text', text })) },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: TEXTS.map((text) => ({ type: 'input_text', text })) },
    ],
  },
  messages: {
    max_tokens: 99,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: TEXTS.map((text) => ({ type: 'text', text })) }] },
    ],
  },
}

const sentTo = async (client: ClientDialect, dialect: UpstreamDialect, slug: string, model: string): Promise<string> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent } = await replay({
    client,
    upstreams: [{ dialect, slug, model, reply }],
    body: { model: 'replay/one', ...QUESTIONS[client] },
  })
  return sent[0]?.body ?? ''
}

const CLIENTS = ['chat', 'responses', 'messages'] as const

test.each(CLIENTS)('%s: each text is a part of its own at providers whose results may have several', async (client) => {
  expect(await sentTo(client, 'anthropic', 'anthropic', 'claude-sonnet-4-6')).toContain(
    JSON.stringify(TEXTS.map((text) => ({ type: 'text', text }))),
  )
  expect(await sentTo(client, 'bedrock', 'bedrock', 'amazon.nova-pro-v1:0')).toContain(JSON.stringify(TEXTS.map((text) => ({ text }))))
  expect(await sentTo(client, 'openai-responses', 'openai', 'gpt-5.2')).toContain(
    JSON.stringify(TEXTS.map((text) => ({ type: 'input_text', text }))),
  )
})

test.each(['chat', 'messages'] as const)('%s: they are one text elsewhere', async (client) => {
  for (const [dialect, slug, model] of [
    ['google', 'google', 'gemini-3-pro-preview'],
    ['openai-responses', 'xai', 'grok-4.3'],
    ['openai-chat', 'groq', 'openai/gpt-oss-120b'],
  ] as const)
    expect(await sentTo(client, dialect, slug, model)).toMatch(/First page\.\\n(?:\\n)?Second page\./)
})
