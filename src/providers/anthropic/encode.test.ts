import { describe, expect, test } from 'bun:test'

import type { ReasoningSetting, SettingName, SettingValues } from '../../canonical/settings.ts'
import { SETTING_FATES } from '../loss-table.ts'
import { encode, relay, settingsOf } from './encode.test-kit.ts'
import { sealProof } from '../../canonical/reasoning.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const

describe('settings', () => {
  const samples: SettingValues = {
    temperature: 0.5,
    topP: 0.5,
    topK: 5,
    topA: 0.5,
    minP: 0.5,
    frequencyPenalty: 1,
    presencePenalty: 1,
    repetitionPenalty: 1.5,
    seed: 7,
    maxOutputTokens: 99,
    stop: ['END'],
    logitBias: { '1': 1 },
    logprobs: true,
    topLogprobs: 2,
    candidates: 2,
    reasoning: { effort: 'low' },
    verbosity: 'low',
    serviceTier: 'default',
    user: 'u-1',
    metadata: { a: 'b' },
    parallelToolCalls: false,
    outputModalities: ['text', 'image'],
    audioOutput: { voice: 'x' },
    prediction: {},
    promptCacheKey: 'k',
    cacheControl: { type: 'ephemeral' },
    truncation: 'auto',
    include: ['x'],
    contextManagement: {},
    webSearchOptions: {},
    safeguards: [],
    imageConfig: {},
    promptCacheOptions: { mode: 'explicit' },
  }

  test.each(Object.keys(samples) as SettingName[])('%s meets the fate that the loss table tells', (name) => {
    const fate = SETTING_FATES[name].anthropic
    const given = { tools: [f], settings: settingsOf({ [name]: samples[name] }) }
    if (fate === 'refused') {
      expect(() => encode(given)).toThrow(name)
      return
    }
    const { text, told } = encode(given)
    const changed = text !== encode({ tools: [f] }).text
    // Text alone is what comes anyway: of this one setting only the rest is told.
    expect([changed || (name === 'outputModalities' && told.length === 1), told.includes(`unsupported_field ${name}`)]).toEqual(
      fate === 'dropped' ? [false, true] : [true, name === 'outputModalities'],
    )
  })

  test('a field without a word in the middle is told', () => {
    expect(encode({ otherFields: ['novelty'] }).told).toEqual(['unsupported_field novelty'])
  })

  test.each<[Partial<SettingValues>, string, object, readonly string[]]>([
    [{ temperature: 0, topK: 0 }, 'claude-sonnet-4-5', { temperature: 0, top_k: 0 }, []],
    [{ temperature: 1.4 }, 'claude-sonnet-4-5', { temperature: 1 }, ['mapped_field temperature']],
    [{ temperature: 0.3, topP: 0.9 }, 'claude-sonnet-4-5', { temperature: 0.3 }, ['unsupported_field topP']],
    [{ temperature: 0.3, topP: 0.9 }, 'claude-3-opus-20240229', { temperature: 0.3, top_p: 0.9 }, []],
    [{ temperature: 0.3, topP: 0.9, topK: 3 }, 'claude-opus-5', {}, ['unsupported_field temperature', 'unsupported_field topP', 'unsupported_field topK']],
    [{ temperature: 1, topP: 1 }, 'claude-opus-5', {}, []],
    [{ temperature: 0.3, topP: 0.5, topK: 3, reasoning: { enabled: true } }, 'claude-haiku-4-5', {}, ['unsupported_field temperature', 'unsupported_field topP', 'unsupported_field topK']],
    [{ topP: 0.97, reasoning: { enabled: true } }, 'claude-opus-4-6', { top_p: 0.97 }, []],
    [{ stop: ['a', ' ', '\n'] }, 'claude-opus-5', { stop_sequences: ['a'] }, ['unsupported_field stop']],
    [{ stop: [' '] }, 'claude-opus-5', {}, ['unsupported_field stop']],
    [{ user: 'u-1' }, 'claude-opus-5', { metadata: { user_id: 'u-1' } }, []],
    [{ serviceTier: 'auto' }, 'claude-opus-5', { service_tier: 'auto' }, []],
    [{ serviceTier: 'default' }, 'claude-opus-5', { service_tier: 'standard_only' }, []],
    [{ serviceTier: 'priority' }, 'claude-opus-5', { service_tier: 'auto' }, ['mapped_field serviceTier']],
    [{ serviceTier: 'flex' }, 'claude-opus-5', {}, ['unsupported_field serviceTier']],
    [{ outputModalities: ['text'] }, 'claude-opus-5', {}, []],
  ])('%j to %s', (values, model, sent, told) => {
    const encoded = encode({ settings: settingsOf(values) }, { model })
    const { model: _, max_tokens: __, messages: ___, thinking: ____, ...rest } = encoded.sent
    expect([rest, encoded.told]).toEqual([sent, [...told]])
  })
})

