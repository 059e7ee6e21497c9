import { describe, expect, test } from 'bun:test'

import type { Prompt } from '../../canonical/prompt.ts'
import { CLAUDE, encode, LLAMA, MISTRAL, NOVA, settingsOf, talk } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const
const g = { ...f, name: 'g' }
const called = talk(
  ['user', 'Go'],
  ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }],
  ['user', { type: 'tool-result', callId: 'c1', text: 'ok' }],
)

describe('tools', () => {
  test('carry name, description and schema, and the choice among them', () => {
    const { sent, reported } = encode({
      tools: [
        { ...f, strict: true, cache: {} },
        { ...g, description: '' },
      ],
      toolChoice: { type: 'tool', name: 'g' },
    })
    expect(sent.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'f',
            description: 'F',
            inputSchema: { json: { type: 'object', properties: {}, additionalProperties: false } },
            strict: true,
          },
        },
        { cachePoint: { type: 'default' } },
        { toolSpec: { name: 'g', inputSchema: { json: { type: 'object', properties: {} } } } },
      ],
      toolChoice: { tool: { name: 'g' } },
    })
    expect(reported).toEqual([])
  })

  test('are the same text for the same tools', () => {
    expect(encode({ tools: [f, g] }).text).toBe(encode({ tools: [f, g] }).text)
  })

  test.each<[string, string, Partial<Prompt>, object | undefined, string[]]>([
    ['required', CLAUDE, { tools: [f], toolChoice: { type: 'required' } }, { any: {} }, []],
    [
      'a certain one, for a model that takes any',
      MISTRAL,
      { tools: [f, g], toolChoice: { type: 'tool', name: 'g' } },
      { any: {} },
      ['mapped_field tool_choice'],
    ],
    ['the only one, for a model that takes any', MISTRAL, { tools: [f], toolChoice: { type: 'tool', name: 'f' } }, { any: {} }, []],
    [
      'required of a model that takes neither',
      LLAMA,
      { tools: [f], toolChoice: { type: 'required' } },
      undefined,
      ['mapped_field tool_choice'],
    ],
    ['auto', CLAUDE, { tools: [f] }, undefined, []],
  ])('choice: %s', (_, model, prompt, expected, reported) => {
    const encoded = encode(prompt, { model })
    expect(encoded.sent.toolConfig?.toolChoice).toEqual(expected as Record<string, unknown>)
    expect(encoded.reported).toEqual(reported)
  })

  test.each<[string, Partial<Prompt>, unknown]>([
    ['a free choice', { tools: [f] }, { type: 'auto', disable_parallel_tool_use: true }],
    ['a demanded call', { tools: [f], toolChoice: { type: 'required' } }, { type: 'any', disable_parallel_tool_use: true }],
    [
      'a certain tool',
      { tools: [f], toolChoice: { type: 'tool', name: 'f' } },
      { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    ],
  ])('one call at a time is asked of Claude in its own words: %s', (_, prompt, choice) => {
    const { sent, reported } = encode({ ...prompt, settings: settingsOf({ parallelToolCalls: false }) })
    expect(sent.additionalModelRequestFields).toEqual({ tool_choice: choice } as never)
    expect([sent.toolConfig?.toolChoice, reported]).toEqual([undefined, []])
  })

  test('what cannot be kept to one call at a time is told', () => {
    for (const model of [NOVA, 'anthropic.claude-3-5-sonnet-20241022-v2:0'])
      expect(encode({ tools: [f], settings: settingsOf({ parallelToolCalls: false }) }, { model }).reported).toEqual([
        'unsupported_field parallelToolCalls',
      ])
  })

  test('marks of what to cache are at most four, and none is lost on the way of a tool', () => {
    const marked = (name: string) => ({ ...f, name, cache: {} })
    const words = [1, 2, 3].map((turn) => ({ type: 'text', text: String(turn), cache: {} }) as const)
    const { text, reported } = encode({ tools: ['f', 'g', 'h'].map(marked), messages: [{ role: 'user', parts: words, at: 'messages[0]' }] })
    expect([text.split('"cachePoint":').length - 1, reported]).toEqual([4, ['unsupported_field cache_control']])
    expect(encode({ tools: [marked('f')] }).reported).toEqual([])
  })

  test('that may not be called are left out, unless the history shows calls', () => {
    expect(encode({ tools: [f], toolChoice: { type: 'none' } })).toMatchObject({ sent: {}, reported: [] })
    expect(encode({ tools: [f], toolChoice: { type: 'none' } }).sent).not.toHaveProperty('toolConfig')
    const { sent, reported } = encode({ tools: [f], toolChoice: { type: 'none' }, messages: called })
    expect(sent.toolConfig?.tools).toHaveLength(1)
    expect(reported).toEqual(['mapped_field tool_choice'])
  })

  test('of the history are declared if the request has none', () => {
    const { sent, reported } = encode({ messages: called })
    expect(sent.toolConfig).toEqual({ tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }] })
    expect(reported).toEqual(['mapped_field tools'])
  })

  test('that a provider runs, and choices without tools, cause warnings', () => {
    const search = { type: 'provider', kind: 'web_search', at: 'tools[0]', raw: {} } as const
    expect(encode({ tools: [search], toolChoice: { type: 'required' } }).reported).toEqual([
      'unsupported_field tools[0]',
      'unsupported_field tool_choice',
    ])
    expect(encode({ tools: [{ ...f, strict: true }] }, { model: NOVA }).reported).toEqual(['unsupported_field tools[0].strict'])
  })
})

