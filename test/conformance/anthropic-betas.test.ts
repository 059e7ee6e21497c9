/** Beta features that a client requests: however it names them, Anthropic gets them in the one header that it knows. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'

const betas = async (headers: Readonly<Record<string, string>>, more: object = {}): Promise<{ header: unknown; body: unknown }> => {
  const reply = { type: 'application/json', pieces: [recording('anthropic', 'length', false).bytes] } as const
  const { sent } = await replay({
    client: 'messages',
    upstreams: [{ dialect: 'anthropic', reply }],
    body: { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more },
    headers,
  })
  return { header: at(sent[0], 'headers', 'anthropic-beta'), body: at(JSON.parse(sent[0]?.body ?? '{}'), 'betas') }
}

test.each([
  ['the header of the SDKs', { 'anthropic-beta': 'a-2025-01-01,b' }, {}],
  ['the other header', { 'x-anthropic-beta': 'a-2025-01-01, b' }, {}],
  ['the field of the body', {}, { betas: ['a-2025-01-01', 'b'] }],
  ['all of them', { 'anthropic-beta': 'a-2025-01-01', 'x-anthropic-beta': 'b' }, { betas: ['b', 'a-2025-01-01'] }],
])('by %s', async (_, headers, more) => {
  expect(await betas(headers, more)).toEqual({ header: 'a-2025-01-01,b', body: undefined })
})

test.each([
  ['chat', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['responses', { input: 'Hi' }],
] as const)('%s clients ask for betas by either header, and choose no version', async (client, said) => {
  const reply = { type: 'application/json', pieces: [recording('anthropic', 'length', false).bytes] } as const
  const headers = { 'anthropic-beta': 'a-2025-01-01', 'x-anthropic-beta': 'b, a-2025-01-01', 'anthropic-version': '2024-01-01' }
  const { sent } = await replay({ client, upstreams: [{ dialect: 'anthropic', reply }], body: { model: MODEL, ...said }, headers })
  expect(sent[0]?.headers).toMatchObject({ 'anthropic-beta': 'a-2025-01-01,b', 'anthropic-version': '2023-06-01' })
})

describe('the version of the API that a Messages client names', () => {
  const NEWER = { 'anthropic-version': '2026-10-21' }
  const version = async (more: object): Promise<unknown> => {
    const reply = { type: 'application/json', pieces: [recording('anthropic', 'length', false).bytes] } as const
    const body = { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more }
    const asked = { client: 'messages', upstreams: [{ dialect: 'anthropic', reply }], body, headers: NEWER } as const
    return at((await replay(asked)).sent[0], 'headers', 'anthropic-version')
  }

  test('reaches Anthropic', async () => {
    expect(await version({})).toBe('2026-10-21')
  })

  test.each([{ temperature: 0.5 }, { temperature: 1 }, { top_p: 0.9 }, { top_k: 5 }])(
    'is replaced by one that takes %p, which a preset may have set',
    async (sampling) => {
      expect(await version(sampling)).toBe('2023-06-01')
    },
  )
})

test('what could not stand in a header is left out', async () => {
  expect(await betas({}, { betas: ['a\r\nx-api-key: stolen', 7, '', 'b'] })).toEqual({ header: 'b', body: undefined })
  expect(await betas({}, { betas: 'a' })).toEqual({ header: undefined, body: undefined })
})