describe('max_tokens', () => {
  test.each<[number | undefined, number | null, number]>([
    [undefined, null, 8192],
    [undefined, 64_000, 64_000],
    [300, 64_000, 300],
  ])('asked %p, the endpoint gives %p: %p is sent', (maxOutputTokens, maxCompletionTokens, sent) => {
    const settings = settingsOf(maxOutputTokens === undefined ? {} : { maxOutputTokens })
    expect(encode({ settings }, { maxCompletionTokens }).sent.max_tokens).toBe(sent)
  })
})

describe('reasoning', () => {
  test.each<[ReasoningSetting, string, object | undefined, string | undefined, readonly string[]]>([
    // A budget for models that take one.
    [{ effort: 'high' }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 16_384 }, undefined, []],
    [{ enabled: true }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 8192 }, undefined, []],
    [{ maxTokens: 2000 }, 'claude-opus-4-6', { type: 'enabled', budget_tokens: 2000 }, undefined, []],
    [{ maxTokens: 12 }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 1024 }, undefined, ['mapped_field reasoning']],
    [{ effort: 'low', exclude: true }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 4096, display: 'omitted' }, undefined, []],
    [{ effort: 'low', exclude: true }, 'MiniMax-M3', { type: 'enabled', budget_tokens: 4096 }, undefined, ['unsupported_field reasoning.exclude']],
    // An effort for those that decide themselves.
    [{ effort: 'medium' }, 'claude-opus-4-6', { type: 'adaptive' }, 'medium', []],
    [{ effort: 'xhigh' }, 'claude-opus-4-6', { type: 'adaptive' }, 'high', ['mapped_field reasoning']],
    [{ effort: 'xhigh' }, 'claude-opus-5-5', { type: 'adaptive', display: 'summarized' }, 'xhigh', []],
    [{ effort: 'minimal' }, 'claude-opus-5-5', { type: 'adaptive', display: 'summarized' }, 'low', ['mapped_field reasoning']],
    [{ maxTokens: 2000 }, 'claude-opus-5', { type: 'adaptive', display: 'summarized' }, undefined, ['mapped_field reasoning']],
    [{ enabled: true, exclude: true }, 'claude-opus-5', { type: 'adaptive', display: 'omitted' }, undefined, []],
    // Only what is shown.
    [{ summary: 'auto' }, 'claude-opus-5', { type: 'adaptive', display: 'summarized' }, undefined, []],
    [{ summary: 'auto' }, 'claude-sonnet-4-5', undefined, undefined, []],
    // Off.
    [{ effort: 'none' }, 'claude-sonnet-4-5', undefined, undefined, []],
    [{ enabled: false }, 'claude-opus-5', { type: 'disabled' }, undefined, []],
    [{ effort: 'none' }, 'claude-sonnet-5-5', { type: 'between_tools' }, undefined, ['mapped_field reasoning']],
    [{ effort: 'none' }, 'claude-opus-5-5', undefined, 'low', ['mapped_field reasoning']],
    // Not at all.
    [{ effort: 'high' }, 'claude-3-5-haiku-20241022', undefined, undefined, ['unsupported_field reasoning']],
  ])('%j to %s', (reasoning, model, thinking, effort, told) => {
    const { sent, ...encoded } = encode({ settings: settingsOf({ reasoning }) }, { model })
    expect([sent['thinking'], (sent['output_config'] as { effort?: string } | undefined)?.effort, encoded.told]).toEqual([thinking, effort, [...told]])
  })

  test.each<[number, number | undefined]>([
    [1024, undefined],
    [1025, 1024],
    [10_000, 8000],
    [100_000, 16_384],
  ])('a cap of %p is kept: the budget is %p', (maxOutputTokens, budget) => {
    const { sent, told } = encode({ settings: settingsOf({ maxOutputTokens, reasoning: { effort: 'high' } }) })
    expect([sent.max_tokens, (sent['thinking'] as { budget_tokens?: number } | undefined)?.budget_tokens]).toEqual([maxOutputTokens, budget])
    expect(told).toEqual(budget === undefined ? ['unsupported_field reasoning'] : [])
  })

  test('a demanded call of a tool wins over thinking where the model has to choose', () => {
    const given = { tools: [f], toolChoice: { type: 'required' }, settings: settingsOf({ reasoning: { effort: 'low' } }) } as const
    const older = encode(given, { model: 'claude-sonnet-4-5' })
    expect([older.sent['thinking'], older.sent['tool_choice'], older.told]).toEqual([undefined, { type: 'any' }, ['unsupported_field reasoning']])
    const newer = encode(given, { model: 'claude-opus-5' })
    expect([newer.sent['thinking'], newer.sent['tool_choice'], newer.told]).toEqual([{ type: 'adaptive', display: 'summarized' }, { type: 'any' }, []])
  })

  test('a budget does not begin in the middle of calls that were made without thinking', () => {
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'u' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'c', text: 'x' }] },
    ] as const
    const settings = settingsOf({ reasoning: { effort: 'low' } })
    expect(encode({ messages, tools: [f], settings }).told).toEqual(['unsupported_field reasoning'])
    expect(encode({ messages, tools: [f], settings }, { model: 'claude-opus-4-6' }).told).toEqual([])
  })
})