describe('what Bedrock cannot hold a model to', () => {
  const outputFormat = { type: 'json-schema', name: 'r', schema: { type: 'object', properties: {}, additionalProperties: false } } as const

  test.each([
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', true, true],
    ['us.anthropic.claude-opus-4-6-v1', true, true],
    ['us.anthropic.claude-opus-4-7', false, false],
    ['us.anthropic.claude-opus-4-8', true, false],
    ['us-gov.anthropic.claude-opus-4-8', false, false],
    ['global.anthropic.claude-sonnet-5', true, false],
    ['global.anthropic.claude-opus-5-5', true, false],
    ['anthropic.claude-fable-5', false, false],
    ['us.anthropic.claude-fable-5-1', true, false],
    ['us-gov.anthropic.claude-haiku-5-5', false, false],
    ['openai.gpt-oss-120b-1:0', true, true],
  ])('%s: a format is sent (%p), a strict tool is sent as one (%p), and what is not sent is told', (model, format, strict) => {
    const { sent, reported } = encode({ outputFormat, tools: [{ ...f, strict: true }] }, { model })
    expect(sent.outputConfig !== undefined).toBe(format)
    expect(JSON.stringify(sent.toolConfig).includes('strict')).toBe(strict)
    expect(JSON.stringify(sent.system ?? []).includes('JSON Schema')).toBe(!format)
    expect(reported.length).toBe(Number(!format) + Number(!strict))
  })
})

describe('the schema of a tool for Nova, which refuses any other key at its top', () => {
  const schemaOf = (parameters: object, model = NOVA): unknown[] => {
    const { sent, reported } = encode({ tools: [{ ...f, parameters }] }, { model })
    return [sent.toolConfig?.tools[0], reported]
  }
  const spec = (json: object): object => ({ toolSpec: { name: 'f', description: 'F', inputSchema: { json } } })
  const city = { type: 'string', description: 'A city' }
  const referring = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'F',
    type: 'object',
    properties: { from: { $ref: '#/$defs/City' }, to: { $ref: '#/$defs/City' } },
    required: ['from'],
    additionalProperties: false,
    $defs: { City: city },
  }

  test('has its references written out, and what says nothing to the model left out', () => {
    expect(schemaOf(referring)).toEqual([spec({ type: 'object', properties: { from: city, to: city }, required: ['from'] }), []])
    expect(schemaOf(referring, CLAUDE)).toEqual([spec(referring), []])
  })

  test('tells what it cannot say', () => {
    const tree = {
      type: 'object',
      properties: { root: { $ref: '#/definitions/Node' } },
      minProperties: 1,
      definitions: { Node: { type: 'object', properties: { next: { $ref: '#/definitions/Node' } } } },
    }
    expect(schemaOf(tree)).toEqual([
      spec({ type: 'object', properties: { root: { type: 'object', properties: { next: { type: 'object' } } } } }),
      ['mapped_field tools[0].input_schema'],
    ])
  })
})
