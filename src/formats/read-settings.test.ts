import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../canonical/call.ts'
import type { Prompt } from '../canonical/prompt.ts'
import type { Settings } from '../canonical/settings.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { atOnce } from '../lib/steps.ts'
import { parsePrompt as parseMessages } from './anthropic-messages/parse-prompt.ts'
import { firstFault } from './first-fault.test-kit.ts'
import { parsePrompt as parseChat } from './openai-chat/parse-prompt.ts'
import { parsePrompt as parseResponses } from './openai-responses/parse-prompt.ts'

const PARSERS = { chat: parseChat, responses: parseResponses, messages: parseMessages }
const parse = (dialect: ClientDialect, body: object): Prompt => atOnce(PARSERS[dialect](JsonBody.read(JSON.stringify(body))))

const set = <Value>(field: string, value: Value) => ({ field, value })

describe('a setting has its value and the field that the client wrote', () => {
  test.each<[ClientDialect, object, Settings]>([
    ['chat', { temperature: 0, top_p: 1 }, { temperature: set('temperature', 0), topP: set('top_p', 1) }],
    ['chat', { top_k: 0, top_a: 0, min_p: 0 }, { topK: set('top_k', 0), topA: set('top_a', 0), minP: set('min_p', 0) }],
    [
      'chat',
      { frequency_penalty: 0, presence_penalty: -1, repetition_penalty: 1, seed: 0 },
      {
        frequencyPenalty: set('frequency_penalty', 0),
        presencePenalty: set('presence_penalty', -1),
        repetitionPenalty: set('repetition_penalty', 1),
        seed: set('seed', 0),
      },
    ],
    ['chat', { max_tokens: 5 }, { maxOutputTokens: set('max_tokens', 5) }],
    ['chat', { max_tokens: 6, max_completion_tokens: 6 }, { maxOutputTokens: set('max_completion_tokens', 6) }],
    ['chat', { stop: 'a' }, { stop: set('stop', ['a']) }],
    ['chat', { stop: ['a', 'b'] }, { stop: set('stop', ['a', 'b']) }],
    ['chat', { logit_bias: { '50256': -100 } }, { logitBias: set('logit_bias', { '50256': -100 }) }],
    ['chat', { logprobs: true, top_logprobs: 0 }, { logprobs: set('logprobs', true), topLogprobs: set('top_logprobs', 0) }],
    ['chat', { n: 2 }, { candidates: set('n', 2) }],
    ['chat', { verbosity: 'low', user: 'u' }, { verbosity: set('verbosity', 'low'), user: set('user', 'u') }],
    ['chat', { safety_identifier: 's' }, { safetyIdentifier: set('safety_identifier', 's') }],
    ['chat', { user: 'u', safety_identifier: 's' }, { user: set('user', 'u'), safetyIdentifier: set('safety_identifier', 's') }],
    [
      'chat',
      { metadata: { a: 'b' }, parallel_tool_calls: false },
      { metadata: set('metadata', { a: 'b' }), parallelToolCalls: set('parallel_tool_calls', false) },
    ],
    [
      'chat',
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      { outputModalities: set('modalities', ['text', 'audio']), audioOutput: set('audio', { voice: 'alloy', format: 'wav' }) },
    ],
    ['chat', { prediction: { type: 'content', content: 'x' } }, { prediction: set('prediction', { type: 'content', content: 'x' }) }],
    [
      'chat',
      { prompt_cache_key: 'k', prompt_cache_options: { mode: 'explicit' }, cache_control: { type: 'ephemeral' } },
      {
        promptCacheKey: set('prompt_cache_key', 'k'),
        promptCacheOptions: set('prompt_cache_options', { mode: 'explicit' }),
        cacheControl: set('cache_control', { type: 'ephemeral' }),
      },
    ],
    [
      'chat',
      { web_search_options: {}, image_config: { aspect_ratio: '1:1' } },
      { webSearchOptions: set('web_search_options', {}), imageConfig: set('image_config', { aspect_ratio: '1:1' }) },
    ],

    [
      'responses',
      { temperature: 0.5, top_p: 0, top_k: 3 },
      { temperature: set('temperature', 0.5), topP: set('top_p', 0), topK: set('top_k', 3) },
    ],
    [
      'responses',
      { max_output_tokens: 9, top_logprobs: 2 },
      { maxOutputTokens: set('max_output_tokens', 9), topLogprobs: set('top_logprobs', 2) },
    ],
    ['responses', { user: 'u' }, { user: set('user', 'u') }],
    ['responses', { user: 'u', safety_identifier: 's' }, { user: set('user', 'u'), safetyIdentifier: set('safety_identifier', 's') }],
    [
      'responses',
      { text: { verbosity: 'high' }, truncation: 'auto' },
      { verbosity: set('text.verbosity', 'high'), truncation: set('truncation', 'auto') },
    ],
    [
      'responses',
      { include: ['reasoning.encrypted_content', 'message.output_text.logprobs', 'file_search_call.results'] },
      { logprobs: set('include', true), include: set('include', ['file_search_call.results']) },
    ],
    [
      'responses',
      { service_tier: 'flex', prompt_cache_key: '' },
      { serviceTier: set('service_tier', 'flex'), promptCacheKey: set('prompt_cache_key', '') },
    ],

    [
      'messages',
      { max_tokens: 7, top_k: 1, temperature: 1 },
      { maxOutputTokens: set('max_tokens', 7), topK: set('top_k', 1), temperature: set('temperature', 1) },
    ],
    ['messages', { stop_sequences: ['x'] }, { stop: set('stop_sequences', ['x']) }],
    ['messages', { metadata: { user_id: 'm' }, user: 'u' }, { user: set('metadata.user_id', 'm') }],
    ['messages', { metadata: { user_id: null }, user: 'u' }, { user: set('user', 'u') }],
    ['messages', { metadata: { user_id: '' }, user: 'u' }, { user: set('user', 'u') }],
    ['messages', { metadata: { user_id: '' }, user: '' }, {}],
    ['chat', { user: '', safety_identifier: '' }, {}],
    ['responses', { user: '', safety_identifier: '' }, {}],
    [
      'messages',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { parallelToolCalls: set('tool_choice.disable_parallel_tool_use', false) },
    ],
    ['messages', { speed: 'fast' }, { serviceTier: set('speed', 'priority') }],
    ['messages', { speed: 'fast', service_tier: 'standard_only' }, { serviceTier: set('service_tier', 'default') }],
    [
      'messages',
      { context_management: { edits: [] }, safeguards: [], cache_control: { type: 'ephemeral', ttl: '1h' } },
      {
        contextManagement: set('context_management', { edits: [] }),
        safeguards: set('safeguards', []),
        cacheControl: set('cache_control', { type: 'ephemeral', ttl: '1h' }),
      },
    ],
  ])('%s: %j', (dialect, body, expected) => {
    const prompt = parse(dialect, body)
    expect(prompt.settings).toEqual(expected)
    expect(prompt.otherFields).toEqual([])
  })
})

