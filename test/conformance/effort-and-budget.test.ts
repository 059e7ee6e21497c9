/** An effort and a token budget for the same thinking: a provider that cannot take both gets one of them, and the client is told which. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay } from '../support/replay.ts'

const FIELDS: Readonly<Record<ClientDialect, object>> = {
  chat: { reasoning: { effort: 'medium', max_tokens: 2000 } },
  responses: { reasoning: { effort: 'medium', max_tokens: 2000 } },
  messages: { max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'medium' } },
}

const ask = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  model: string,
  slug: string,
): Promise<{ sent: string; warned: number }> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const body = { ...question(client, false), tools: undefined, ...FIELDS[client] }
  const { sent, headers } = await replay({ client, upstreams: [{ dialect, reply, model, slug }], body })
  return { sent: sent[0]?.body ?? '', warned: Number(headers.get('x-service-warnings') ?? 0) }
}

describe.each([...CLIENT_DIALECTS])('%s', (client) => {
  test.each<[UpstreamDialect, string, string, string]>([
    ['openai-chat', 'openai', 'gpt-5.4', 'medium'],
    ['openai-chat', 'openrouter', 'x/y', 'medium'],
    ['openai-responses', 'openai', 'gpt-5.4', 'medium'],
    ['anthropic', 'anthropic', 'claude-opus-4-8', 'medium'],
    ['anthropic', 'anthropic', 'claude-sonnet-4-5', '2000'],
    ['google', 'google', 'gemini-3-flash', 'medium'],
    ['google', 'google', 'gemini-2.5-flash', '2000'],
    ['bedrock', 'amazon-bedrock', 'anthropic.claude-opus-4-5-20251101-v1:0', '2000'],
    ['bedrock', 'amazon-bedrock', 'amazon.nova-2-lite-v1:0', 'medium'],
  ])('%s, %s, %s: %s counts, with a warning', async (dialect, slug, model, counts) => {
    const { sent, warned } = await ask(client, dialect, model, slug)
    expect(['medium', '2000'].filter((asked) => sent.includes(asked))).toEqual([counts])
    expect(warned).toBe(1)
  })

  test.each(['claude-opus-4-5', 'claude-opus-4-6'])('%s, which knows both, gets both', async (model) => {
    const { sent, warned } = await ask(client, 'anthropic', model, 'anthropic')
    const body: unknown = JSON.parse(sent)
    expect([at(body, 'thinking', 'budget_tokens'), at(body, 'output_config', 'effort'), warned]).toEqual([2000, 'medium', 0])
  })
})
