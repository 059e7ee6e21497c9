import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../canonical/call.ts'
import { SETTING_SAMPLES } from '../canonical/setting-samples.test-kit.ts'
import type { PresetContent } from '../contract/preset.ts'
import { PERSISTED_FIELDS, PRESET_CONTROLS } from '../request-fields/preset-fields.ts'
import { fieldMeanings } from '../request-fields/request-fields.ts'
import { atOnce } from '../lib/steps.ts'
import { translateConfig } from './translate-config.ts'

type Config = PresetContent['config']

const translate = (from: ClientDialect, to: ClientDialect, config: Config) => {
  const { fields, warnings, carried } = atOnce(translateConfig({ shape: from, config, systemPrompt: null }, to))
  const read = new Map(Object.values(carried?.settings ?? {}).map(({ field, value }) => [field, value]))
  const said = Object.entries(carried?.written ?? {}).map(([path, value]) => `carried ${path} ${JSON.stringify(read.get(path) ?? value)}`)
  return { fields, warned: [...warnings.map(({ code, field }) => `${code} ${field}`), ...said] }
}

const SCHEMA = { type: 'object' }
const GRAMMAR = { syntax: 'lark', definition: 'start: "a"' }
const TEXT_TOOL = { type: 'custom', name: 'f', description: 'd', format: { type: 'grammar', ...GRAMMAR } }
const CHAT_TEXT_TOOL = { type: 'custom', custom: { name: 'f', description: 'd', format: { type: 'grammar', grammar: GRAMMAR } } }
const LOGPROBS = 'message.output_text.logprobs'

/** The sample of a setting that is a number, by the name of its field; undefined for every other field. */
const numberOf = (dialect: ClientDialect, field: string): number | undefined =>
  fieldMeanings(dialect, field)
    .map((meaning) => SAMPLES[meaning])
    .find((sample): sample is number => typeof sample === 'number')

const SAMPLES: Readonly<Record<string, unknown>> = SETTING_SAMPLES

/** from, to, config, fields, warnings and what is carried beside the fields */
type Row = [ClientDialect, ClientDialect, Config, Config, string[]?]