test('if two limits differ, the one that the table lists first counts, and the other one is reported', () => {
  const { settings, otherFields } = parse('chat', { max_tokens: 5, max_completion_tokens: 6 })
  expect(settings).toEqual({ maxOutputTokens: set('max_completion_tokens', 6) })
  expect(otherFields).toEqual(['max_tokens'])
})

describe('reasoning', () => {
  test.each<[ClientDialect, object, string, object]>([
    ['chat', { reasoning_effort: 'low' }, 'reasoning_effort', { effort: 'low' }],
    ['chat', { include_reasoning: false }, 'include_reasoning', { exclude: true }],
    ['chat', { thinking: { type: 'enabled', budget_tokens: 2000 } }, 'thinking', { enabled: true, maxTokens: 2000 }],
    ['chat', { thinking: { type: 'adaptive' } }, 'thinking', { enabled: true }],
    ['chat', { thinking: { type: 'disabled' }, include_reasoning: false }, 'thinking', { enabled: false, exclude: true }],
    ['chat', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, 'reasoning_effort', { enabled: true, effort: 'high' }],
    ['chat', { reasoning: { max_tokens: 9 }, reasoning_effort: 'high' }, 'reasoning', { effort: 'high', maxTokens: 9 }],
    ['chat', { reasoning: { enabled: false } }, 'reasoning', { enabled: false }],
    [
      'chat',
      { reasoning: { effort: 'none', summary: 'auto', exclude: false } },
      'reasoning',
      { effort: 'none', summary: 'auto', exclude: false },
    ],
    ['responses', { reasoning: { effort: 'max', summary: 'detailed' } }, 'reasoning', { effort: 'max', summary: 'detailed' }],
    ['responses', { reasoning: { generate_summary: 'concise' } }, 'reasoning', { summary: 'concise' }],
    ['messages', { thinking: { type: 'enabled', budget_tokens: 2000 } }, 'thinking', { enabled: true, maxTokens: 2000 }],
    ['messages', { thinking: { type: 'adaptive', display: 'omitted' } }, 'thinking', { enabled: true, exclude: true }],
    ['messages', { thinking: { type: 'disabled' } }, 'thinking', { enabled: false }],
    [
      'messages',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
      'thinking',
      { enabled: true, effort: 'max', summary: 'auto' },
    ],
    ['messages', { output_config: { effort: 'low' } }, 'output_config.effort', { effort: 'low' }],
  ])('%s: %j', (dialect, body, field, value) => {
    expect(parse(dialect, body)).toMatchObject({ settings: { reasoning: { field, value } }, otherFields: [] })
    expect(parse(dialect, body).settings.reasoning?.value).toEqual(value)
  })
})