describe('tools', () => {
  test('keep their schema, order and mark', () => {
    const { sent, told } = encode({ tools: [f, { ...f, name: 'g', description: null, parameters: {}, cache: { ttl: '5m' }, strict: false }] })
    expect(sent['tools']).toEqual([
      { name: 'f', description: 'F', input_schema: { type: 'object', properties: {} } },
      { name: 'g', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ])
    expect([sent['tool_choice'], told]).toEqual([undefined, []])
  })

  test('strict ones are closed, and what cannot be enforced is told to the model and to the client', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 1, description: 'N' } }, required: ['n'] }
    const { sent, told } = encode({ tools: [{ ...f, parameters, strict: true }] })
    expect(sent['tools']).toEqual([
      {
        name: 'f',
        description: 'F',
        input_schema: { type: 'object', properties: { n: { type: 'integer', description: 'N\n(minimum: 1)' } }, required: ['n'], additionalProperties: false },
        strict: true,
      },
    ])
    expect(told).toEqual(['mapped_field tools[0].strict'])
    expect(encode({ tools: [{ ...f, strict: true }] }, { model: 'claude-sonnet-4-20250514' }).told).toEqual(['unsupported_field tools[0].strict'])
  })

  test.each<[unknown, boolean | undefined, string, unknown, readonly string[]]>([
    [{ type: 'auto' }, undefined, 'claude-opus-5', undefined, []],
    [{ type: 'auto' }, true, 'claude-opus-5', undefined, []],
    [{ type: 'auto' }, false, 'claude-opus-5', { type: 'auto', disable_parallel_tool_use: true }, []],
    [{ type: 'none' }, false, 'claude-opus-5', { type: 'none' }, []],
    [{ type: 'required' }, undefined, 'claude-opus-5', { type: 'any' }, []],
    [{ type: 'tool', name: 'f' }, false, 'claude-opus-5', { type: 'tool', name: 'f', disable_parallel_tool_use: true }, []],
    [{ type: 'tool', name: 'f' }, false, 'claude-opus-5-5', { type: 'auto', disable_parallel_tool_use: true }, ['mapped_field tool_choice']],
  ])('choice %j, parallel %p, %s', (toolChoice, parallel, model, sent, told) => {
    const settings = settingsOf(parallel === undefined ? {} : { parallelToolCalls: parallel })
    const encoded = encode({ tools: [f], toolChoice: toolChoice as { type: 'auto' }, settings }, { model })
    expect([encoded.sent['tool_choice'], encoded.told]).toEqual([sent, [...told]])
  })

  test('a demand without any tool is told', () => {
    expect(encode({ toolChoice: { type: 'required' } }).told).toEqual(['unsupported_field tool_choice'])
  })

  test('web search becomes the provider’s own, other tools of other providers are told', () => {
    const provider = (kind: string, raw: object) => ({ type: 'provider', kind, at: 'tools[0]', raw: { type: kind, ...raw } }) as const
    const place = { type: 'approximate', city: 'Ghent', country: null, region: 'x' }
    const { sent, told } = encode({
      tools: [provider('web_search_preview_2025_03_11', { max_uses: 3, filters: { allowed_domains: ['a.example'] }, user_location: place, search_context_size: 'low' }), provider('file_search', {})],
    })
    expect(sent['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['a.example'], user_location: { type: 'approximate', city: 'Ghent', region: 'x' } },
    ])
    expect(told).toEqual(['unsupported_field tools[0].search_context_size', 'unsupported_field tools[0]'])
    const options = encode({ settings: settingsOf({ webSearchOptions: { user_location: { type: 'approximate', approximate: { city: 'Ghent' } } } }) })
    expect(options.sent['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Ghent' } }])
    expect(encode({ tools: [provider('web_search', {})] }, { model: 'MiniMax-M3' }).told).toEqual(['unsupported_field tools[0]'])
  })
})

