import { describe, expect, test } from 'bun:test'

import type { SettingName, SettingValues } from '../../canonical/settings.ts'
import { SETTING_FATES } from '../loss-table.ts'
import { CLAUDE, encode, GPT, LLAMA, MISTRAL, NOVA, NOVA_2, settingsOf, talk } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const
const g = { ...f, name: 'g' }
const called = talk(
  ['user', 'Go'],
  ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }],
  ['user', { type: 'tool-result', callId: 'c1', text: 'ok' }],
)

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
    serviceTier: 'priority',
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
    const fate = SETTING_FATES[name].bedrock
    const given = { tools: [f], settings: settingsOf({ [name]: samples[name] }) }
    if (fate === 'refused') {
      expect(() => encode(given)).toThrow(name)
      return
    }
    const { text, told } = encode(given)
    const changed = text !== encode({ tools: [f] }).text
    const lost = told.includes(`unsupported_field ${name}`)
    // Of the modalities text is what comes anyway: only the rest can be told.
    if (name === 'outputModalities') expect({ changed, lost }).toEqual({ changed: false, lost: true })
    else expect({ changed, lost }).toEqual({ changed: fate !== 'dropped', lost: fate === 'dropped' })
  })

  test('have their places', () => {
    const { sent, told } = encode({
      settings: settingsOf({
        maxOutputTokens: 0,
        temperature: 0,
        topK: 0,
        stop: ['a', 'b'],
        metadata: { team: 'x y' },
        serviceTier: 'flex',
      }),
    })
    expect(sent).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 0, temperature: 0, stopSequences: ['a', 'b'] },
      additionalModelRequestFields: { top_k: 0 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      requestMetadata: { team: 'x y' },
      serviceTier: { type: 'flex' },
    })
    expect(told).toEqual([])
  })

  test('a stream tells elsewhere which sequence ended it', () => {
    const { sent } = encode({ settings: settingsOf({ stop: ['a'] }) }, { stream: true })
    expect(sent['additionalModelResponseFieldPaths']).toEqual(['/delta/stop_sequence'])
  })

  test.each<[string, string, Partial<SettingValues>, object, string[]]>([
    ['top_k of Nova stands in its own config', NOVA, { topK: 9 }, { additionalModelRequestFields: { inferenceConfig: { topK: 9 } } }, []],
    ['top_k of Mistral is its own word', MISTRAL, { topK: 9 }, { additionalModelRequestFields: { top_k: 9 } }, []],
    ['top_k is lost on Llama', LLAMA, { topK: 9 }, {}, ['unsupported_field topK']],
    ['temperatures end at 1', LLAMA, { temperature: 1.5 }, { inferenceConfig: { temperature: 1 } }, ['mapped_field temperature']],
    [
      'Claude takes no blank stop sequence',
      CLAUDE,
      { stop: ['\n', 'x'] },
      { inferenceConfig: { stopSequences: ['x'] }, additionalModelResponseFieldPaths: ['/stop_sequence'] },
      ['unsupported_field stop'],
    ],
    ['others do', LLAMA, { stop: ['\n', ''] }, { inferenceConfig: { stopSequences: ['\n'] } }, ['unsupported_field stop']],
    ['the default tier is one', LLAMA, { serviceTier: 'default' }, { serviceTier: { type: 'default' } }, []],
    ['the tier auto asks for nothing', LLAMA, { serviceTier: 'auto' }, {}, []],
    ['an unknown tier is lost', LLAMA, { serviceTier: 'scale' }, {}, ['unsupported_field serviceTier']],
    [
      'metadata that is no short text is lost',
      LLAMA,
      { metadata: { a: 1, b: 'ok', c: '{}' } },
      { requestMetadata: { b: 'ok' } },
      ['unsupported_field metadata'],
    ],
    ['text as a modality is what comes anyway', LLAMA, { outputModalities: ['text'] }, {}, []],
  ])('%s', (_, model, settings, expected, told) => {
    const encoded = encode({ settings: settingsOf(settings) }, { model })
    const { messages, ...rest } = encoded.sent
    expect(messages).toHaveLength(1)
    expect(rest).toEqual(expected)
    expect(encoded.told).toEqual(told)
  })

  test('fields without a word in the middle are told', () => {
    expect(encode({ otherFields: ['weird'] }).told).toEqual(['unsupported_field weird'])
  })
})