test.each<[ClientDialect, object]>([
  ['chat', { temperature: null, reasoning: null, stop: null, n: null, response_format: null, tools: null, metadata: null }],
  ['chat', { n: 1, logprobs: false, service_tier: 'auto', modalities: ['text'], reasoning: {}, include_reasoning: true }],
  ['chat', { stream: true, stream_options: {}, plugins: [], provider: {}, models: ['a/b'], route: 'fallback', session_id: 's', trace: {} }],
  ['chat', { preset: 'p', debug: {}, sandbox: {}, strict: true, usage: {}, transforms: [], deferred_tools: {}, store: false }],
  [
    'responses',
    { truncation: 'disabled', store: false, background: false, include: ['reasoning.encrypted_content'], previous_response_id: null },
  ],
  ['responses', { text: { format: { type: 'text' } }, tool_choice: 'auto', stop_server_tools_when: [] }],
  ['messages', { speed: 'standard', service_tier: 'auto', fallbacks: [], metadata: {}, output_config: {}, thinking: null }],
])('neither a setting nor a loss: %s %j', (dialect, body) => {
  expect(parse(dialect, { model: 'a/b', ...body })).toMatchObject({ settings: {}, otherFields: [] })
})

describe('what the common form cannot express is reported with its path', () => {
  test.each<[ClientDialect, object, string[]]>([
    ['chat', { thinking: { type: 'enabled', clear_thinking: false } }, ['thinking.clear_thinking']],
    ['chat', { thinking: { type: 'disabled' }, reasoning: { effort: 'low' } }, ['thinking']],
    ['chat', { thinking: { type: 'enabled', budget_tokens: -1 } }, ['thinking.budget_tokens']],
    ['chat', { thinking: { type: 'auto' } }, ['thinking']],
    ['chat', { thinking: true }, ['thinking']],
    ['chat', { guided_json: {}, zero: 0, empty: '', off: false }, ['guided_json', 'zero', 'empty', 'off']],
    ['chat', { store: true, functions: [] }, ['store', 'functions']],
    ['chat', { response_format: { type: 'grammar', grammar: 'x' } }, ['response_format']],
    ['chat', { tool_choice: { type: 'openrouter:web_search' } }, ['tool_choice']],
    [
      'chat',
      { tools: [{ type: 'function', function: { name: 'f', examples: [] }, async: true }] },
      ['tools[0].async', 'tools[0].function.examples'],
    ],
    ['responses', { reasoning: { effort: 'low', context: 'auto', mode: null } }, ['reasoning.context']],
    ['responses', { context_management: [], client_metadata: {} }, ['context_management', 'client_metadata']],
    ['responses', { tools: [{ type: 'function', name: 'f', async: true }] }, ['tools[0].async']],
    ['messages', { thinking: { type: 'between_tools' } }, ['thinking.type']],
    ['messages', { thinking: { type: 'adaptive', display: 'updates' } }, ['thinking.display']],
    ['messages', { output_config: { task_budget: { type: 'tokens', total: 20_000 } } }, ['output_config.task_budget']],
    ['messages', { container: 'c', metadata: { user_id: 'u', team: 't' } }, ['container', 'metadata.team']],
    ['messages', { tools: [{ type: 'bash_20250124', name: 'bash', cache_control: {} }] }, []],
  ])('%s: %j', (dialect, body, expected) => {
    expect(parse(dialect, body).otherFields).toEqual(expected)
  })
})

