/** Schemas of tools whose top is a choice between objects, as Codex has one: providers that want one object get all the alternatives. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'

const branch = (mode: string): object => ({
  type: 'object',
  properties: { mode: { const: mode }, id: { type: 'string' } },
  required: ['mode'],
  additionalProperties: false,
})

const SCHEMAS: Readonly<Record<string, object>> = {
  'a choice, one alternative of which is a choice': {
    $defs: { create: branch('create') },
    oneOf: [{ $ref: '#/$defs/create' }, { oneOf: [branch('update'), branch('remove')] }],
  },
  'a choice beside a type of null': { type: null, oneOf: [branch('create'), branch('update'), branch('remove')] },
}

const PROVIDERS: readonly (readonly [UpstreamDialect, string, string, readonly (string | number)[]])[] = [
  ['openai-chat', 'deepseek', 'deepseek-v4-flash', ['tools', 0, 'function', 'parameters']],
  ['openai-chat', 'moonshot', 'kimi-k2.6', ['tools', 0, 'function', 'parameters']],
  ['openai-chat', 'xai', 'grok-4.5', ['tools', 0, 'function', 'parameters']],
  ['openai-responses', 'xai', 'grok-4.5', ['tools', 0, 'parameters']],
  ['openai-responses', 'openai', 'gpt-5.4', ['tools', 0, 'parameters']],
  ['anthropic', 'anthropic', 'claude-opus-4-8', ['tools', 0, 'input_schema']],
  ['bedrock', 'bedrock', 'anthropic.claude-opus-4-8', ['toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json']],
]

const sentSchema = async (
  dialect: UpstreamDialect,
  slug: string,
  model: string,
  path: readonly (string | number)[],
  parameters: object,
): Promise<unknown> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const tools = [{ type: 'function', name: 'automation_update', parameters, strict: false }]
  const body = { model: MODEL, stream: false, input: 'Hi', tools }
  const { sent } = await replay({ client: 'responses', upstreams: [{ dialect, slug, model, reply }], body })
  return at(JSON.parse(sent[0]?.body ?? '{}'), ...path)
}

describe.each(Object.entries(SCHEMAS))('%s', (_, parameters) => {
  test.each(PROVIDERS)('%s of %s: the model is offered every alternative', async (dialect, slug, model, path) => {
    const schema = await sentSchema(dialect, slug, model, path, parameters)
    expect(schema).toMatchObject({ type: 'object', required: ['mode'], additionalProperties: false })
    for (const keyword of ['oneOf', 'anyOf', 'allOf']) expect(at(schema, keyword)).toBeUndefined()
    const mode = JSON.stringify(at(schema, 'properties', 'mode'))
    for (const word of ['create', 'update', 'remove']) expect(mode).toContain(word)
  })

  test('Google, which takes such a choice, gets it with the type of an object', async () => {
    const path = ['tools', 0, 'functionDeclarations', 0, 'parametersJsonSchema']
    const schema = await sentSchema('google', 'google', 'gemini-3-pro-preview', path, parameters)
    expect(at(schema, 'type')).toBe('object')
    expect(at(schema, 'oneOf')).toBeArray()
  })
})
