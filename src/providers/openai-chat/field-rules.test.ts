import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'

import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { encode, type Encoded, relay } from './encode.test-kit.ts'

const TOOL = { type: 'function', name: 'look', description: null, parameters: { type: 'object' } } as const

const settingsOf = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: name }]))

interface Rule {
  readonly vendor: string
  readonly model?: string
  /** `chat`: the setting as a chat client sends it. `settings`: the same setting as it is read from another client. */
  readonly chat: Readonly<Record<string, unknown>>
  readonly settings: Partial<SettingValues>
  readonly sent: Readonly<Record<string, unknown>>
  readonly reported?: readonly string[]
  readonly maxCompletionTokens?: number
}

/** The fields that were sent, without the conversation and the tools, and the codes of the warnings. */
const rest = ({ sent, warnings }: Encoded): unknown => {
  const { model: _, messages: _messages, tools: _tools, ...fields } = sent
  return { sent: fields, reported: warnings.map(({ code }) => code) }
}

const LONG = 'u'.repeat(150)
const HASH = createHash('sha256').update(LONG).digest('hex')

const THINKING_MODELS = ['o3', 'o4-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5.4', 'gpt-6-astra', 'gpt-7-next']

describe('both lanes keep the same rules', () => {
  test.each<[string, Rule]>([
    [
      'the chances of other tokens are asked for with those of the chosen ones',
      {
        vendor: 'openai',
        model: 'gpt-4.1',
        chat: { top_logprobs: 2 },
        settings: { topLogprobs: 2 },
        sent: { logprobs: true, top_logprobs: 2 },
      },
    ],
    [
      'the chances of other tokens are left out where those of the chosen ones are not wanted',
      {
        vendor: 'openai',
        model: 'gpt-4.1',
        chat: { logprobs: false, top_logprobs: 2 },
        settings: { logprobs: false, topLogprobs: 2 },
        sent: { logprobs: false },
        reported: ['unsupported_field'],
      },
    ],
    [
      'a server of which nothing is known gets what the client says',
      {
        vendor: 'own',
        model: 'm',
        chat: { logprobs: true, top_logprobs: 2, top_a: 0.5 },
        settings: { logprobs: true, topLogprobs: 2, topA: 0.5 },
        sent: { logprobs: true, top_logprobs: 2, top_a: 0.5 },
      },
    ],
    ...THINKING_MODELS.map((model): [string, Rule] => [
      `${model} takes the newer limit and no sampling`,
      {
        vendor: 'openai',
        model,
        chat: {
          max_tokens: 77,
          temperature: 0.5,
          top_p: 0.5,
          stop: ['END'],
          logprobs: true,
          top_logprobs: 2,
          frequency_penalty: 0.5,
          presence_penalty: 0.5,
          logit_bias: { '7': 1 },
        },
        settings: {
          maxOutputTokens: 77,
          temperature: 0.5,
          topP: 0.5,
          stop: ['END'],
          logprobs: true,
          topLogprobs: 2,
          frequencyPenalty: 0.5,
          presencePenalty: 0.5,
          logitBias: { '7': 1 },
        },
        sent: { max_completion_tokens: 77 },
        reported: Array<string>(8).fill('unsupported_field'),
      },
    ]),
    [
      'what a thinking model does anyway goes untold',
      { vendor: 'azure', model: 'o3', chat: { temperature: 1, top_p: 1 }, settings: { temperature: 1, topP: 1 }, sent: {} },
    ],
    [
      'a model that need not think takes a temperature where it does not',
      {
        vendor: 'openai',
        model: 'gpt-5.2',
        chat: { temperature: 0.5, reasoning_effort: 'none' },
        settings: { temperature: 0.5, reasoning: { effort: 'none' } },
        sent: { temperature: 0.5, reasoning_effort: 'none' },
      },
    ],
    [
      'a model that does not think has no effort',
      {
        vendor: 'openai',
        model: 'gpt-4.1',
        chat: { reasoning_effort: 'high', temperature: 0.5 },
        settings: { reasoning: { effort: 'high' }, temperature: 0.5 },
        sent: { temperature: 0.5 },
        reported: ['unsupported_field'],
      },
    ],
    [
      'an effort that the model does not know becomes the nearest',
      {
        vendor: 'azure',
        model: 'gpt-5.2',
        chat: { reasoning_effort: 'max' },
        settings: { reasoning: { effort: 'max' } },
        sent: { reasoning_effort: 'xhigh' },
        reported: ['mapped_field'],
      },
    ],
    [
      'a model that cannot be kept from thinking thinks least',
      {
        vendor: 'openai',
        model: 'o3',
        chat: { reasoning: { enabled: false } },
        settings: { reasoning: { enabled: false } },
        sent: { reasoning_effort: 'low' },
        reported: ['mapped_field'],
      },
    ],
    [
      'OpenAI takes four stop sequences',
      {
        vendor: 'openai',
        model: 'gpt-4o',
        chat: { stop: ['a', 'b', 'c', 'd', 'e'] },
        settings: { stop: ['a', 'b', 'c', 'd', 'e'] },
        sent: { stop: ['a', 'b', 'c', 'd'] },
        reported: ['unsupported_field'],
      },
    ],
    [
      'a name of the end user that is too long goes as a hash, the same each time',
      { vendor: 'openai', model: 'gpt-4o', chat: { user: LONG }, settings: { user: LONG }, sent: { user: HASH } },
    ],
    [
      'a limit above what the model gives is held to that',
      {
        vendor: 'mistral',
        chat: { max_tokens: 5000 },
        settings: { maxOutputTokens: 5000 },
        maxCompletionTokens: 4096,
        sent: { max_tokens: 4096 },
        reported: ['mapped_field'],
      },
    ],
    [
      'a vendor that cannot be made to call a tool is not',
      { vendor: 'zai', chat: { tool_choice: 'required' }, settings: {}, sent: {}, reported: ['unsupported_field'] },
    ],
    ...['glm-5.2', 'glm-5.3-flash', 'glm-6'].map((model): [string, Rule] => [
      `${model} takes an effort beside its switch`,
      {
        vendor: 'zai',
        model,
        chat: { reasoning: { effort: 'high' } },
        settings: { reasoning: { effort: 'high' } },
        sent: { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
      },
    ]),
    ...['glm-4.7', 'glm-5', 'glm-5.1'].map((model): [string, Rule] => [
      `${model} takes its switch alone`,
      {
        vendor: 'zai',
        model,
        chat: { reasoning_effort: 'high' },
        settings: { reasoning: { effort: 'high' } },
        sent: { thinking: { type: 'enabled' } },
        reported: ['unsupported_field'],
      },
    ]),
    ...['gpt-5.6-sol', 'gpt-6-sol'].map((model): [string, Rule] => [
      `${model} does not think unasked beside tools in Chat Completions, which refuses both`,
      { vendor: 'azure', model, chat: {}, settings: {}, sent: { reasoning_effort: 'none' }, reported: ['mapped_field'] },
    ]),
    ...['gpt-5.2', 'gpt-5.4'].map((model): [string, Rule] => [
      `${model} takes tools as they are where no thinking is asked for`,
      { vendor: 'azure', model, chat: {}, settings: {}, sent: {} },
    ]),
    [
      'thinking that was asked for is not turned off for tools',
      {
        vendor: 'azure',
        model: 'gpt-5.6-sol',
        chat: { reasoning_effort: 'high' },
        settings: { reasoning: { effort: 'high' } },
        sent: { reasoning_effort: 'high' },
      },
    ],
    [
      'OpenAI keeps no metadata of what it does not store',
      {
        vendor: 'openai',
        model: 'gpt-4o',
        chat: { metadata: { a: 'b' } },
        settings: { metadata: { a: 'b' } },
        sent: {},
        reported: ['unsupported_field'],
      },
    ],
    [
      'a Grok that thinks takes neither penalties nor stop sequences, and a penalty of nothing goes untold',
      {
        vendor: 'xai',
        model: 'grok-4.5',
        chat: { presence_penalty: 0, frequency_penalty: 0.5, stop: ['END'] },
        settings: { presencePenalty: 0, frequencyPenalty: 0.5, stop: ['END'] },
        sent: {},
        reported: ['unsupported_field', 'unsupported_field'],
      },
    ],
    [
      'a Grok that does not think takes stop sequences',
      { vendor: 'xai', model: 'grok-4.20-non-reasoning', chat: { stop: ['END'] }, settings: { stop: ['END'] }, sent: { stop: ['END'] } },
    ],
    ...(
      [
        ['xai', 'grok-4.3', 'none', 'none'],
        ['xai', 'grok-4.5', 'none', 'low'],
        ['xai', 'grok-4.5', 'xhigh', 'high'],
        ['xai', 'grok-4.7', 'minimal', 'low'],
        ['xai', 'grok-4.7', 'max', 'xhigh'],
        ['xai', 'grok-build-0.1', 'high', undefined],
        ['xai', 'grok-4-1-fast-reasoning', 'low', undefined],
        ['groq', 'openai/gpt-oss-120b', 'none', 'low'],
        ['groq', 'openai/gpt-oss-120b', 'max', 'high'],
        ['groq', 'qwen/qwen3.6-27b', 'none', 'none'],
        ['groq', 'qwen/qwen3.6-27b', 'default', 'default'],
        ['groq', 'qwen/qwen3.6-27b', 'high', undefined],
        ['groq', 'llama-3.3-70b-versatile', 'low', undefined],
        ['cerebras', 'gpt-oss-120b', 'none', 'low'],
        ['cerebras', 'llama-4-scout-17b-16e-instruct', 'low', undefined],
        ['cerebras', 'qwen-3.8-27b', 'none', 'none'],
        ['together', 'openai/gpt-oss-20b', 'none', 'low'],
        ['mistral', 'mistral-small-2603', 'low', 'high'],
        ['mistral', 'mistral-large-4-0', 'low', 'low'],
        ['mistral', 'mistral-large-2512', 'high', undefined],
        ['mistral', 'mistral-medium-2508', 'high', undefined],
        ['mistral', 'mistral-medium-2604', 'high', 'high'],
      ] as const
    ).map(([vendor, model, asked, known]): [string, Rule] => [
      `${model} of ${vendor} takes the effort ${asked} as ${known ?? 'none at all'}`,
      {
        vendor,
        model,
        chat: { reasoning_effort: asked },
        settings: { reasoning: { effort: asked } },
        sent: known === undefined ? {} : { reasoning_effort: known },
        reported: known === asked ? [] : [known === undefined ? 'unsupported_field' : 'mapped_field'],
      },
    ]),
    ...[
      ['mistral', 'codestral-latest'],
      ['mistral', 'mistral-large-2512'],
      ['groq', 'llama-3.3-70b-versatile'],
      ['xai', 'grok-4.20-0309-non-reasoning'],
    ].map(([vendor = '', model = '']): [string, Rule] => [
      `${model} of ${vendor} does not think, so a wish that it may not is met without a word`,
      { vendor, model, chat: { reasoning_effort: 'none' }, settings: { reasoning: { effort: 'none' } }, sent: {}, reported: [] },
    ]),
    ...['kimi-k2.6', 'kimi-k3'].map((model): [string, Rule] => [
      `${model} samples as it sees fit`,
      {
        vendor: 'moonshot',
        model,
        chat: { temperature: 0.2, top_p: 0.5 },
        settings: { temperature: 0.2, topP: 0.5 },
        sent: {},
        reported: ['unsupported_field', 'unsupported_field'],
      },
    ]),
    [
      'an older Kimi takes a temperature',
      {
        vendor: 'moonshot',
        model: 'kimi-k2-turbo-preview',
        chat: { temperature: 0.2 },
        settings: { temperature: 0.2 },
        sent: { temperature: 0.2 },
      },
    ],
  ])('%s', (_, { vendor, model, chat, settings, sent, reported = [], maxCompletionTokens }) => {
    const given = {
      vendor,
      ...(model === undefined ? {} : { model }),
      ...(maxCompletionTokens === undefined ? {} : { maxCompletionTokens }),
    }
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const own = relay(JSON.stringify({ model: 'a/b', messages: [{ role: 'user', content: 'Hi' }], tools, ...chat }), given)
    const toolChoice = { type: chat['tool_choice'] === 'required' ? 'required' : 'auto' } as const
    const translated = encode({ settings: settingsOf(settings), tools: [TOOL], toolChoice }, given)
    expect([rest(own), rest(translated)]).toEqual([
      { sent, reported },
      { sent, reported },
    ])
  })
})

test('a server of which nothing is known gets a Chat Completions client’s words as they are', () => {
  expect(
    rest(relay('{"model":"a/b","messages":[{"role":"user","content":"Hi"}],"top_logprobs":2}', { vendor: 'own', model: 'm' })),
  ).toEqual({
    sent: { top_logprobs: 2 },
    reported: [],
  })
})

describe('a call that is demanded of a model that thinks, and refuses that while it does', () => {
  const named = { type: 'function', function: { name: 'look' } }
  const tools = '"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]'
  const asked = (vendor: string, model: string, choice: unknown, fields = ''): unknown => {
    const { sent, warnings } = relay(`{"messages":[],${tools},"tool_choice":${JSON.stringify(choice)}${fields}}`, { vendor, model })
    return [sent['tool_choice'], sent['thinking'], warnings.map(({ code, field }) => `${code} ${field}`)]
  }

  test.each([
    ['deepseek', 'deepseek-v4-pro', 'required'],
    ['deepseek', 'deepseek-v4-flash', named],
    ['moonshot', 'kimi-k2.6', named],
  ])('%s %s makes the call without thinking that nobody asked for', (vendor, model, choice) => {
    expect(asked(vendor, model, choice)).toEqual([choice, { type: 'disabled' }, ['mapped_field tool_choice']])
  })

  test('thinking that was asked for stays, and the choice is the model’s', () => {
    const effort = ',"reasoning_effort":"high"'
    expect(asked('deepseek', 'deepseek-v4-pro', 'required', effort)).toEqual([undefined, undefined, ['unsupported_field tool_choice']])
    const enabled = ',"thinking":{"type":"enabled"}'
    expect(asked('moonshot', 'kimi-k2.6', named, enabled)).toEqual([undefined, { type: 'enabled' }, ['unsupported_field tool_choice']])
  })

  test('a model that cannot be kept from thinking is left to choose', () => {
    expect(asked('moonshot', 'kimi-k2.7-code', named)).toEqual([undefined, undefined, ['unsupported_field tool_choice']])
  })

  test.each(['kimi-k3', 'kimi-k3.1-pro'])('%s, which calls while it thinks, gets the choice as it is', (model) => {
    expect(asked('moonshot', model, 'required')).toEqual(['required', undefined, []])
    expect(asked('moonshot', model, named)).toEqual([named, undefined, []])
  })

  test('a model that knows no such choice is left to choose', () => {
    expect(asked('moonshot', 'kimi-k2.6', 'required')).toEqual([undefined, undefined, ['unsupported_field tool_choice']])
    expect(asked('zai', 'glm-5.2', 'required')).toEqual([undefined, undefined, ['unsupported_field tool_choice']])
  })

  test('a model that does not think, or was told not to, can be made to', () => {
    expect(asked('deepseek', 'deepseek-chat', 'required')).toEqual(['required', undefined, []])
    const disabled = ',"thinking":{"type":"disabled"}'
    expect(asked('deepseek', 'deepseek-v4-pro', 'required', disabled)).toEqual(['required', { type: 'disabled' }, []])
    expect(asked('deepseek', 'deepseek-v4-pro', 'auto')).toEqual(['auto', undefined, []])
  })
})

describe('thinking in the words of the model', () => {
  test.each<[string, string, object, object, readonly string[]]>([
    ['moonshot', 'kimi-k3', { effort: 'medium' }, { reasoning_effort: 'low' }, ['mapped_field reasoning']],
    ['moonshot', 'kimi-k3', { effort: 'xhigh' }, { reasoning_effort: 'high' }, ['mapped_field reasoning']],
    ['moonshot', 'kimi-k3.1-pro', { effort: 'max' }, { reasoning_effort: 'max' }, []],
    ['moonshot', 'kimi-k3', { enabled: true }, {}, []],
    ['moonshot', 'kimi-k3', { effort: 'none' }, { reasoning_effort: 'low' }, ['mapped_field reasoning']],
    ['moonshot', 'kimi-k2.7-code', { enabled: false }, { reasoning_effort: 'low' }, ['mapped_field reasoning']],
    ['moonshot', 'kimi-k2.7-code', { enabled: true }, {}, []],
    ['moonshot', 'kimi-k2.6', { enabled: false }, { thinking: { type: 'disabled' } }, []],
    ['zai', 'glm-5.2', { effort: 'max' }, { thinking: { type: 'enabled' }, reasoning_effort: 'max' }, []],
  ])('%s %s, %j', (vendor, model, reasoning, sent, reported) => {
    const own = relay(JSON.stringify({ messages: [], reasoning }), { vendor, model })
    const { reasoning_effort: effort, thinking, reasoning: left } = own.sent
    expect(JSON.parse(JSON.stringify({ reasoning_effort: effort, thinking, reasoning: left }))).toEqual(sent)
    expect(own.warnings.map(({ code, field }) => `${code} ${field}`)).toEqual([...reported])
  })

  test('an effort that the model does not have becomes one that it has', () => {
    expect(relay('{"messages":[],"reasoning_effort":"medium"}', { vendor: 'moonshot', model: 'kimi-k3' }).sent['reasoning_effort']).toBe(
      'low',
    )
  })
})

test('an empty list of tools, and a choice among none, are not sent to vendors that refuse them', () => {
  const body = '{"model":"a/b","messages":[],"tools":[ ],"tool_choice":"auto","parallel_tool_calls":true}'
  expect(relay(body, { vendor: 'openai', model: 'gpt-4o' }).text).toBe('{"model":"gpt-4o","messages":[]}')
  expect(relay(body).text).toBe(body.replace('a/b', 'one-1'))
})

describe('two limits in one request', () => {
  test.each([
    ['acme', 'one-1', { max_completion_tokens: 10 }],
    ['openai', 'gpt-4o', { max_completion_tokens: 10 }],
    ['openai', 'o3', { max_completion_tokens: 10 }],
    ['mistral', 'large', { max_tokens: 10 }],
  ])('%s %s gets one, that which the request is judged by', (vendor, model, sent) => {
    const body = '{"model":"a/b","messages":[],"max_completion_tokens":10,"max_tokens":4000}'
    const { model: _, messages: _messages, ...fields } = relay(body, { vendor, model }).sent
    expect(fields).toEqual(sent)
  })
})

describe('fields that this service knows and a vendor is not known to accept', () => {
  test('are left out, and those that it does not know go on as they came', () => {
    const body = '{"model":"a/b","messages":[],"structured_outputs":true,"chat_template_kwargs":{ "a":1.0}}'
    const { text, lost } = relay(body, { vendor: 'vllm' })
    expect([text, lost]).toEqual(['{"model":"one-1","messages":[],"chat_template_kwargs":{ "a":1.0}}', ['structured_outputs']])
    expect(relay(body).text).toBe(body.replace('a/b', 'one-1'))
  })

  test.each<[string, JsonObject | boolean, boolean]>([
    ['vllm', { choice: ['yes', 'no'] }, true],
    ['vllm', true, false],
    ['openrouter', true, true],
    ['openrouter', { choice: ['yes', 'no'] }, false],
    ['groq', { choice: ['yes', 'no'] }, false],
    ['acme', { choice: ['yes', 'no'] }, true],
    ['acme', true, true],
  ])('%s gets the form of structured_outputs that it knows: %j', (vendor, given, goes) => {
    const { sent, lost } = relay(JSON.stringify({ model: 'a/b', messages: [], structured_outputs: given }), { vendor })
    expect([sent['structured_outputs'], lost]).toEqual(goes ? [given, []] : [undefined, ['structured_outputs']])
  })

  test('the name of the end user goes under the word that the vendor has', () => {
    const body = '{"model":"a/b","messages":[],"safety_identifier":"u"}'
    expect(relay(body, { vendor: 'groq' }).text).toBe('{"model":"one-1","messages":[],"user":"u"}')
    expect(relay(body, { vendor: 'openai' }).text).toBe(body.replace('a/b', 'one-1'))
    const both = relay('{"model":"a/b","messages":[],"safety_identifier":"u","user":"v"}', { vendor: 'groq' })
    expect([both.sent['user'], both.lost]).toEqual(['v', ['safety_identifier']])
  })
})

describe('the role developer', () => {
  const message = '{"role":"developer","content":"Be  brief."}'
  test.each([
    ['deepseek', 'system'],
    ['mistral', 'system'],
    ['groq', 'system'],
    ['ollama', 'system'],
    ['openai', 'developer'],
    ['openrouter', 'developer'],
    ['acme', 'developer'],
  ])('is %s’s %s', (vendor, role) => {
    const { text, lost } = relay(`{"model":"a/b","messages":[ ${message} ]}`, { vendor })
    expect([text, lost]).toEqual([`{"model":"one-1","messages":[ ${message.replace('developer', role)} ]}`, []])
  })
})
