import { describe, expect, test } from 'bun:test'

import { json, refusalOf, refusedPaths } from '../refusal.test-kit.ts'
import { presetContentOf } from './preset-config.ts'
import { RESPONSES_TOOLS } from '../../request-fields/schemas/responses-tools.ts'

const configOf = (body: unknown) => presetContentOf(body).content.config
const pathsOf = (body: unknown) => refusedPaths(() => presetContentOf(body))

describe('what is kept', () => {
  test('the documented example: model in config, instructions as system prompt, input and stream nowhere', () => {
    expect(
      presetContentOf({
        model: 'openai/gpt-5.4',
        instructions: 'You are a support agent.',
        input: [{ role: 'user', content: 'hello' }],
        stream: true,
        prompt: { id: 'x', variables: {} },
      }),
    ).toEqual({
      content: { shape: 'responses', config: { model: 'openai/gpt-5.4' }, systemPrompt: 'You are a support agent.' },
      warnings: [],
    })
  })

  test('a body of nothing makes an empty preset', () => {
    expect(presetContentOf({}).content).toEqual({ shape: 'responses', config: {}, systemPrompt: null })
  })

  test('zero and one survive: temperature 0, max_output_tokens 1, false, empty lists', () => {
    const sent = { temperature: 0, max_output_tokens: 1, top_p: 0, parallel_tool_calls: false, tools: [], include: [] }
    expect(configOf(sent)).toEqual(sent)
  })

  test('400: a lock that no field has, with the one that was meant', () => {
    expect(() => presetContentOf({ locked: ['temprature'] })).toThrow(
      'locked[0]: Not a field that a preset keeps. Did you mean "temperature"?',
    )
  })

  test('null is absent: it is not stored', () => {
    expect(configOf({ model: null, temperature: null, tools: null, provider: null, previous_response_id: null })).toEqual({})
    expect(presetContentOf({ instructions: null }).content.systemPrompt).toBeNull()
  })

  test('fields keep the names they came with, and their order', () => {
    const sent = { text: { verbosity: 'low' }, max_output_tokens: 5, truncation: 'auto', max_tool_calls: 3, model: 'a/b' }
    expect(Object.keys(configOf(sent))).toEqual(Object.keys(sent))
    expect(configOf(sent)).not.toHaveProperty('max_tokens')
  })

  test('what makes a body work, or keeps it safe, is kept: summaries of long conversations, moderation, the life of the cache', () => {
    const sent = {
      context_management: [{ type: 'compaction', compact_threshold: 100_000 }],
      moderation: { model: 'omni-moderation-latest', policy: { input: 'block' } },
      prompt_cache_retention: '24h',
    }
    expect(configOf(sent)).toEqual(sent)
  })

  test('a stored value is exactly what was sent, unknown sub-keys and all', () => {
    const sent = {
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', $defs: { a: {} } }, strict: null, later: [1, { x: null }] }],
      reasoning: { effort: 'high', future: true },
      plugins: [{ id: 'web', max_results: 3, added: 'yes' }],
      provider: { sort: 'price', order: null, only: ['a'] },
      image_config: { aspect: '16:9', steps: 4, flags: [true], nested: { deep: [null] } },
    }
    expect(configOf(sent)).toEqual(sent)
  })

  test.each([
    'input',
    'prompt',
    'stream',
    'preset',
    'stream_options',
    'debug',
    'user',
    'safety_identifier',
    'session_id',
    'trace',
    'metadata',
    'store',
    'background',
    'prompt_cache_key',
    'max_tokens',
    'system',
    'wholly_unknown',
  ])('%s is neither kept nor looked at', (field) => {
    expect(presetContentOf({ [field]: { gar: 'bage' } })).toEqual({
      content: { shape: 'responses', config: {}, systemPrompt: null },
      warnings: [],
    })
  })

  test('stream: "yes" and an input of garbage do not refuse the body', () => {
    expect(configOf({ stream: 'yes', input: 7, model: 'a/b' })).toEqual({ model: 'a/b' })
  })
})

describe('system text', () => {
  test('an empty string is kept as an empty string', () => {
    expect(presetContentOf({ instructions: '' }).content.systemPrompt).toBe('')
  })

  test('system items of input are not taken', () => {
    expect(presetContentOf({ input: [{ role: 'system', content: 'x' }] }).content.systemPrompt).toBeNull()
  })

  test('400: instructions that are not a string', () => {
    expect(pathsOf({ instructions: ['a'] })).toEqual(['instructions'])
  })

  test('a megabyte of instructions is taken, a byte more is 400, counted in UTF-8', () => {
    expect(pathsOf({ instructions: 'x'.repeat(1024 * 1024) })).toEqual([])
    expect(pathsOf({ instructions: 'x'.repeat(1024 * 1024 + 1) })).toEqual(['instructions'])
    expect(pathsOf({ instructions: 'é'.repeat(512 * 1024) })).toEqual([])
    expect(pathsOf({ instructions: `${'é'.repeat(512 * 1024)}x` })).toEqual(['instructions'])
  })
})

