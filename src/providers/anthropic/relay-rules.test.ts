import { describe, expect, test } from 'bun:test'

import type { CacheMark, Part } from '../../canonical/prompt.ts'
import { encode, message, relay, settingsOf } from './encode.test-kit.ts'

const ask = (more: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ model: 'a/b', max_tokens: 20_000, messages: [{ role: 'user', content: 'Hi' }], ...more })

const TOOLS = { tools: [{ name: 'f', input_schema: { type: 'object' } }] }

const sentOf = (more: Readonly<Record<string, unknown>>, model: string, maxCompletionTokens: number | null = null) => {
  const { text, reported } = relay(ask(more), { model, maxCompletionTokens })
  const { model: _, messages: _messages, ...sent } = JSON.parse(text) as Record<string, unknown>
  return { sent, reported }
}

const schemaWords = {
  type: 'text',
  text: 'Answer with one JSON object and nothing else: no other text, and no Markdown around it. It must be valid against this JSON Schema: {}',
}

const HAIKU = 'claude-haiku-4-5-20251001'
const OPUS = 'claude-opus-4-8'
const SONNET = 'claude-sonnet-4-6'

describe('thinking as the model takes it', () => {
  test.each<[string, string, Record<string, unknown>, Record<string, unknown>, readonly string[]]>([
    [
      'adaptive with an effort becomes a budget',
      HAIKU,
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 16_000 } },
      [],
    ],
    [
      'a budget becomes adaptive, with a warning',
      OPUS,
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      { max_tokens: 20_000, thinking: { type: 'adaptive', display: 'summarized' } },
      ['mapped_field thinking'],
    ],
    [
      'thinking between tools alone becomes thinking as a whole, with a warning',
      OPUS,
      { thinking: { type: 'between_tools' } },
      { max_tokens: 20_000, thinking: { type: 'adaptive', display: 'summarized' } },
      ['mapped_field thinking.type'],
    ],
    [
      'an effort alone is left out where the model knows none',
      HAIKU,
      { output_config: { effort: 'high', x: 1 } },
      { max_tokens: 20_000, output_config: { x: 1 } },
      ['unsupported_field output_config.effort'],
    ],
    ...(
      [
        ['claude-opus-5', 'disabled', 'xhigh', 'high'],
        ['claude-opus-5-20260724', 'disabled', 'max', 'high'],
        ['claude-haiku-5-5', 'disabled', 'max', 'high'],
        ['claude-sonnet-5-5', 'between_tools', 'xhigh', 'high'],
        ['claude-opus-5', 'disabled', 'high', 'high'],
        ['claude-opus-5', 'adaptive', 'max', 'max'],
        ['claude-sonnet-5', 'disabled', 'max', 'max'],
        ['claude-opus-4-8', 'disabled', 'xhigh', 'xhigh'],
      ] as const
    ).map(([model, type, effort, sent]): [string, string, Record<string, unknown>, Record<string, unknown>, readonly string[]] => [
      `the effort ${effort} beside ${type} is one that ${model} takes there`,
      model,
      { thinking: { type }, output_config: { effort } },
      { max_tokens: 20_000, thinking: { type }, output_config: { effort: sent } },
      effort === sent ? [] : ['mapped_field output_config.effort'],
    ]),
    [
      'the effort beside thinking that cannot be turned off stays, as far as the model takes it',
      'claude-sonnet-5-5',
      { thinking: { type: 'disabled' }, output_config: { effort: 'xhigh' } },
      { max_tokens: 20_000, thinking: { type: 'between_tools' }, output_config: { effort: 'high' } },
      ['mapped_field thinking', 'mapped_field output_config.effort'],
    ],
    [
      'an effort becomes the nearest',
      SONNET,
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { max_tokens: 20_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      ['mapped_field output_config.effort'],
    ],
    [
      'a model that cannot be kept from thinking thinks least',
      'claude-opus-5-5',
      { thinking: { type: 'disabled' } },
      { max_tokens: 20_000, output_config: { effort: 'low' } },
      ['mapped_field thinking'],
    ],
    [
      'a model that does not think is not asked to',
      'claude-3-5-haiku-20241022',
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      { max_tokens: 20_000 },
      ['unsupported_field thinking'],
    ],
    [
      'it gives way to a tool that is demanded',
      HAIKU,
      { ...TOOLS, thinking: { type: 'enabled', budget_tokens: 4000 }, tool_choice: { type: 'any' } },
      { ...TOOLS, max_tokens: 20_000, tool_choice: { type: 'any' } },
      ['unsupported_field thinking'],
    ],
    [
      'thinking without a budget stays beside a tool that is demanded',
      SONNET,
      { ...TOOLS, thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, tool_choice: { type: 'any' } },
      { ...TOOLS, max_tokens: 20_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, tool_choice: { type: 'any' } },
      [],
    ],
    [
      'sampling that the model refuses is left out',
      OPUS,
      { temperature: 0.3, top_p: 0.9, top_k: 5 },
      { max_tokens: 20_000 },
      ['unsupported_field temperature', 'unsupported_field top_p', 'unsupported_field top_k'],
    ],
    [
      'a model that cannot be made to call a tool is left to choose',
      'claude-opus-5-5',
      { ...TOOLS, tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
      { ...TOOLS, max_tokens: 20_000, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      ['mapped_field tool_choice'],
    ],
    [
      'a model without schemas has one described in words',
      'claude-3-7-sonnet-20250219',
      { system: 'S', output_config: { format: { type: 'json_schema', schema: {} } } },
      { system: [{ type: 'text', text: 'S' }, schemaWords], max_tokens: 20_000 },
      ['mapped_field output_config.format'],
    ],
    [
      'a budget below the least that it thinks with is raised to that',
      HAIKU,
      { thinking: { type: 'enabled', budget_tokens: 10 } },
      { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 1024 } },
      ['mapped_field thinking'],
    ],
    [
      'a wish to clear thinking goes with it',
      HAIKU,
      { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }] } },
      { max_tokens: 20_000, context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      ['unsupported_field context_management.edits'],
    ],
  ])('%s', (_, model, given, sent, reported) => {
    expect(sentOf(given, model)).toEqual({ sent, reported } as never)
  })

  test.each<[string, Record<string, unknown>]>([
    [HAIKU, { thinking: { type: 'enabled', budget_tokens: 4000 }, temperature: 1, top_p: 0.97 }],
    [OPUS, { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' }, temperature: 1 }],
    [SONNET, { thinking: { type: 'disabled' } }],
    ['someone-elses-model', { thinking: { type: 'adaptive' }, temperature: 1.5, top_p: 0.1, output_config: { effort: 'max' } }],
    ['claude-opus-9', { thinking: { type: 'of-next-year' } }],
  ])('%s gets %j as it was written', (model, given) => {
    expect(relay(ask(given), { model })).toEqual({ text: ask(given).replace('a/b', model), reported: [] })
  })

  test('a limit above what the model gives is held to that, and the budget to the limit', () => {
    const { sent, reported } = sentOf({ max_tokens: 128_000, thinking: { type: 'enabled', budget_tokens: 100_000 } }, HAIKU, 64_000)
    expect(sent).toEqual({ max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 51_200 } })
    expect(reported).toEqual(['mapped_field max_tokens', 'mapped_field thinking'])
  })
})