describe('thinking', () => {
  test.each<[string, string, SettingValues['reasoning'], object, string[]]>([
    [
      'a budget for Claude 4.5',
      CLAUDE,
      { maxTokens: 2048 },
      { inferenceConfig: { maxTokens: 10_240 }, additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } } },
      [],
    ],
    [
      'an effort for Claude 4.7, with no cap that nobody asked for',
      'anthropic.claude-opus-4-7-v1:0',
      { effort: 'high' },
      {
        additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
        outputConfig: { effort: 'high' },
      },
      [],
    ],
    ['the word of OpenAI’s models', GPT, { effort: 'high' }, { additionalModelRequestFields: { reasoning_effort: 'high' } }, []],
    [
      'the nearest effort',
      GPT,
      { effort: 'minimal' },
      { additionalModelRequestFields: { reasoning_effort: 'low' } },
      ['mapped_field reasoning'],
    ],
    [
      'an effort for a budget',
      GPT,
      { maxTokens: 100 },
      { additionalModelRequestFields: { reasoning_effort: 'low' } },
      ['mapped_field reasoning'],
    ],
    [
      'as little as can be',
      GPT,
      { enabled: false },
      { additionalModelRequestFields: { reasoning_effort: 'low' } },
      ['mapped_field reasoning'],
    ],
    [
      'the config of Nova 2',
      NOVA_2,
      { effort: 'high' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } },
      [],
    ],
    ['none of Nova 2', NOVA_2, { enabled: false }, { additionalModelRequestFields: { reasoningConfig: { type: 'disabled' } } }, []],
    ['nothing of Nova 1', NOVA, { effort: 'low' }, {}, ['unsupported_field reasoning']],
    ['nothing of Llama', LLAMA, { effort: 'low' }, {}, ['unsupported_field reasoning']],
  ])('is asked for: %s', (_, model, reasoning, expected, told) => {
    const { sent, told: heard } = encode({ settings: settingsOf({ reasoning }) }, { model })
    const { messages, ...rest } = sent
    expect(messages).toHaveLength(1)
    expect(rest).toEqual(expected)
    expect(heard).toEqual(told)
  })

  test('gives way to a cap, which Nova 2 takes up to a medium effort only', () => {
    const { sent, told } = encode({ settings: settingsOf({ reasoning: { effort: 'high' }, maxOutputTokens: 50 }) }, { model: NOVA_2 })
    expect(sent.inferenceConfig).toEqual({ maxTokens: 50 })
    expect(sent.additionalModelRequestFields).toEqual({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } })
    expect(told).toEqual(['mapped_field reasoning'])
  })

  test('of Claude is known by our id of the model where its address says nothing', () => {
    const model = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123'
    const { sent } = encode({ settings: settingsOf({ reasoning: { maxTokens: 2048 } }) }, { model, modelId: 'anthropic/claude-sonnet-4.5' })
    expect(sent.additionalModelRequestFields).toEqual({ thinking: { type: 'enabled', budget_tokens: 2048 } })
  })
})

describe('tools', () => {
  test('carry name, description and schema, and the choice among them', () => {
    const { sent, told } = encode({
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
    expect(told).toEqual([])
  })

  test('are the same text for the same tools', () => {
    expect(encode({ tools: [f, g] }).text).toBe(encode({ tools: [f, g] }).text)
  })

  test.each<[string, string, Parameters<typeof encode>[0] & object, object | undefined, string[]]>([
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
  ])('choice: %s', (_, model, prompt, expected, told) => {
    const encoded = encode(prompt, { model })
    expect(encoded.sent.toolConfig?.toolChoice).toEqual(expected as Record<string, unknown>)
    expect(encoded.told).toEqual(told)
  })

  test('that may not be called are left out, unless the history shows calls', () => {
    expect(encode({ tools: [f], toolChoice: { type: 'none' } })).toMatchObject({ sent: {}, told: [] })
    expect(encode({ tools: [f], toolChoice: { type: 'none' } }).sent).not.toHaveProperty('toolConfig')
    const { sent, told } = encode({ tools: [f], toolChoice: { type: 'none' }, messages: called })
    expect(sent.toolConfig?.tools).toHaveLength(1)
    expect(told).toEqual(['mapped_field tool_choice'])
  })

  test('of the history are declared where the request has none', () => {
    const { sent, told } = encode({ messages: called })
    expect(sent.toolConfig).toEqual({ tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }] })
    expect(told).toEqual(['mapped_field tools'])
  })

  test('that a provider runs, and choices of nothing, are told', () => {
    const search = { type: 'provider', kind: 'web_search', at: 'tools[0]', raw: {} } as const
    expect(encode({ tools: [search], toolChoice: { type: 'required' } }).told).toEqual([
      'unsupported_field tools[0]',
      'unsupported_field tool_choice',
    ])
    expect(encode({ tools: [{ ...f, strict: true }] }, { model: NOVA }).told).toEqual(['unsupported_field tools[0].strict'])
  })
})

describe('the format of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } }
  const outputFormat = { type: 'json-schema', name: 'out', schema, description: 'D' } as const

  test('is a schema as JSON text', () => {
    const { sent, told } = encode({ outputFormat }, { model: GPT })
    expect(sent.outputConfig).toMatchObject({
      textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'out', description: 'D' } } },
    })
    const format = sent.outputConfig as { textFormat: { structure: { jsonSchema: { schema: string } } } }
    expect(JSON.parse(format.textFormat.structure.jsonSchema.schema)).toMatchObject({ type: 'object', additionalProperties: false })
    expect(told).toEqual(['mapped_field response_format'])
  })

  test.each<[string, 'chat' | 'responses' | 'messages', string]>([
    [NOVA, 'chat', 'response_format'],
    [LLAMA, 'responses', 'text.format'],
    ['anthropic.claude-3-5-sonnet-20240620-v1:0', 'messages', 'output_config.format'],
  ])('is told where %s cannot hold to it (%s)', (model, dialect, field) => {
    const { sent, told } = encode({ outputFormat }, { model, dialect })
    expect(sent).not.toHaveProperty('outputConfig')
    expect(told).toEqual([`unsupported_field ${field}`])
  })

  test('is told where it is JSON without a schema', () => {
    expect(encode({ outputFormat: { type: 'json' } }).told).toEqual(['unsupported_field response_format'])
  })
})
