import { describe, expect, test } from 'bun:test'

import { encode, settingsOf } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const

describe('tools', () => {
  test('keep their schema, order and mark', () => {
    const { sent, reported } = encode({
      tools: [f, { ...f, name: 'g', description: null, parameters: {}, cache: { ttl: '5m' }, strict: false }],
    })
    expect(sent['tools']).toEqual([
      { name: 'f', description: 'F', input_schema: { type: 'object', properties: {} } },
      { name: 'g', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ])
    expect([sent['tool_choice'], reported]).toEqual([undefined, []])
  })

  test('strict ones are closed, and what cannot be enforced is told to the model and to the client', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 1, description: 'N' } }, required: ['n'] }
    const { sent, reported } = encode({ tools: [{ ...f, parameters, strict: true }] })
    expect(sent['tools']).toEqual([
      {
        name: 'f',
        description: 'F',
        input_schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: 'N\n(minimum: 1)' } },
          required: ['n'],
          additionalProperties: false,
        },
        strict: true,
      },
    ])
    expect(reported).toEqual(['mapped_field tools[0].strict'])
    expect(encode({ tools: [{ ...f, strict: true }] }, { model: 'claude-sonnet-4-20250514' }).reported).toEqual([
      'unsupported_field tools[0].strict',
    ])
  })

  test.each<[unknown, boolean | undefined, string, unknown, readonly string[]]>([
    [{ type: 'auto' }, undefined, 'claude-opus-5', undefined, []],
    [{ type: 'auto' }, true, 'claude-opus-5', undefined, []],
    [{ type: 'auto' }, false, 'claude-opus-5', { type: 'auto', disable_parallel_tool_use: true }, []],
    [{ type: 'none' }, false, 'claude-opus-5', { type: 'none' }, []],
    [{ type: 'required' }, undefined, 'claude-opus-5', { type: 'any' }, []],
    [{ type: 'tool', name: 'f' }, false, 'claude-opus-5', { type: 'tool', name: 'f', disable_parallel_tool_use: true }, []],
    [
      { type: 'tool', name: 'f' },
      false,
      'claude-opus-5-5',
      { type: 'auto', disable_parallel_tool_use: true },
      ['mapped_field tool_choice'],
    ],
  ])('choice %j, parallel %p, %s', (toolChoice, parallel, model, sent, reported) => {
    const settings = settingsOf(parallel === undefined ? {} : { parallelToolCalls: parallel })
    const encoded = encode({ tools: [f], toolChoice: toolChoice as { type: 'auto' }, settings }, { model })
    expect([encoded.sent['tool_choice'], encoded.reported]).toEqual([sent, [...reported]])
  })

  test('a required call without any tool causes a warning', () => {
    expect(encode({ toolChoice: { type: 'required' } }).reported).toEqual(['unsupported_field tool_choice'])
  })

  test('web search becomes the provider’s own, other tools of other providers cause a warning', () => {
    const provider = (kind: string, raw: object) => ({ type: 'provider', kind, at: 'tools[0]', raw: { type: kind, ...raw } }) as const
    const place = { type: 'approximate', city: 'Ghent', country: null, region: 'x' }
    const { sent, reported } = encode({
      tools: [
        provider('web_search_preview_2025_03_11', {
          max_uses: 3,
          filters: { allowed_domains: ['a.example'] },
          user_location: place,
          search_context_size: 'low',
        }),
        provider('file_search', {}),
      ],
    })
    expect(sent['tools']).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Ghent', region: 'x' },
      },
    ])
    expect(reported).toEqual(['unsupported_field tools[0].search_context_size', 'unsupported_field tools[0]'])
    const options = encode({
      settings: settingsOf({ webSearchOptions: { user_location: { type: 'approximate', approximate: { city: 'Ghent' } } } }),
    })
    expect(options.sent['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Ghent' } },
    ])
    expect(encode({ tools: [provider('web_search', {})] }, { model: 'MiniMax-M3' }).reported).toEqual(['unsupported_field tools[0]'])
  })
})

describe('the form of the answer', () => {
  const schema = {
    $schema: 'x',
    type: 'object',
    properties: { a: { oneOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] } },
    required: ['a'],
  }

  test('is held to a schema where the model can be', () => {
    const { sent, reported } = encode({ outputFormat: { type: 'json-schema', name: 'x', schema } }, { dialect: 'responses' })
    expect(sent['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { a: { anyOf: [{ type: 'string', description: '(maxLength: 3)' }, { type: 'null' }] } },
          required: ['a'],
          additionalProperties: false,
        },
      },
    })
    expect(reported).toEqual(['mapped_field text.format'])
  })

  test('is asked for in words where it cannot be', () => {
    const { sent, reported } = encode({ outputFormat: { type: 'json' } })
    expect(sent['system']).toEqual([{ type: 'text', text: expect.stringContaining('one JSON object') }])
    expect(reported).toEqual(['mapped_field response_format'])
    expect(encode({ outputFormat: { type: 'json-schema', name: 'x', schema } }, { model: 'claude-3-opus-20240229' }).reported).toEqual([
      'mapped_field response_format',
    ])
  })
})