describe('system messages among the turns', () => {
  const [system, user, call, answer] = [
    { role: 'system', content: 'Be  brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] },
  ]
  const turns = (messages: readonly object[], model: string, more: object = {}) => {
    const { text, reported } = relay(ask({ ...more, messages }), { model })
    const sent = JSON.parse(text) as { messages: readonly object[]; system?: unknown }
    return { messages: sent.messages, system: sent.system, reported: reported.length }
  }
  const asUser = { ...system, role: 'user' }

  test('at the beginning are the system prompt', () => {
    expect(turns([system, user], OPUS, { system: 'S' })).toEqual({
      messages: [user],
      system: [
        { type: 'text', text: 'S' },
        { type: 'text', text: 'Be  brief.' },
      ],
      reported: 1,
    })
  })

  test('stay where the model knows them, and else are the user’s words in their place', () => {
    expect(turns([user, system], OPUS)).toEqual({ messages: [user, system], system: undefined, reported: 0 })
    expect(turns([user, system], HAIKU)).toEqual({ messages: [user, asUser], system: undefined, reported: 1 })
    expect(turns([user, system, user], OPUS)).toEqual({ messages: [user, asUser, user], system: undefined, reported: 1 })
  })

  test('do not come between a call and its result', () => {
    expect(turns([user, call, system, answer], HAIKU).messages).toEqual([user, call, answer, asUser] as never)
  })

  test('stay as they are for a model that is no Claude', () => {
    expect(turns([system, user], 'someone-elses-model')).toEqual({ messages: [system, user], system: undefined, reported: 0 })
  })
})

describe('marks of what to cache', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const block = (text: string) => ({ type: 'text', text, ...mark })
  const marked = {
    tools: [
      { name: 'a', input_schema: { type: 'object' }, ...mark },
      { name: 'b', input_schema: { type: 'object' }, ...mark },
    ],
    system: [block('s')],
    messages: [1, 2, 3, 4].map((turn) => ({ role: 'user', content: [block(String(turn))] })),
  }
  const placesOf = (text: string): string[] => {
    const { tools, system, messages } = JSON.parse(text) as typeof marked
    const blocks = messages.flatMap(({ content }) => content)
    return [
      ...tools.flatMap((tool) => ('cache_control' in tool ? [tool.name] : [])),
      ...[...system, ...blocks].flatMap((one) => ('cache_control' in one ? [one.text] : [])),
    ]
  }

  test('are at most four: the last before the conversation and the last in it', () => {
    const { text, reported } = relay(ask(marked), { model: HAIKU })
    expect([placesOf(text), reported]).toEqual([['s', '2', '3', '4'], ['unsupported_field cache_control']])
    // A mark for the request as a whole counts too.
    const unmarked = { ...marked, messages: [...marked.messages, { role: 'user', content: [{ type: 'text', text: '5' }] }] }
    expect(placesOf(relay(ask({ ...unmarked, ...mark }), { model: HAIKU }).text)).toEqual(['s', '3', '4'])
    const four = { ...marked, messages: marked.messages.slice(0, 1) }
    expect(relay(ask(four), { model: HAIKU })).toEqual({ text: ask(four).replace('a/b', HAIKU), reported: [] })
  })

  test('live five minutes after one that does, whichever lane the request takes', () => {
    const [hour, short] = [{ cache_control: { type: 'ephemeral', ttl: '1h' } }, mark]
    const given = {
      system: [{ type: 'text', text: 's', ...hour }],
      messages: [{ role: 'user', content: [block('1'), { type: 'text', text: '2', ...hour }] }],
    }
    const { text, reported } = relay(ask(given), { model: HAIKU })
    expect(JSON.parse(text)).toMatchObject({
      system: [hour],
      messages: [{ content: [short, { cache_control: { ttl: '5m' } }] }],
    })
    expect(reported).toEqual(['mapped_field cache_control'])
    const parts = [{ type: 'text', text: '1', cache: {} } as const, { type: 'text', text: '2', cache: { ttl: '1h' } } as const]
    const translated = encode({ messages: [message('user', 0, ...parts)] })
    expect(translated.sent.messages[0]?.content[1]).toMatchObject({ cache_control: { ttl: '5m' } })
    expect(translated.reported).toEqual(['mapped_field cache_control'])
  })

  test('live five minutes after one that does, also where a result was moved to its call', () => {
    const result = (text: string, cache: CacheMark): Part => ({ type: 'tool-result', callId: 'a', text, cache })
    const { sent } = encode({
      messages: [
        message('user', 0, result('first', { ttl: '1h' }), result('again', {})),
        message('assistant', 1, { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }),
      ],
    })
    const marks = sent.messages.flatMap(({ content }) => content.flatMap((block) => block['cache_control'] ?? []))
    expect(marks).toEqual([{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }])
  })

  test('on the last block take the place of that of the request, which is reported where they differ, whichever lane the request takes', () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    for (const [own, warnings] of [
      [hour, ['mapped_field cache_control']],
      [mark, []],
    ] as const) {
      const given = {
        ...mark,
        system: [{ type: 'text', text: 's', ...hour }],
        messages: [{ role: 'user', content: [{ type: 'text', text: '1', ...own }] }],
      }
      const { text, reported } = relay(ask(given), { model: HAIKU })
      expect(JSON.parse(text)).not.toHaveProperty('cache_control')
      expect(JSON.parse(text)).toMatchObject({ messages: [{ content: [own] }] })
      expect(reported).toEqual([...warnings])
    }
    const translated = encode({
      settings: settingsOf({ cacheControl: { type: 'ephemeral' } }),
      messages: [message('user', 0, { type: 'text', text: '1', cache: { ttl: '1h' } })],
    })
    expect(translated.sent).not.toHaveProperty('cache_control')
    expect(translated.reported).toEqual(['mapped_field cache_control'])
  })

  test('are as few in a translated request', () => {
    const tool = { type: 'function', name: 'a', description: null, parameters: { type: 'object' }, cache: {} } as const
    const { text, reported } = encode({
      tools: [tool, { ...tool, name: 'b' }],
      messages: [
        message('system', 0, { type: 'text', text: 's', cache: {} }),
        message('user', 1, ...[1, 2, 3, 4].map((turn) => ({ type: 'text', text: String(turn), cache: {} }) as const)),
      ],
    })
    expect([placesOf(text), reported]).toEqual([['s', '2', '3', '4'], ['unsupported_field cache_control']])
  })
})