describe('the form of the answer', () => {
  const schema = { $schema: 'x', type: 'object', properties: { a: { oneOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] } }, required: ['a'] }

  test('is held to a schema where the model can be', () => {
    const { sent, told } = encode({ outputFormat: { type: 'json-schema', name: 'x', schema } }, { dialect: 'responses' })
    expect(sent['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: { type: 'object', properties: { a: { anyOf: [{ type: 'string', description: '(maxLength: 3)' }, { type: 'null' }] } }, required: ['a'], additionalProperties: false },
      },
    })
    expect(told).toEqual(['mapped_field text.format'])
  })

  test('is told where it cannot be', () => {
    expect(encode({ outputFormat: { type: 'json' } }).told).toEqual(['unsupported_field response_format'])
    expect(encode({ outputFormat: { type: 'json-schema', name: 'x', schema } }, { model: 'claude-3-opus-20240229' }).told).toEqual(['unsupported_field response_format'])
  })
})

test('stream is said where it was asked for, and the text is JSON without a gap', () => {
  expect(encode({}, { stream: true }).text).toBe('{"model":"claude-sonnet-4-5","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}')
})

describe('a client of the same dialect', () => {
  const messages = '"messages" : [ {"role":"user", "content":"H\\u0069"} ]'

  test.each<[string, string, string, readonly string[]]>([
    ['keeps every other byte', `{ "max_tokens":1e2 ,"model": "a/b","x":{"a" :[1.0 ]},${messages},"speed":"fast" }`, `{ "max_tokens":1e2 ,"model": "it-1","x":{"a" :[1.0 ]},${messages},"speed":"fast" }`, []],
    ['loses the fields of this service, and nulls', `{"model":"a/b","max_tokens":5,"fallbacks":[{"model":"c/d"}],"provider":{},${messages},"temperature":null,"session_id":"s"}`, `{"model":"it-1","max_tokens":5,${messages}}`, []],
    ['gets the cap that the dialect requires', `{"model":"a/b",${messages}}`, `{"model":"it-1",${messages},"max_tokens":8192}`, []],
    ['names its user as the dialect does', `{"model":"a/b","max_tokens":5,"user":"u",${messages}}`, `{"model":"it-1","max_tokens":5,${messages},"metadata":{"user_id":"u"}}`, []],
    ['keeps a user that the dialect’s own field names', `{"model":"a/b","max_tokens":5,"user":"u","metadata":{"user_id":"v"},${messages}}`, `{"model":"it-1","max_tokens":5,"metadata":{"user_id":"v"},${messages}}`, []],
    ['keeps the dialect’s tier', `{"model":"a/b","max_tokens":5,"service_tier":"standard_only",${messages}}`, `{"model":"it-1","max_tokens":5,"service_tier":"standard_only",${messages}}`, []],
    ['has another’s tier translated', `{"model":"a/b","max_tokens":5,"service_tier":"flex",${messages}}`, `{"model":"it-1","max_tokens":5,${messages}}`, ['unsupported_field service_tier']],
    ['has the tools of this service translated', `{"model":"a/b","max_tokens":5,"tools":[{"type":"service:web_search","parameters":{"max_uses":2}},{"type":"openrouter:datetime"}],${messages}}`, `{"model":"it-1","max_tokens":5,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],${messages}}`, ['unsupported_field tools[1]']],
  ])('%s', (_, given, sent, told) => {
    expect(relay(given, { model: 'it-1' })).toEqual({ text: sent, told })
  })

  test('foreign thinking that was sealed into its history goes no further; its own is untouched', () => {
    const foreign = sealProof({ format: 'openai-responses-v1', kind: 'encrypted', data: 'x' })
    const own = sealProof({ format: 'anthropic-claude-v1', kind: 'signature', data: 'sig', model: 'anthropic/it' })
    const body = JSON.stringify({
      model: 'a/b',
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'u' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'T', signature: foreign }, { type: 'text', text: 'a' }] },
        { role: 'user', content: 'v' },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: foreign }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'O', signature: own }, { type: 'thinking', thinking: 'P', signature: 'native' }] },
      ],
    })
    const { text, told } = relay(body)
    expect((JSON.parse(text) as { messages: unknown }).messages).toEqual([
      { role: 'user', content: 'u' },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
      { role: 'user', content: 'v' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'O', signature: 'sig' }, { type: 'thinking', thinking: 'P', signature: 'native' }] },
    ])
    expect(told).toEqual(['unsupported_field messages[1]', 'unsupported_field messages[3]'])
  })
})
