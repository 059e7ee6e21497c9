/** Fields that OpenAI alone has on both of its interfaces: they are carried, reported or refused (decisions/0177). */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, type Replayed } from '../support/replay.ts'

interface Server {
  readonly dialect: UpstreamDialect
  readonly slug?: string
}

const ask = (client: 'chat' | 'responses', servers: readonly Server[], fields: object): Promise<Replayed> =>
  replay({
    client,
    upstreams: servers.map(({ dialect, ...more }) => {
      const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
      return { dialect, reply, model: 'gpt-5.2', ...more }
    }),
    body: { ...question(client, false), ...fields },
  })

const OPENAI = { chat: { dialect: 'openai-chat', slug: 'openai' }, responses: { dialect: 'openai-responses', slug: 'openai' } } as const
const moderation = { model: 'omni-moderation-latest', policy: { output: { mode: 'block' } } }

describe.each(['chat', 'responses'] as const)('%s', (client) => {
  test('moderation reaches OpenAI, and a server about which nothing is known', async () => {
    for (const server of [OPENAI[client], { dialect: OPENAI[client].dialect }]) {
      const { sent, headers } = await ask(client, [server], { moderation })
      expect(at(JSON.parse(sent[0]?.body ?? '{}'), 'moderation')).toEqual(moderation)
      expect(headers.has('x-service-warnings')).toBe(false)
    }
  })

  test.each<Server>([
    { dialect: 'anthropic' },
    { dialect: 'google' },
    { dialect: client === 'chat' ? 'openai-responses' : 'openai-chat' },
    { dialect: OPENAI[client].dialect, slug: client === 'chat' ? 'groq' : 'xai' },
  ])('400, naming it: there is none at %p', async (server) => {
    const { sent, status, text } = await ask(client, [server], { moderation })
    expect([sent.length, status]).toEqual([0, 400])
    expect(text).toContain('moderation')
  })

  test('prompt_cache_retention is carried between the two interfaces of OpenAI, and left out elsewhere with a warning', async () => {
    for (const server of Object.values(OPENAI)) {
      const { sent, headers } = await ask(client, [server], { prompt_cache_retention: '24h' })
      expect(at(JSON.parse(sent[0]?.body ?? '{}'), 'prompt_cache_retention')).toBe('24h')
      expect(headers.has('x-service-warnings')).toBe(false)
    }
    for (const server of [{ dialect: 'anthropic' }, { dialect: 'openai-chat', slug: 'groq' }] as const) {
      const { sent, headers } = await ask(client, [server], { prompt_cache_retention: '24h' })
      expect([sent[0]?.body.includes('24h'), headers.get('x-service-warnings')]).toEqual([false, '1'])
    }
  })
})
