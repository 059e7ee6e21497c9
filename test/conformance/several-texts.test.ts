/** A tool that returned several texts, alone or with pictures between them. */
import { expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { replay } from '../support/replay.ts'

const TEXTS = ['First page.', 'Second page.']

/** A text, or the address of a picture. */
type Piece = string
const isPicture = (piece: Piece): boolean => piece.startsWith('data:')

const questions = (pieces: readonly Piece[]): Readonly<Record<ClientDialect, object>> => ({
  chat: {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: pieces.map((piece) =>
          isPicture(piece) ? { type: 'image_url', image_url: { url: piece } } : { type: 'text', text: piece },
        ),
      },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: pieces.map((piece) => (isPicture(piece) ? { type: 'input_image', image_url: piece } : { type: 'input_text', text: piece })),
      },
    ],
  },
  messages: {
    max_tokens: 99,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: pieces.map((piece) =>
              isPicture(piece)
                ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: piece.slice(22) } }
                : { type: 'text', text: piece },
            ),
          },
        ],
      },
    ],
  },
})

const sentTo = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  slug: string,
  model: string,
  pieces: readonly Piece[] = TEXTS,
): Promise<string> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent } = await replay({
    client,
    upstreams: [{ dialect, slug, model, reply }],
    body: { model: 'replay/one', ...questions(pieces)[client] },
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

const PICTURES = ['QQ==', 'Qg=='].map((data) => `data:image/png;base64,${data}`)
const WOVEN = ['Before:', PICTURES[0] ?? '', 'After:', PICTURES[1] ?? '']
const ORDER = /Before:.*QQ==.*After:.*Qg==/s

test.each(CLIENTS)('%s: pictures stay between the texts at providers whose results may have both', async (client) => {
  for (const [dialect, slug, model] of [
    ['anthropic', 'anthropic', 'claude-sonnet-4-6'],
    ['bedrock', 'bedrock', 'amazon.nova-pro-v1:0'],
    ['openai-responses', 'openai', 'gpt-5.2'],
    ['openai-chat', 'openrouter', 'openai/gpt-5.2'],
  ] as const)
    expect(await sentTo(client, dialect, slug, model, WOVEN)).toMatch(ORDER)
})
