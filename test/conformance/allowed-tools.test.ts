/** `tool_choice: allowed_tools` on its way to providers that know it, and to all others. */
import { expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay } from '../support/replay.ts'

type Client = Exclude<ClientDialect, 'messages'>

const NAMES = ['one', 'two', 'three']
const parameters = { type: 'object', properties: {} }

const functionOf = (client: Client, name: string): object =>
  client === 'chat' ? { type: 'function', function: { name } } : { type: 'function', name }

const fieldsOf = (client: Client, mode: string, allowed: readonly string[]): object => {
  const tools = allowed.map((name) => functionOf(client, name))
  return {
    tools: NAMES.map((name) =>
      client === 'chat' ? { type: 'function', function: { name, parameters } } : { type: 'function', name, parameters, strict: false },
    ),
    tool_choice: client === 'chat' ? { type: 'allowed_tools', allowed_tools: { mode, tools } } : { type: 'allowed_tools', mode, tools },
  }
}

const sentTo = async (
  { client, dialect, slug }: { client: Client; dialect: UpstreamDialect; slug: string },
  mode: string,
  allowed: readonly string[],
): Promise<Readonly<Record<string, unknown>>> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const upstreams = [{ dialect, slug, reply, model: 'gpt-5.2' }]
  const { sent, headers } = await replay({ client, upstreams, body: { ...question(client, false), ...fieldsOf(client, mode, allowed) } })
  expect(headers.has('x-service-warnings')).toBe(false)
  return JSON.parse(sent[0]?.body ?? '{}') as Readonly<Record<string, unknown>>
}

const clients = ['chat', 'responses'] as const
const TO_OPENAI = clients.flatMap((client) =>
  (['openai', 'azure'] as const).flatMap((slug) =>
    clients.map((upstream) => ({ client, slug, upstream, dialect: `openai-${upstream}` as const })),
  ),
)

test.each(TO_OPENAI)('$client to $dialect of $slug: every tool is sent beside the choice, so that the prompt cache holds', async (way) => {
  for (const mode of ['auto', 'required']) {
    const { tools, tool_choice: choice } = await sentTo(way, mode, ['three', 'one'])
    expect([...JSON.stringify(tools).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)).toEqual(NAMES)
    const { tool_choice: expected } = fieldsOf(way.upstream, mode, way.client === way.upstream ? ['three', 'one'] : ['one', 'three']) as {
      tool_choice: unknown
    }
    expect(choice).toEqual(expected)
  }
})

test.each(TO_OPENAI)('$client to $dialect of $slug: a choice among all the tools is the plain one', async (way) => {
  if (way.client === way.upstream) return
  expect((await sentTo(way, 'required', NAMES))['tool_choice']).toBe('required')
})

const OTHERS = clients.flatMap((client) =>
  (
    [
      ['anthropic', 'anthropic'],
      ['google', 'google-ai-studio'],
      ['bedrock', 'amazon-bedrock'],
      ['openai-chat', 'groq'],
      ['openai-chat', 'deepseek'],
    ] as const
  ).map(([dialect, slug]) => ({ client, dialect, slug })),
)

test.each(OTHERS)('$client to $slug, which has no such choice: only the allowed tools are sent', async (way) => {
  const sent = JSON.stringify(await sentTo(way, 'auto', ['two']))
  expect(sent).toContain('"two"')
  expect(sent).not.toMatch(/"one"|"three"|allowed_tools/)
})

test.each(TO_OPENAI)('$client to $dialect of $slug: where none of the listed tools is allowed, none is sent', async (way) => {
  if (way.client === way.upstream) return
  expect(await sentTo(way, 'auto', ['four'])).not.toMatchObject({ tools: expect.anything() as unknown })
})