describe('what is refused', () => {
  test.each([['a string'], [[]], [null], [undefined], [3]])('400: a body that is not an object: %p', (body) => {
    expect(refusalOf(() => presetContentOf(body))).toEqual(['The body must be a JSON object.'])
  })

  test('400: a previous_response_id, since nothing is stored', () => {
    expect(pathsOf({ previous_response_id: 'resp_1' })).toEqual(['previous_response_id'])
  })

  test('400 names the faults of all fields at once', () => {
    expect(
      pathsOf({
        temperature: 3,
        tools: [{ type: 'local_shell' }, { type: 'mcp' }, { type: 'function', name: 7, parameters: {} }],
        provider: { soort: 'price' },
        text: { format: { type: 'json_schema', name: 'n' } },
        stop_server_tools_when: [{ type: 'max_cost' }],
      }),
    ).toEqual([
      'temperature',
      'tools[1].server_label',
      'tools[2].name',
      'provider.soort',
      'text.format.schema',
      'stop_server_tools_when[0].max_cost_in_dollars',
    ])
  })

  test('the message of an error carries no value that was sent', () => {
    expect(refusalOf(() => presetContentOf({ temperature: 'my-secret', service_tier: 'my-secret' })).join()).not.toContain('my-secret')
  })

  test('400: the key __proto__, at any depth', () => {
    expect(pathsOf(json('{"image_config":{"a":[{"__proto__":{"polluted":1}}]}}'))).toEqual(['image_config.a[0].__proto__'])
    expect(pathsOf(json('{"tools":[{"type":"function","name":"f","parameters":{"__proto__":1}}]}'))).toContain(
      'tools[0].parameters.__proto__',
    )
  })

  test.each(['constructor', 'prototype', 'toString'])('an argument of a tool may be called %s', (key) => {
    const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] } }
    expect(presetContentOf({ tools: [tool] }).content.config).toEqual({ tools: [tool] })
  })

  test('a top-level __proto__ is an unknown field like any other', () => {
    const { content } = presetContentOf(json('{"__proto__":{"model":"evil/model"},"constructor":1,"top_k":1}'))
    expect(content.config).toEqual({ top_k: 1 })
    expect(content.config['model']).toBeUndefined()
  })

  test('400: a number that JSON cannot hold', () => {
    expect(pathsOf(json('{"temperature":1e999}'))).toEqual(['temperature'])
    expect(pathsOf(json('{"image_config":{"steps":[1,-1e999]}}'))).toEqual(['image_config.steps[1]'])
  })

  test('400: a value nested deeper than any request may be', () => {
    const deep = json(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`)
    expect(refusalOf(() => presetContentOf({ image_config: deep }))[0]).toEndWith('Nested too deeply.')
  })

  test('a hostile body gets a bounded answer', () => {
    const tools = Array.from({ length: 5000 }, () => ({ type: 'mcp' }))
    expect(pathsOf({ tools })).toHaveLength(50)
    expect(presetContentOf({ tools: tools.map(() => ({ type: 'x'.repeat(300) })) }).warnings).toHaveLength(50)
    expect(refusalOf(() => presetContentOf({ provider: { ['k'.repeat(100_000)]: 1 } })).join().length).toBeLessThan(300)
  })
})

describe('tools', () => {
  const shapes: [string, object][] = [
    ['function', { name: 'f', parameters: { type: 'object', properties: {}, required: [] }, description: 'd', defer_loading: true }],
    ['web_search_preview', { search_context_size: 'low' }],
    ['web_search_preview_2025_03_11', { user_location: { type: 'approximate', city: 'Oslo' } }],
    ['web_search', { engine: 'exa', filters: { allowed_domains: ['a.org'] } }],
    ['web_search_2025_08_26', { max_results: 5, mode: 'deep' }],
    ['file_search', { vector_store_ids: ['v'], filters: { type: 'eq', key: 'k', value: 1 } }],
    ['computer_use_preview', { display_width: 10, display_height: 10, environment: 'linux' }],
    ['code_interpreter', { container: { type: 'auto', memory_limit: '4g' } }],
    ['mcp', { server_label: 's', server_url: 'https://s', allowed_tools: ['t'], require_approval: 'never' }],
    ['image_generation', { quality: 'high', size: '1024x1024' }],
    ['local_shell', {}],
    ['shell', {}],
    ['apply_patch', {}],
    ['custom', { name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } }],
    [
      'namespace',
      {
        name: 'n',
        description: 'd',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'c' },
        ],
      },
    ],
    ['service:advisor', { parameters: { model: 'a/b', name: 'Wise one' } }],
    ['service:subagent', { parameters: { max_tool_calls: 25, tools: [{ type: 'service:datetime' }] } }],
    ['service:datetime', { parameters: { timezone: 'UTC' } }],
    ['service:files', {}],
    ['service:fusion', { parameters: { analysis_models: ['a/b'], max_tool_calls: 16 } }],
    ['service:image_generation', { parameters: { model: 'a/b', aspect_ratio: '1:1' } }],
    ['service:experimental__search_models', { parameters: { max_results: 20 } }],
    ['service:web_fetch', { parameters: { max_uses: 2 } }],
    ['service:web_search', { parameters: { max_results: 3, excluded_domains: ['x.org'] } }],
    ['service:apply_patch', { parameters: { engine: 'auto' } }],
    ['service:bash', { parameters: { environment: { type: 'container_auto' } } }],
    ['service:shell', { parameters: { sleep_after_seconds: 60 } }],
    ['service:tool_search', { parameters: { max_results: 50 } }],
  ]

  test('there are 28 shapes, and every one is tried here', () => {
    expect(RESPONSES_TOOLS).toHaveLength(28)
    expect(shapes).toHaveLength(28)
    expect(new Set(shapes.map(([type]) => type)).size).toBe(28)
  })

  test.each(shapes)('%s is accepted and kept', (type, rest) => {
    const tools = [{ type, ...rest }]
    expect(presetContentOf({ tools })).toMatchObject({ content: { config: { tools } }, warnings: [] })
  })

  test('the prefix openrouter: is taken for ours and kept as it was sent', () => {
    for (const [type, rest] of shapes.filter(([type]) => type.startsWith('service:'))) {
      const tools = [{ type: type.replace('service:', 'openrouter:'), ...rest }]
      expect(presetContentOf({ tools })).toMatchObject({ content: { config: { tools } }, warnings: [] })
    }
  })

  test("OpenAI's tool_search is an alias, not an unknown tool", () => {
    expect(presetContentOf({ tools: [{ type: 'tool_search', execution: 'server' }] }).warnings).toEqual([])
  })

  test('a tool of an unknown type is kept as it is, with a warning that names its place', () => {
    const tools = [{ type: 'local_shell' }, { type: 'hologram_2027', size: { x: 1 } }]
    const { content, warnings } = presetContentOf({ tools })
    expect(content.config['tools']).toEqual(tools)
    expect(warnings).toEqual([{ code: 'unknown_tool_type', field: 'tools[1].type', message: expect.any(String) }])
  })

  test.each([
    [{ type: 'function', name: 'f' }, 'tools[0].parameters'],
    [{ type: 'function', parameters: {} }, 'tools[0].name'],
    [{ type: 'code_interpreter', container: { type: 'none' } }, 'tools[0].container.type'],
    [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'ebnf', definition: 'x' } }, 'tools[0].format.syntax'],
    [{ type: 'service:subagent', parameters: { max_tool_calls: 26 } }, 'tools[0].parameters.max_tool_calls'],
    [{ type: 'service:fusion', parameters: { analysis_models: Array(9).fill('a/b') } }, 'tools[0].parameters.analysis_models'],
    [{ type: 'openrouter:tool_search', parameters: { max_results: 51 } }, 'tools[0].parameters.max_results'],
    [{ type: 'openrouter:datetime', parameters: { timezone: 'Mars/Olympus' } }, 'tools[0].parameters.timezone'],
    [{ type: 'service:web_search', parameters: { max_results: 26 } }, 'tools[0].parameters.max_results'],
    [{ type: 'service:web_search', parameters: { max_characters: 100_001 } }, 'tools[0].parameters.max_characters'],
    [{ type: 'service:shell', parameters: { sleep_after_seconds: 0 } }, 'tools[0].parameters.sleep_after_seconds'],
    [{ name: 'f', parameters: {} }, 'tools[0].type'],
    [{ type: 7 }, 'tools[0].type'],
    ['function', 'tools[0]'],
  ])('400: a known tool that is wrong, by path: %p', (tool, path) => {
    expect(pathsOf({ tools: [tool] })).toEqual([path])
  })

  test('a function without parameters says so with null', () => {
    expect(pathsOf({ tools: [{ type: 'function', name: 'f', parameters: null }] })).toEqual([])
  })

  test('400: tools that are not an array', () => {
    expect(pathsOf({ tools: { type: 'function' } })).toEqual(['tools'])
  })
})
