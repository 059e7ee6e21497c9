/** Patterns in schemas of tools that only JavaScript knows, as in Claude Code's `Artifact`: one of them fails every request of an agent. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'

/** As Claude Code 2.1.266 sends it. */
const ARTIFACT = String.raw`^(?!__.*__$)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\./[\]]{1,200}$`

const sentProperty = async (
  [dialect, slug, model, path]: readonly [UpstreamDialect, string, string, readonly (string | number)[]],
  pattern: string,
): Promise<unknown> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const schema = { type: 'object', properties: { field: { type: 'string', pattern, description: 'A field.' } }, required: ['field'] }
  const tools = [{ name: 'Artifact', description: 'Makes one.', input_schema: schema }]
  const body = { model: MODEL, stream: false, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], tools }
  const { sent } = await replay({ client: 'messages', upstreams: [{ dialect, slug, model, reply }], body })
  return at(JSON.parse(sent[0]?.body ?? '{}'), ...path, 'properties', 'field')
}

const CHAT = ['tools', 0, 'function', 'parameters'] as const
const RESPONSES = ['tools', 0, 'parameters'] as const
const CONVERSE = ['toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json'] as const

describe.each([
  ['openai-responses', 'openai', 'gpt-5.6-sol', RESPONSES],
  ['openai-chat', 'openai', 'gpt-5.4', CHAT],
  ['openai-chat', 'azure', 'gpt-5.4', CHAT],
  ['openai-chat', 'deepseek', 'deepseek-v4-pro', CHAT],
  ['openai-chat', 'moonshot', 'kimi-k3', CHAT],
  ['openai-chat', 'xai', 'grok-4.7', CHAT],
  ['openai-chat', 'llamacpp', 'qwen3', CHAT],
  ['openai-chat', 'lmstudio', 'qwen3', CHAT],
  ['bedrock', 'bedrock', 'us.moonshotai.kimi-k3', CONVERSE],
  ['bedrock', 'bedrock', 'us.xai.grok-4.7', CONVERSE],
  ['bedrock', 'bedrock', 'us.openai.gpt-5.5', CONVERSE],
] as const)('%s of %s, %s', (...upstream) => {
  test('a pattern that the provider cannot compile reaches the model in words', async () => {
    expect(await sentProperty(upstream, ARTIFACT)).toEqual({
      type: 'string',
      description: `A field.\n(pattern: ${JSON.stringify(ARTIFACT)})`,
    })
  })

  test('one that it can compile stays', async () => {
    expect(await sentProperty(upstream, '^[a-z]{1,20}$')).toMatchObject({ pattern: '^[a-z]{1,20}$', description: 'A field.' })
  })
})

test('Anthropic gets it as it is', async () => {
  const upstream = ['anthropic', 'anthropic', 'claude-opus-4-8', ['tools', 0, 'input_schema']] as const
  expect(await sentProperty(upstream, ARTIFACT)).toMatchObject({ pattern: ARTIFACT, description: 'A field.' })
})
