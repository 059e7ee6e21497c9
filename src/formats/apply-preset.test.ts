import { isDeepStrictEqual } from 'node:util'

import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { ClientDialect } from '../canonical/call.ts'
import type { PresetContent } from '../contract/preset.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { JsonValue } from '../lib/json/json.ts'
import { atOnce } from '../lib/steps.ts'
import { applyPreset } from './apply-preset.ts'
import { firstFault } from './first-fault.test-kit.ts'

type Config = PresetContent['config']

interface Case {
  readonly dialect?: ClientDialect
  readonly shape?: ClientDialect
  readonly config?: Config
  readonly systemPrompt?: string | null
  readonly model?: string | null
}

const apply = (body: string | object, { dialect = 'chat', shape = dialect, config = {}, systemPrompt = null, model = null }: Case) =>
  atOnce(
    applyPreset(dialect, JsonBody.read(typeof body === 'string' ? body : JSON.stringify(body)), { shape, config, systemPrompt }, model),
  )

const merged = (body: string | object, preset: Case): unknown => JSON.parse(apply(body, preset).body.text)

const USER = { role: 'user', content: 'Hi' }

describe('fields', () => {
  test('the request wins, the preset fills, each field as a whole', () => {
    const config = { model: 'a/b', temperature: 0.2, top_p: 0.9, provider: { order: ['x'], allow_fallbacks: false } }
    const body = { model: '@preset/p', messages: [USER], temperature: 1, provider: { sort: 'price' } }
    expect(merged(body, { config })).toEqual({ model: 'a/b', messages: [USER], temperature: 1, provider: { sort: 'price' }, top_p: 0.9 })
  })

  test('null in the request counts as absent', () => {
    expect(merged({ model: null, temperature: null, messages: [USER] }, { config: { model: 'a/b', temperature: 0 } })).toEqual({
      model: 'a/b',
      temperature: 0,
      messages: [USER],
    })
  })

  test('a falsy value of the request is a value', () => {
    const body = { model: 'a/b', temperature: 0, parallel_tool_calls: false }
    expect(merged(body, { model: 'a/b', config: { temperature: 1, parallel_tool_calls: true } })).toEqual(body)
  })

  test('the model of the request wins, without its preset reference; the preset field goes', () => {
    const body = { model: 'c/d:nitro@preset/p', preset: 'p', messages: [USER] }
    expect(merged(body, { model: 'c/d:nitro', config: { model: 'a/b' } })).toEqual({ model: 'c/d:nitro', messages: [USER] })
  })

  test('no model anywhere leaves none', () => {
    expect(merged({ model: '@preset/p', messages: [USER] }, { config: {} })).toEqual({ messages: [USER] })
  })

  test('an object without members is a value like any other', () => {
    expect(merged({ messages: [USER] }, { config: { logit_bias: {} } })).toEqual({ messages: [USER], logit_bias: {} })
  })

  test('locked, on_locked and system are not fields of a body', () => {
    const config = { locked: ['seed'], on_locked: 'keep', system: [{ type: 'text', text: 'x' }], top_p: 1 }
    expect(merged({ messages: [USER] }, { config })).toEqual({ messages: [USER], top_p: 1 })
  })

  test.each<[ClientDialect, Config, object, object]>([
    ['chat', { max_tokens: 10 }, { max_completion_tokens: 20 }, { max_completion_tokens: 20 }],
    ['chat', { reasoning: { effort: 'high' } }, { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
    ['messages', { fallbacks: [{ model: 'a/b' }] }, { models: ['c/d'] }, { models: ['c/d'] }],
    ['messages', { models: ['a/b'] }, { fallbacks: [{ model: 'c/d' }] }, { fallbacks: [{ model: 'c/d' }] }],
    ['messages', { models: ['a/b'] }, { fallbacks: 'default' }, { models: ['a/b'] }],
    ['messages', { fallbacks: [{ model: 'a/b' }] }, { fallbacks: 'default' }, { fallbacks: [{ model: 'a/b' }] }],
    ['messages', { fallbacks: 'default' }, { models: ['c/d'] }, { models: ['c/d'] }],
    ['messages', { temperature: 1 }, { fallbacks: 'default' }, { fallbacks: 'default', temperature: 1 }],
    ['messages', { speed: 'fast' }, { service_tier: 'flex' }, { service_tier: 'flex' }],
    [
      'messages',
      { thinking: { type: 'disabled' } },
      { output_config: { effort: 'low' } },
      { output_config: { effort: 'low' }, thinking: { type: 'disabled' } },
    ],
  ])('%s: two names of one setting never meet: %j with %j', (dialect, config, body, expected) => {
    expect(merged(body, { dialect, config })).toEqual(expected)
  })

  test.each<[Config, object, object]>([
    [{ reasoning_effort: 'high' }, { include_reasoning: false }, { reasoning_effort: 'high', include_reasoning: false }],
    [{ include_reasoning: false }, { reasoning_effort: 'low' }, { include_reasoning: false, reasoning_effort: 'low' }],
    [
      { reasoning: { effort: 'high', summary: 'auto', exclude: true } },
      { include_reasoning: true },
      { reasoning: { effort: 'high', summary: 'auto' }, include_reasoning: true },
    ],
    [
      { reasoning: { max_tokens: 2000, exclude: true } },
      { reasoning_effort: 'low' },
      { reasoning: { exclude: true }, reasoning_effort: 'low' },
    ],
    [{ reasoning_effort: 'high', include_reasoning: false }, { reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
  ])('a field that sets only a part of the reasoning leaves the rest to the preset: %j with %j', (config, body, expected) => {
    expect(merged(body, { config })).toEqual(expected)
  })

  test.each<[object, string | undefined]>([
    [{ enable_thinking: true }, 'high'],
    [{ thinking: { type: 'enabled', clear_thinking: false } }, 'high'],
    [{ enable_thinking: false }, undefined],
    [{ thinking: { type: 'disabled' } }, undefined],
    [{ google: { thinking_config: { thinking_budget: 0, include_thoughts: false } } }, undefined],
    [{ chat_template_kwargs: { enable_thinking: false } }, undefined],
  ])("a vendor's name leaves the preset's thinking to other providers unless it turns thinking off: %j", (body, effort) => {
    const { replaced } = apply(body, { dialect: 'responses', config: { reasoning: { effort: 'high' } } })
    expect(replaced?.reasoning?.value.effort).toBe(effort)
  })

  test('what the preset does not touch keeps its bytes', () => {
    const text =
      '{ "messages" : [ {"role":"user","content":"caf\\u00e9"} ],\n "temperature": 1.0, "x_unknown":{"a": 1e2}, "model":"@preset/p" }'
    expect(apply(text, { config: { model: 'a/b', temperature: 0, top_k: 4 } }).body.text).toBe(
      '{ "messages" : [ {"role":"user","content":"caf\\u00e9"} ],\n "temperature": 1.0, "x_unknown":{"a": 1e2}, "model":"a/b","top_k":4 }',
    )
  })
})

describe('tools', () => {
  const fn = (name: string, description: string) => ({ type: 'function', function: { name, description } })

  test('preset tools keep their order, the request replaces in place, its other tools follow', () => {
    const config = { tools: [fn('a', 'preset'), { type: 'service:web_search' }, fn('b', 'preset')] }
    const tools = [fn('c', 'request'), fn('b', 'request'), { type: 'openrouter:web_search', parameters: { max_results: 2 } }]
    expect(merged({ tools }, { config })).toEqual({ tools: [fn('a', 'preset'), tools[2], tools[1], tools[0]] })
  })

  test.each(['advisor', 'subagent'])('%s: one for each name', (kind) => {
    const agent = (prefix: string, name?: string) => ({ type: `${prefix}:${kind}`, parameters: { ...(name && { name }), model: prefix } })
    const config = { tools: [agent('service', 'x'), agent('service')] }
    expect(merged({ tools: [agent('openrouter'), agent('openrouter', 'y')] }, { config })).toEqual({
      tools: [agent('service', 'x'), agent('openrouter'), agent('openrouter', 'y')],
    })
  })

  test('a function is known by its name on every interface', () => {
    expect(
      merged(
        { tools: [{ type: 'function', name: 'a', parameters: {} }] },
        { dialect: 'responses', config: { tools: [{ type: 'function', name: 'a' }] } },
      ),
    ).toEqual({ tools: [{ type: 'function', name: 'a', parameters: {} }] })
    expect(
      merged(
        { tools: [{ type: 'custom', name: 'a' }] },
        { dialect: 'messages', config: { tools: [{ name: 'a', input_schema: {} }, { name: 'b' }] } },
      ),
    ).toEqual({ tools: [{ type: 'custom', name: 'a' }, { name: 'b' }] })
  })

  test('another server tool there is once, MCP servers and custom tools once for each name', () => {
    const config = {
      tools: [
        { type: 'web_search', max_results: 1 },
        { type: 'mcp', server_label: 'a' },
        { type: 'custom', name: 'x' },
      ],
    }
    const tools = [
      { type: 'custom', name: 'y' },
      { type: 'mcp', server_label: 'b' },
      { type: 'web_search', max_results: 2 },
    ]
    expect(merged({ tools }, { dialect: 'responses', config })).toEqual({
      tools: [tools[2], config.tools[1], config.tools[2], tools[0], tools[1]],
    })
  })
})

describe('locked fields', () => {
  const config = { model: 'a/b', temperature: 0, max_tokens: 10, locked: ['model', 'temperature', 'max_tokens', 'seed'] }
  const body = { messages: [USER], temperature: 1, max_completion_tokens: 99, models: ['e/f'], seed: 7, top_p: 1 }

  test('keep: the preset wins and says so, and no other name of the setting gets around it', () => {
    const { body: result, warnings } = apply(body, { config, model: 'c/d' })
    expect(JSON.parse(result.text)).toEqual({ messages: [USER], temperature: 0, top_p: 1, model: 'a/b', max_tokens: 10 })
    expect(warnings.map(({ code, field }) => [code, field])).toEqual([
      ['locked_field', 'model'],
      ['locked_field', 'temperature'],
      ['locked_field', 'models'],
      ['locked_field', 'max_completion_tokens'],
      ['locked_field', 'seed'],
    ])
  })

  test('reject: 400 naming the field', () => {
    expect(firstFault(() => apply({ temperature: 1 }, { config: { ...config, on_locked: 'reject' } }))).toEqual([
      'invalid_request',
      'temperature',
    ])
  })

  test('the value that the preset has itself is no conflict', () => {
    const same = { messages: [USER], temperature: 0, max_tokens: 10, seed: null }
    const { body: result, warnings } = apply(same, { config: { ...config, on_locked: 'reject' }, model: 'a/b' })
    expect(JSON.parse(result.text)).toEqual({ ...same, model: 'a/b' })
    expect(warnings).toEqual([])
  })

  test('locked tools are the preset tools alone', () => {
    const tools = [{ type: 'service:datetime' }]
    expect(merged({ tools: [{ type: 'service:web_fetch' }] }, { config: { tools, locked: ['tools'] } })).toEqual({ tools })
  })

  test('a lock holds on another interface, and there only its part of a larger field', () => {
    const preset: Case = { shape: 'chat', dialect: 'messages', config: { reasoning_effort: 'high', locked: ['reasoning_effort'] } }
    const format = { type: 'json_schema', schema: {} }
    const { body: result, warnings } = apply({ output_config: { effort: 'low', format }, thinking: { type: 'disabled' } }, preset)
    expect(JSON.parse(result.text)).toEqual({ output_config: { format, effort: 'high' }, thinking: { type: 'adaptive' } })
    expect(warnings.map(({ field }) => field).sort()).toEqual(['output_config.effort', 'thinking'])
  })

  test.each<[string, Config, string]>([
    ['the effort', { reasoning_effort: 'high', locked: ['reasoning_effort'] }, 'chat'],
    ['output_config', { output_config: { effort: 'high' }, locked: ['output_config'] }, 'messages'],
  ])('a lock of %s holds in the middle of a conversation, where the words of such a message stay', (_, config, shape) => {
    const changes = [
      { role: 'system', content: [], output_config: { effort: 'low' } },
      { role: 'system', content: 'S', output_config: { effort: 'low' } },
      { role: 'system', content: 'T' },
    ]
    const preset: Case = { shape: shape as ClientDialect, dialect: 'messages', config }
    const { body, warnings } = apply({ messages: [USER, ...changes] }, preset)
    expect(JSON.parse(body.text)).toMatchObject({
      messages: [USER, { role: 'system', content: 'S' }, { role: 'system', content: 'T' }],
      output_config: { effort: 'high' },
    })
    expect(body.text).not.toContain('low')
    const paths = ['messages[1].output_config.effort', 'messages[2].output_config.effort']
    expect(warnings.map(({ code, field }) => [code, field])).toEqual(paths.map((path) => ['locked_field', path]))
    const rejecting = { ...preset, config: { ...config, on_locked: 'reject' } }
    expect(firstFault(() => apply({ messages: [USER, ...changes] }, rejecting))).toEqual(expect.arrayContaining([paths[0]]))
  })

  test.each<[string, string[]]>([
    ['no lock', []],
    ['a lock of the output format', ['response_format']],
    ['a lock of another field', ['temperature']],
  ])('%s leaves the effort to the messages', (_, locked) => {
    const messages = [USER, { role: 'system', content: [], output_config: { effort: 'low' } }]
    const config = { reasoning_effort: 'high', locked }
    expect(merged({ messages }, { shape: 'chat', dialect: 'messages', config })).toMatchObject({
      messages,
      output_config: { effort: 'high' },
    })
  })

  test('a lock holds a field that the interface does not know, since an upstream may', () => {
    const { body, warnings } = apply(
      { messages: [USER], seed: 5 },
      { shape: 'chat', dialect: 'messages', config: { seed: 1, locked: ['seed'] } },
    )
    expect(JSON.parse(body.text)).toEqual({ messages: [USER] })
    expect(warnings.map(({ code, field }) => [code, field])).toContainEqual(['locked_field', 'seed'])
  })

  test.each<[string, Config, object, object, string]>([
    ['thinking', { thinking: { type: 'disabled' } }, { output_config: { effort: 'max' } }, { output_config: {} }, 'output_config.effort'],
    ['thinking', {}, { output_config: { effort: 'max' } }, { output_config: {} }, 'output_config.effort'],
    ['output_config', { output_config: { effort: 'low' } }, { thinking: { type: 'disabled' } }, {}, 'thinking'],
  ])('messages: a lock of %s of %j holds against the other field of the same setting: %j', (field, config, body, kept, overruled) => {
    const preset: Case = { dialect: 'messages', config: { ...config, locked: [field] } }
    const { body: result, warnings } = apply(body, preset)
    expect(JSON.parse(result.text)).toEqual({ ...config, ...kept })
    expect(warnings.map(({ code, field }) => [code, field])).toEqual([['locked_field', overruled]])
    expect(firstFault(() => apply(body, { ...preset, config: { ...preset.config, on_locked: 'reject' } }))).toContain(overruled)
  })

  const ITEM = 'message.output_text.logprobs'
  const OTHER = 'reasoning.encrypted_content'
  test.each<[ClientDialect, ClientDialect, Config, object, object, string[]]>([
    ['responses', 'responses', { locked: ['include'] }, { top_logprobs: 5 }, {}, ['top_logprobs']],
    [
      'responses',
      'responses',
      { include: [OTHER], locked: ['include'] },
      { include: [ITEM], top_logprobs: 5 },
      { include: [OTHER] },
      ['include', 'top_logprobs'],
    ],
    ['responses', 'chat', { locked: ['include'] }, { logprobs: true }, {}, ['logprobs']],
    [
      'chat',
      'responses',
      { logprobs: false, locked: ['logprobs'] },
      { include: [ITEM, OTHER], top_logprobs: 5 },
      { include: [OTHER] },
      ['top_logprobs', 'include'],
    ],
    ['chat', 'responses', { logprobs: true, locked: ['logprobs'] }, { include: [OTHER] }, { include: [OTHER, ITEM] }, []],
    ['chat', 'responses', { logprobs: true, locked: ['logprobs'] }, { include: [ITEM, OTHER] }, { include: [ITEM, OTHER] }, []],
    ['chat', 'responses', { logprobs: true, locked: ['logprobs'] }, {}, { include: [ITEM] }, []],
  ])(
    'log probabilities are locked under each of their names, by a preset of %s, on %s: %j, %j',
    (shape, dialect, config, body, kept, overruled) => {
      const { body: result, warnings } = apply(body, { shape, dialect, config })
      expect(JSON.parse(result.text)).toEqual(kept)
      expect(warnings.filter(({ code }) => code === 'locked_field').map(({ field }) => field)).toEqual(overruled)
    },
  )

  test('a lock may be named as another interface names the setting', () => {
    const preset: Case = { dialect: 'responses', config: { max_output_tokens: 10, locked: ['max_tokens'] } }
    expect(merged({ max_output_tokens: 99 }, preset)).toEqual({ max_output_tokens: 10 })
  })
})

describe('the system prompt of the preset comes first', () => {
  const systemPrompt = 'Preset.'
  const blocks = [{ type: 'text', text: 'Preset.', cache_control: { type: 'ephemeral' } }]

  test('chat: as a message in front of the others, which keep their bytes', () => {
    const text = '{"messages": [ {"role":"system","content":"Own."},  {"role":"user","content":"caf\\u00e9"} ]}'
    expect(apply(text, { systemPrompt }).body.text).toBe(
      '{"messages": [{"role":"system","content":"Preset."}, {"role":"system","content":"Own."},  {"role":"user","content":"caf\\u00e9"} ]}',
    )
    expect(merged({ messages: [USER] }, { systemPrompt, config: { system: blocks } })).toEqual({
      messages: [{ role: 'system', content: blocks }, USER],
    })
  })

  test('chat: a body without messages does not get a conversation from it', () => {
    for (const text of ['{}', '{"messages":[]}', '{"messages":[ ]}', '{"messages":"Hi"}']) {
      expect(apply(text, { systemPrompt }).body.text).toBe(text)
    }
  })

  test('responses: joined with a blank line', () => {
    expect(merged({ input: 'Hi', instructions: 'Own.' }, { dialect: 'responses', systemPrompt })).toEqual({
      input: 'Hi',
      instructions: 'Preset.\n\nOwn.',
    })
    expect(merged({ input: 'Hi', instructions: null }, { dialect: 'responses', systemPrompt })).toEqual({
      input: 'Hi',
      instructions: 'Preset.',
    })
  })

  test('responses: blocks become text, with a warning', () => {
    const { body, warnings } = apply({ input: 'Hi' }, { dialect: 'responses', systemPrompt, config: { system: blocks } })
    expect(JSON.parse(body.text)).toEqual({ input: 'Hi', instructions: 'Preset.' })
    expect(warnings).toMatchObject([{ code: 'mapped_field', field: 'instructions' }])
  })

  const own = { type: 'text', text: 'Own.' }
  test.each<[string, Config, JsonValue | undefined, JsonValue]>([
    ['alone', {}, undefined, 'Preset.'],
    ['two strings: joined', {}, 'Own.', 'Preset.\n\nOwn.'],
    ['own blocks: a block before them', {}, [own], [{ type: 'text', text: 'Preset.' }, own]],
    ['preset blocks before a string', { system: blocks }, 'Own.', [...blocks, own]],
    ['preset blocks before blocks', { system: blocks }, [own], [...blocks, own]],
    ['preset blocks alone', { system: blocks }, undefined, blocks],
    ['own blocks, but none', {}, [], [{ type: 'text', text: 'Preset.' }]],
  ])('messages: %s', (_, config, system, expected) => {
    expect(merged(system === undefined ? {} : { system }, { dialect: 'messages', systemPrompt, config })).toEqual({
      system: expected,
    } as never)
  })

  test.each([
    ['responses', 'instructions'],
    ['messages', 'system'],
  ] as const)('%s: invalid_request where the own text is not one', (dialect, field) => {
    expect(firstFault(() => apply({ [field]: 7 }, { dialect, systemPrompt }))).toEqual(['invalid_request', field])
  })
})

describe('for every request and preset', () => {
  const NAMES = ['temperature', 'top_p', 'seed', 'max_tokens', 'max_completion_tokens', 'provider', 'stop', 'tools', 'x_other', 'models']
  const tool = fc.record({
    type: fc.constantFrom('service:datetime', 'openrouter:datetime', 'function'),
    function: fc.record({ name: fc.constantFrom('f', 'g') }),
  })
  const value = (name: string): fc.Arbitrary<JsonValue> =>
    (name === 'tools' ? fc.array(tool, { maxLength: 4 }) : fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonValue>
  const members = fc
    .uniqueArray(fc.constantFrom(...NAMES))
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, value(name)] as const))))
  const locked = fc.uniqueArray(fc.constantFrom('temperature', 'max_tokens', 'provider', 'tools', 'model'))
  const config = fc.tuple(members, locked).map(([fields, locked]): Config => {
    const { x_other: _, ...known } = fields
    return { ...known, model: 'a/b', locked }
  })
  const own = members.map((fields) => ({ ...fields, messages: [USER] }))

  test('applying a preset twice is applying it once', () => {
    fc.assert(
      fc.property(own, config, (body, config) => {
        const once = apply(body, { config })
        const twice = apply(once.body.text, { config, model: once.body.get('model') as string })
        expect(twice.body.text).toBe(once.body.text)
        expect(twice.warnings).toEqual([])
      }),
    )
  })

  test('the request wins byte for byte in every field that is neither locked nor tools', () => {
    fc.assert(
      fc.property(own, config, (fields, config) => {
        const body = JsonBody.read(JSON.stringify(fields, null, 1))
        const result = apply(body.text, { config: { ...config, locked: [] } }).body
        for (const key of body.keys) {
          if (key !== 'tools' && body.value(key) !== undefined) expect(result.raw(key)).toBe(body.raw(key) as string)
        }
      }),
    )
  })

  test('a locked field is the preset’s own, and a warning says so unless the request sends the same, in whatever order', () => {
    const names = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 })
    const wish = fc.record(
      { only: names, ignore: names, zdr: fc.boolean(), max_price: fc.constantFrom({ prompt: 0 }, { prompt: 1 }), sort: fc.constant(null) },
      { requiredKeys: [], noNullPrototype: true },
    )
    const turned = (value: object): object => Object.fromEntries(Object.entries(value).toReversed())
    fc.assert(
      fc.property(fc.option(wish), fc.option(wish), (provider, asked) => {
        const config = { ...(provider === null ? {} : { provider }), locked: ['provider'] }
        const { body, warnings } = apply({ provider: asked === null ? null : turned(asked), messages: [USER] }, { config })
        expect(body.value('provider') ?? null).toEqual(provider)
        const isOverruled = asked !== null && !isDeepStrictEqual(asked, provider)
        expect(warnings.map(({ code, field }) => [code, field])).toEqual(isOverruled ? [['locked_field', 'provider']] : [])
      }),
      { numRuns: 500, examples: [[{ zdr: true }, { sort: null }]] },
    )
  })

  test('no tool of the request is lost, and no identity of the preset stands twice', () => {
    fc.assert(
      fc.property(fc.array(tool), fc.array(tool), (preset, request) => {
        const { tools } = merged({ tools: request }, { config: { tools: preset } }) as { tools: unknown[] }
        expect(tools).toEqual(expect.arrayContaining(request))
        expect(tools.length).toBeLessThanOrEqual(preset.length + request.length)
      }),
    )
  })
})