test('a body of only unknown fields is reported in a bounded number of short paths', () => {
  const body = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}${'x'.repeat(500)}`, 1]))
  const { otherFields } = parse('chat', body)
  expect(otherFields).toHaveLength(50)
  for (const field of otherFields) expect(field.length).toBeLessThan(100)
})

describe('invalid_request names the path', () => {
  test.each<[ClientDialect, string, object]>([
    ['chat', 'n', { n: 0 }],
    ['chat', 'n', { n: 1.5 }],
    ['chat', 'temperature', { temperature: '1' }],
    ['chat', 'stop[1]', { stop: ['a', 7] }],
    ['chat', 'logit_bias.7', { logit_bias: { '7': 'x' } }],
    ['chat', 'audio', { audio: 'alloy' }],
    ['chat', 'reasoning.effort', { reasoning: { effort: 7 } }],
    ['responses', 'include', { include: 'x' }],
    ['responses', 'text.verbosity', { text: { verbosity: 1 } }],
    ['messages', 'thinking.type', { thinking: { type: 'sometimes' } }],
    ['messages', 'metadata.user_id', { metadata: { user_id: 7 } }],
    ['messages', 'tool_choice.disable_parallel_tool_use', { tool_choice: { type: 'auto', disable_parallel_tool_use: 'yes' } }],
  ])('%s: %s', (dialect, path, body) => {
    expect(firstFault(() => parse(dialect, body))).toEqual(['invalid_request', path])
  })
})

describe('the form of the output', () => {
  const schema = { type: 'object' }
  test.each<[ClientDialect, object, object]>([
    [
      'chat',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: false, description: 'd' } } },
      { type: 'json-schema', name: 'n', schema, strict: false, description: 'd' },
    ],
    [
      'responses',
      { text: { format: { type: 'json_schema', name: 'n', schema, strict: true, description: 'd' } } },
      { type: 'json-schema', name: 'n', schema, strict: true, description: 'd' },
    ],
    ['messages', { output_config: { format: { type: 'json_schema', schema } } }, { type: 'json-schema', name: 'response', schema }],
  ])('%s: %j', (dialect, body, expected) => {
    expect(parse(dialect, body)).toMatchObject({ otherFields: [] })
    expect(parse(dialect, body).outputFormat).toEqual(expected as never)
  })
})

test('a choice among some of the tools bars the other functions, and leaves the other tools of a vendor out', () => {
  const one = { type: 'function', name: 'one' }
  const tools = [one, { type: 'function', name: 'two' }, { type: 'web_search' }, { type: 'file_search' }]
  const flat = { type: 'allowed_tools', mode: 'required', tools: [one, { type: 'web_search' }] }
  expect(parse('responses', { tools, tool_choice: flat })).toMatchObject({
    tools: [
      { type: 'function', name: 'one' },
      { type: 'function', name: 'two', barred: true },
      { type: 'provider', kind: 'web_search', at: 'tools[2]' },
    ],
    toolChoice: { type: 'required' },
    otherFields: [],
  })
  const nested = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'two' } }] } }
  const chatTools = ['one', 'two'].map((name) => ({ type: 'function', function: { name } }))
  expect(parse('chat', { tools: chatTools, tool_choice: nested })).toMatchObject({
    tools: [
      { type: 'function', name: 'one', barred: true },
      { type: 'function', name: 'two' },
    ],
    toolChoice: { type: 'auto' },
    otherFields: [],
  })
})

test.each(['service:tool_search', 'openrouter:tool_search', 'tool_search'])(
  'a choice among some of the tools keeps the search %s where one of them is searched for',
  (search) => {
    const tools = [{ type: search }, { type: 'function', name: 'hidden', defer_loading: true }, { type: 'function', name: 'shown' }]
    const among = (name: string) =>
      parse('responses', { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] } }).tools
    expect(among('hidden')).toMatchObject([{ kind: search }, { name: 'hidden' }, { name: 'shown', barred: true }])
    expect(among('shown')).toMatchObject([{ name: 'shown' }])
  },
)

test.each<['chat' | 'messages', object]>([
  ['chat', { type: 'function', function: { name: 'f' } }],
  ['messages', { name: 'f', input_schema: {} }],
])('%s: a tool’s mark of what to cache is read whole, whichever vendor’s it is', (dialect, tool) => {
  for (const mark of [{ cache_control: { type: 'ephemeral' } }, { prompt_cache_breakpoint: { mode: 'explicit' } }])
    expect(parse(dialect, { tools: [{ ...tool, ...mark }] })).toMatchObject({ tools: [{ name: 'f', cache: {} }], otherFields: [] })
})