describe.each<[string, Row[]]>([
  [
    'output tokens',
    [
      ['chat', 'responses', { max_tokens: 5 }, { max_output_tokens: 5 }],
      ['chat', 'messages', { max_completion_tokens: 5, max_tokens: 9 }, { max_tokens: 5 }],
      ['responses', 'chat', { max_output_tokens: 5 }, { max_completion_tokens: 5 }],
      ['responses', 'messages', { max_output_tokens: 5 }, { max_tokens: 5 }],
      ['messages', 'chat', { max_tokens: 5 }, { max_completion_tokens: 5 }],
      ['messages', 'responses', { max_tokens: 5 }, { max_output_tokens: 5 }],
    ],
  ],
  [
    'log probabilities',
    [
      ['chat', 'responses', { logprobs: true }, { include: [LOGPROBS] }],
      ['chat', 'responses', { logprobs: true, top_logprobs: 3 }, { include: [LOGPROBS], top_logprobs: 3 }],
      ['chat', 'responses', { logprobs: false }, {}],
      ['chat', 'responses', { logprobs: false, top_logprobs: 3 }, {}, ['unsupported_field top_logprobs']],
      ['responses', 'chat', { include: [LOGPROBS] }, { logprobs: true }],
      ['responses', 'chat', { top_logprobs: 0 }, { logprobs: true, top_logprobs: 0 }],
      ['responses', 'chat', { include: [LOGPROBS], top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
      ['responses', 'chat', { include: ['web_search_call.results', LOGPROBS] }, { logprobs: true }, ['unsupported_field include']],
      ['chat', 'messages', { logprobs: true, top_logprobs: 3 }, {}, ['unsupported_field top_logprobs', 'unsupported_field logprobs']],
      ['responses', 'messages', { include: [LOGPROBS] }, {}, ['unsupported_field include']],
    ],
  ],
  [
    'stop',
    [
      ['chat', 'messages', { stop: 'a' }, { stop_sequences: ['a'] }],
      ['chat', 'messages', { stop: ['a', 'b'] }, { stop_sequences: ['a', 'b'] }],
      ['messages', 'chat', { stop_sequences: ['a'] }, { stop: ['a'] }],
      ['messages', 'chat', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }, ['mapped_field stop_sequences']],
      ['chat', 'responses', { stop: 'a' }, {}, ['carried stop ["a"]']],
      ['chat', 'responses', { stop: '' }, {}],
      ['messages', 'responses', { stop_sequences: ['', 'a'] }, {}, ['carried stop_sequences ["a"]']],
      ['messages', 'responses', { stop_sequences: ['a'] }, {}, ['carried stop_sequences ["a"]']],
    ],
  ],
  [
    'output format',
    [
      [
        'chat',
        'responses',
        { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA, strict: true } } },
        { text: { format: { type: 'json_schema', name: 'n', strict: true, schema: SCHEMA } } },
      ],
      [
        'chat',
        'messages',
        { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } } },
        { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      ],
      [
        'responses',
        'chat',
        { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, description: 'd' } } },
        { response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: SCHEMA } } },
      ],
      [
        'responses',
        'messages',
        { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA } } },
        { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      ],
      [
        'chat',
        'messages',
        { response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: SCHEMA } } },
        { output_config: { format: { type: 'json_schema', schema: { ...SCHEMA, description: 'd' } } } },
      ],
      [
        'responses',
        'messages',
        { text: { format: { type: 'json_schema', name: 'n', description: 'd', schema: { ...SCHEMA, description: 'own' } } } },
        { output_config: { format: { type: 'json_schema', schema: { ...SCHEMA, description: 'own' } } } },
      ],
      [
        'messages',
        'chat',
        { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
        { response_format: { type: 'json_schema', json_schema: { name: 'response', strict: true, schema: SCHEMA } } },
      ],
      [
        'messages',
        'responses',
        { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
        { text: { format: { type: 'json_schema', name: 'response', strict: true, schema: SCHEMA } } },
      ],
      ['chat', 'responses', { response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
      ['responses', 'chat', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
      ['chat', 'messages', { response_format: { type: 'json_object' } }, {}, ['carried response_format {"type":"json_object"}']],
      ['responses', 'messages', { text: { format: { type: 'json_object' } } }, {}, ['carried text.format {"type":"json_object"}']],
      ['chat', 'messages', { response_format: { type: 'python' } }, {}, ['unsupported_field response_format']],
      ['chat', 'messages', { moderation: { model: 'm' } }, {}, ['carried moderation {"model":"m"}']],
      ['chat', 'responses', { response_format: { type: 'grammar', grammar: 'x' } }, {}, ['unsupported_field response_format']],
      ['responses', 'messages', { text: { format: { type: 'text' } } }, {}],
    ],
  ],
  [
    'verbosity',
    [
      [
        'chat',
        'responses',
        { verbosity: 'low', response_format: { type: 'json_object' } },
        { text: { format: { type: 'json_object' }, verbosity: 'low' } },
      ],
      ['responses', 'chat', { text: { verbosity: 'low' } }, { verbosity: 'low' }],
      ['chat', 'messages', { verbosity: 'low' }, {}, ['carried verbosity "low"']],
      ['responses', 'messages', { text: { verbosity: 'low' } }, {}, ['carried text.verbosity "low"']],
    ],
  ],
  [
    'reasoning',
    [
      ['chat', 'responses', { reasoning_effort: 'high' }, { reasoning: { effort: 'high' } }],
      [
        'chat',
        'responses',
        { reasoning: { effort: 'low', max_tokens: 9, exclude: true } },
        { reasoning: { effort: 'low', max_tokens: 9, exclude: true } },
      ],
      ['chat', 'responses', { include_reasoning: false }, { reasoning: { exclude: true } }],
      ['chat', 'messages', { reasoning_effort: 'high' }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
      [
        'chat',
        'messages',
        { reasoning: { max_tokens: 2048, exclude: true } },
        { thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' } },
      ],
      ['chat', 'messages', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
      ['chat', 'messages', { reasoning: { enabled: false, effort: 'high' } }, { thinking: { type: 'disabled' } }],
      [
        'chat',
        'messages',
        { reasoning_effort: 'minimal' },
        { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
        ['mapped_field reasoning.effort'],
      ],
      [
        'responses',
        'chat',
        { reasoning: { effort: 'max', summary: 'auto', mode: 'pro' } },
        { reasoning: { effort: 'max', summary: 'auto' } },
        ['unsupported_field reasoning.mode'],
      ],
      [
        'responses',
        'messages',
        { reasoning: { enabled: true, summary: 'auto' } },
        { thinking: { type: 'adaptive', display: 'summarized' } },
      ],
      ['responses', 'messages', { reasoning: { summary: 'auto' } }, {}, ['unsupported_field reasoning']],
      ['chat', 'messages', { reasoning: { exclude: true } }, {}, ['unsupported_field reasoning']],
      ['chat', 'messages', { include_reasoning: false }, {}, ['unsupported_field include_reasoning']],
      ['chat', 'messages', { include_reasoning: true }, {}, ['unsupported_field include_reasoning']],
      ['messages', 'chat', { thinking: { type: 'enabled', budget_tokens: 2048 } }, { reasoning: { max_tokens: 2048 } }],
      [
        'messages',
        'responses',
        { thinking: { type: 'adaptive', display: 'summarized' } },
        { reasoning: { enabled: true, summary: 'auto' } },
      ],
      [
        'messages',
        'chat',
        { thinking: { type: 'disabled' }, output_config: { effort: 'low' } },
        { reasoning: { enabled: false } },
        ['unsupported_field output_config.effort'],
      ],
      [
        'messages',
        'chat',
        { output_config: { effort: 'xhigh', task_budget: { type: 'tokens', total: 20_000 } } },
        { reasoning: { effort: 'xhigh' } },
        ['unsupported_field output_config.task_budget'],
      ],
      ['messages', 'chat', { thinking: { type: 'between_tools' } }, { reasoning: { enabled: true } }, ['mapped_field thinking.type']],
    ],
  ],
  [
    'tools',
    [
      [
        'chat',
        'responses',
        {
          tools: [
            {
              type: 'function',
              function: { name: 'f', description: 'd', parameters: SCHEMA, strict: true },
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
        {
          tools: [
            { type: 'function', name: 'f', description: 'd', parameters: SCHEMA, cache_control: { type: 'ephemeral' }, strict: true },
          ],
        },
      ],
      [
        'chat',
        'responses',
        { tools: [{ type: 'function', function: { name: 'f' } }] },
        { tools: [{ type: 'function', name: 'f', parameters: null }] },
      ],
      [
        'chat',
        'messages',
        { tools: [{ type: 'function', function: { name: 'f' } }] },
        { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }] },
      ],
      [
        'responses',
        'messages',
        { tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: null, defer_loading: true }] },
        { tools: [{ name: 'f', input_schema: SCHEMA, defer_loading: true }] },
      ],
      [
        'responses',
        'chat',
        { tools: [{ type: 'function', name: 'f', parameters: SCHEMA, defer_loading: true, async: true }] },
        { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }] },
        ['unsupported_field tools[0].defer_loading', 'unsupported_field tools[0].async'],
      ],
      [
        'messages',
        'chat',
        { tools: [{ name: 'f', input_schema: SCHEMA, cache_control: { type: 'ephemeral' } }] },
        { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA }, cache_control: { type: 'ephemeral' } }] },
      ],
      [
        'messages',
        'responses',
        { tools: [{ type: 'custom', name: 'f', input_schema: SCHEMA, eager_input_streaming: true }] },
        { tools: [{ type: 'function', name: 'f', parameters: SCHEMA }] },
      ],
      [
        'responses',
        'chat',
        {
          tools: [
            { type: 'openrouter:datetime' },
            { type: 'mcp', server_label: 'a' },
            { type: 'web_search' },
            { type: 'service:web_fetch' },
          ],
        },
        { tools: [{ type: 'openrouter:datetime' }, { type: 'web_search' }, { type: 'service:web_fetch' }] },
        ['unsupported_field tools[1]'],
      ],
      [
        'chat',
        'responses',
        { tools: [CHAT_TEXT_TOOL, { type: 'custom', custom: { name: 'g' } }] },
        { tools: [TEXT_TOOL, { type: 'custom', name: 'g' }] },
      ],
      ['responses', 'chat', { tools: [TEXT_TOOL] }, { tools: [CHAT_TEXT_TOOL] }],
      [
        'responses',
        'chat',
        { tools: [{ type: 'custom', name: 'g', format: { type: 'text' } }] },
        { tools: [{ type: 'custom', custom: { name: 'g', format: { type: 'text' } } }] },
      ],
      ['chat', 'messages', { tools: [CHAT_TEXT_TOOL] }, { tools: [] }, ['unsupported_field tools[0]']],
      ['chat', 'messages', { tools: [{ type: 'web_search' }] }, { tools: [] }, ['unsupported_field tools[0]']],
      ['messages', 'chat', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, { tools: [] }, ['unsupported_field tools[0]']],
    ],
  ],
  [
    'tool choice',
    [
      [
        'chat',
        'responses',
        { tool_choice: { type: 'function', function: { name: 'f' } } },
        { tool_choice: { type: 'function', name: 'f' } },
      ],
      ['chat', 'messages', { tool_choice: { type: 'function', function: { name: 'f' } } }, { tool_choice: { type: 'tool', name: 'f' } }],
      ['chat', 'messages', { tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
      [
        'responses',
        'chat',
        { tool_choice: { type: 'function', name: 'f' } },
        { tool_choice: { type: 'function', function: { name: 'f' } } },
      ],
      ['chat', 'responses', { tool_choice: { type: 'custom', custom: { name: 'g' } } }, { tool_choice: { type: 'custom', name: 'g' } }],
      ['responses', 'chat', { tool_choice: { type: 'custom', name: 'g' } }, { tool_choice: { type: 'custom', custom: { name: 'g' } } }],
      ['chat', 'messages', { tool_choice: { type: 'custom', custom: { name: 'g' } } }, {}, ['unsupported_field tool_choice']],
      ['responses', 'chat', { tool_choice: 'none' }, { tool_choice: 'none' }],
      ['responses', 'chat', { tool_choice: { type: 'web_search' } }, {}, ['unsupported_field tool_choice']],
      ['messages', 'responses', { tool_choice: { type: 'tool', name: 'f' } }, { tool_choice: { type: 'function', name: 'f' } }],
      [
        'messages',
        'chat',
        { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        { tool_choice: 'auto', parallel_tool_calls: false },
      ],
      ['messages', 'chat', { tool_choice: { type: 'any', disable_parallel_tool_use: false } }, { tool_choice: 'required' }],
      ['chat', 'messages', { parallel_tool_calls: false }, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
      ['chat', 'messages', { parallel_tool_calls: false, tool_choice: 'none' }, { tool_choice: { type: 'none' } }],
      [
        'responses',
        'messages',
        { parallel_tool_calls: false, tool_choice: 'required' },
        { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
      ],
      ['responses', 'messages', { parallel_tool_calls: true }, {}],
      ['chat', 'responses', { parallel_tool_calls: false }, { parallel_tool_calls: false }],
    ],
  ],
  [
    'models and tiers',
    [
      ['messages', 'chat', { model: 'a/b', fallbacks: [{ model: 'c/d' }] }, { model: 'a/b', models: ['c/d'] }],
      ['chat', 'messages', { models: ['a/b', 'c/d'] }, { models: ['a/b', 'c/d'] }],
      ['messages', 'responses', { speed: 'fast' }, { service_tier: 'fast' }],
      ['messages', 'responses', { speed: 'fast', service_tier: 'auto' }, { service_tier: 'fast' }],
      ['messages', 'responses', { speed: 'fast', service_tier: 'flex' }, { service_tier: 'flex' }, ['unsupported_field speed']],
      ['messages', 'responses', { speed: 'standard' }, {}],
      ['messages', 'chat', { service_tier: 'standard_only' }, {}, ['unsupported_field service_tier']],
      ['chat', 'messages', { service_tier: 'fast' }, { service_tier: 'fast' }],
    ],
  ],
  [
    'other fields',
    [
      [
        'chat',
        'messages',
        { temperature: 0, top_k: 3, provider: { only: ['x'] }, cache_control: { type: 'ephemeral' } },
        { temperature: 0, top_k: 3, provider: { only: ['x'] }, cache_control: { type: 'ephemeral' } },
      ],
      [
        'chat',
        'responses',
        { frequency_penalty: 1, seed: 7, logit_bias: {} },
        { frequency_penalty: 1 },
        ['carried seed 7', 'carried logit_bias {}'],
      ],
      [
        'responses',
        'chat',
        { truncation: 'auto', include: [], max_tool_calls: 3 },
        { max_tool_calls: 3 },
        ['unsupported_field include', 'unsupported_field truncation'],
      ],
      ['messages', 'responses', { context_management: {}, temperature: null }, {}, ['unsupported_field context_management']],
      ['responses', 'messages', { context_management: [{ type: 'compaction' }] }, {}, ['unsupported_field context_management']],
      [
        'responses',
        'chat',
        { moderation: { model: 'm' }, prompt_cache_retention: '24h' },
        { moderation: { model: 'm' }, prompt_cache_retention: '24h' },
      ],
      ['chat', 'responses', { modalities: ['text', 'image'] }, { modalities: ['text', 'image'] }],
      ['chat', 'responses', { modalities: ['text', 'audio'] }, {}, ['unsupported_field modalities']],
      ['chat', 'messages', { audio: { voice: 'alloy', format: 'mp3' } }, {}, ['unsupported_field audio']],
      ['messages', 'chat', { locked: ['model'], on_locked: 'reject', system: [] }, {}],
    ],
  ],
])('%s', (_, rows) => {
  test.each(rows)('%s to %s: %j', (from, to, config, fields, warned = []) => {
    expect(translate(from, to, config)).toEqual({ fields, warned })
  })
})

test.each(CLIENT_DIALECTS)('%s on its own interface: every field as it is', (dialect) => {
  const config = Object.fromEntries(PERSISTED_FIELDS[dialect].map((field) => [field, `value of ${field}`]))
  const fields = Object.fromEntries(Object.entries(config).filter(([field]) => !Object.hasOwn(PRESET_CONTROLS, field)))
  expect(translate(dialect, dialect, config)).toEqual({ fields, warned: [] })
})

test.each(CLIENT_DIALECTS.flatMap((from) => CLIENT_DIALECTS.filter((to) => to !== from).map((to) => [from, to] as const)))(
  '%s to %s: no persisted field vanishes without a warning, unless it is carried beside the body',
  (from, to) => {
    const SILENT = new Set(Object.keys(PRESET_CONTROLS))
    const values: Config = {
      text: { verbosity: 'low' },
      output_config: { effort: 'low' },
      thinking: { type: 'adaptive' },
      reasoning: { effort: 'low' },
      include_reasoning: false,
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      tool_choice: 'auto',
      tools: [{ type: 'service:datetime' }],
      response_format: { type: 'json_object' },
      fallbacks: [{ model: 'a/b' }],
      service_tier: 'flex',
      speed: 'fast',
      logprobs: true,
      logit_bias: {},
      moderation: {},
      output_format: { type: 'json_schema', schema: {} },
    }
    for (const field of PERSISTED_FIELDS[from].filter((name) => !SILENT.has(name))) {
      const value = from === 'messages' && field === 'tool_choice' ? { type: 'auto' } : (values[field] ?? numberOf(from, field) ?? 'x')
      const { fields, warned } = translate(from, to, { [field]: value })
      expect([field, Object.keys(fields).length + warned.length > 0]).toEqual([field, true])
      for (const name of Object.keys(fields)) expect(PERSISTED_FIELDS[to]).toContain(name)
    }
  },
)

test('a preset whose value a carried setting does not take is refused by its name', () => {
  expect(() => translate('chat', 'messages', { seed: 'x' })).toThrow('seed')
})
