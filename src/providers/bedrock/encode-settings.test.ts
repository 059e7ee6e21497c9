import { describe, expect, test } from 'bun:test'

import type { ReasoningSetting } from '../../canonical/settings.ts'
import { CLAUDE, encode, GPT, GPT_6, LLAMA, MISTRAL, NOVA, NOVA_2, settingsOf, type Sent } from './encode.test-kit.ts'

const DEEPSEEK = 'deepseek.v3-v1:0'

describe('thinking', () => {
  test.each<[string, string, ReasoningSetting, Omit<Sent, 'messages'>, string[]]>([
    [
      'a budget for Claude 4.5',
      CLAUDE,
      { maxTokens: 2048 },
      {
        inferenceConfig: { maxTokens: 10_240 },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } },
        additionalModelResponseFieldPaths: ['/usage/output_tokens_details'],
      },
      [],
    ],
    [
      'an effort for Claude 4.7, with no cap that nobody asked for',
      'anthropic.claude-opus-4-7-v1:0',
      { effort: 'high' },
      {
        additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
        additionalModelResponseFieldPaths: ['/usage/output_tokens_details'],
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
      'the word of OpenAI’s newer models',
      GPT_6,
      { effort: 'xhigh' },
      { additionalModelRequestFields: { reasoning: { effort: 'xhigh' } } },
      [],
    ],
    [
      'the effort of Grok',
      'us.xai.grok-4.6',
      { effort: 'max' },
      { additionalModelRequestFields: { reasoning: { effort: 'xhigh' } } },
      ['mapped_field reasoning'],
    ],
    [
      'as little of Grok as can be',
      'us.xai.grok-4.6',
      { enabled: false },
      { additionalModelRequestFields: { reasoning: { effort: 'low' } } },
      ['mapped_field reasoning'],
    ],
    ['none of one that can do without', GPT_6, { enabled: false }, { additionalModelRequestFields: { reasoning: { effort: 'none' } } }, []],
    [
      'the config of Nova 2',
      NOVA_2,
      { effort: 'high' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } },
      [],
    ],
    ['none of Nova 2', NOVA_2, { enabled: false }, { additionalModelRequestFields: { reasoningConfig: { type: 'disabled' } } }, []],
    ['an effort of DeepSeek V3.1', DEEPSEEK, { effort: 'medium' }, { additionalModelRequestFields: { reasoning_config: 'medium' } }, []],
    ['none of DeepSeek V3.1', DEEPSEEK, { enabled: false }, {}, []],
    [
      'the nearest effort of Qwen3 32B',
      'qwen.qwen3-32b-v1:0',
      { effort: 'xhigh' },
      { additionalModelRequestFields: { reasoning_config: 'high' } },
      ['mapped_field reasoning'],
    ],
    ['nothing of Qwen3 Coder', 'qwen.qwen3-coder-30b-a3b-v1:0', { effort: 'low' }, {}, ['unsupported_field reasoning']],
    [
      'an effort of Kimi K3',
      'global.moonshotai.kimi-k3',
      { effort: 'max' },
      { additionalModelRequestFields: { reasoning_effort: 'max' } },
      [],
    ],
    [
      'as little of GLM 5.3 as can be',
      'us.zai.glm-5.3',
      { effort: 'none' },
      { additionalModelRequestFields: { reasoning_effort: 'low' } },
      ['mapped_field reasoning'],
    ],
    ['nothing of Nova 1', NOVA, { effort: 'low' }, {}, ['unsupported_field reasoning']],
    ['nothing of Llama', LLAMA, { effort: 'low' }, {}, ['unsupported_field reasoning']],
  ])('is asked for: %s', (_, model, reasoning, expected, reported) => {
    const { sent, reported: heard } = encode({ settings: settingsOf({ reasoning }) }, { model })
    const { messages, ...rest } = sent
    expect(messages).toHaveLength(1)
    expect(rest).toEqual(expected)
    expect(heard).toEqual(reported)
  })

  test('gives way to a cap, which Nova 2 takes up to a medium effort only', () => {
    const { sent, reported } = encode({ settings: settingsOf({ reasoning: { effort: 'high' }, maxOutputTokens: 50 }) }, { model: NOVA_2 })
    expect(sent.inferenceConfig).toEqual({ maxTokens: 50 })
    expect(sent.additionalModelRequestFields).toEqual({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } })
    expect(reported).toEqual(['mapped_field reasoning'])
  })

  test('of Claude is known by our id of the model where its address says nothing', () => {
    const model = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123'
    const { sent } = encode({ settings: settingsOf({ reasoning: { maxTokens: 2048 } }) }, { model, modelId: 'anthropic/claude-sonnet-4.5' })
    expect(sent.additionalModelRequestFields).toEqual({ thinking: { type: 'enabled', budget_tokens: 2048 } })
  })
})

describe('a model that refuses settings which others take', () => {
  test.each([
    ['us.openai.gpt-5.5', 1, 16],
    ['us.openai.gpt-5.5', 16, 16],
    ['us.xai.grok-4.7', 1, 16],
    ['global.moonshotai.kimi-k3', 5, 16],
    [GPT, 1, 1],
    [CLAUDE, 1, 1],
  ])('%s gets, for a cap of %i, one of %i', (model, maxOutputTokens, sent) => {
    const encoded = encode({ settings: settingsOf({ maxOutputTokens }) }, { model })
    expect(encoded.sent.inferenceConfig).toEqual({ maxTokens: sent })
    expect(encoded.reported).toEqual(sent === maxOutputTokens ? [] : ['mapped_field maxOutputTokens'])
  })

  test.each([GPT_6, 'us.xai.grok-4.6'])(
    '%s gets no temperature and no top_p, with a warning where they would have changed something',
    (model) => {
      const { sent, reported } = encode({ settings: settingsOf({ temperature: 0.2, topP: 1 }) }, { model })
      expect([sent.inferenceConfig, reported]).toEqual([undefined, ['unsupported_field temperature']])
    },
  )
})

describe('stop sequences', () => {
  const settings = settingsOf({ stop: ['END'] })

  test.each([CLAUDE, NOVA, LLAMA, MISTRAL])('go to %s', (model) => {
    const { sent, reported } = encode({ settings }, { model })
    expect([sent.inferenceConfig, reported]).toEqual([{ stopSequences: ['END'] }, []])
  })

  test.each([
    GPT,
    'qwen.qwen3-coder-480b-a35b-v1:0',
    'deepseek.v3-v1:0',
    'moonshotai.kimi-k2.5',
    'minimax.minimax-m2',
    'google.gemma-3-27b-it',
  ])('are left out for %s, which refuses them', (model) => {
    const { sent, reported } = encode({ settings }, { model })
    expect([sent.inferenceConfig, reported]).toEqual([undefined, ['unsupported_field stop']])
    expect(encode({ settings: settingsOf({ stop: [] }) }, { model }).reported).toEqual([])
  })
})
