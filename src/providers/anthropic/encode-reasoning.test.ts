import { describe, expect, test } from 'bun:test'

import type { ReasoningSetting } from '../../canonical/settings.ts'
import { encode, settingsOf } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const

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
    // Models that take a budget.
    [{ effort: 'high' }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 16_384 }, undefined, []],
    [{ enabled: true }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 8192 }, undefined, []],
    [{ maxTokens: 2000 }, 'claude-opus-4-6', { type: 'enabled', budget_tokens: 2000 }, undefined, []],
    [{ maxTokens: 12 }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 1024 }, undefined, ['mapped_field reasoning']],
    [{ effort: 'low', exclude: true }, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 4096, display: 'omitted' }, undefined, []],
    [{ effort: 'low', exclude: true }, 'MiniMax-M3', { type: 'enabled', budget_tokens: 4096 }, undefined, []],
    // Models that take an effort and decide the budget themselves.
    [{ effort: 'medium' }, 'claude-opus-4-6', { type: 'adaptive' }, 'medium', []],
    [{ effort: 'xhigh' }, 'claude-opus-4-6', { type: 'adaptive' }, 'high', ['mapped_field reasoning']],
    [{ effort: 'xhigh' }, 'claude-opus-5-5', { type: 'adaptive', display: 'summarized' }, 'xhigh', []],
    [{ effort: 'minimal' }, 'claude-opus-5-5', { type: 'adaptive', display: 'summarized' }, 'low', ['mapped_field reasoning']],
    [{ maxTokens: 2000 }, 'claude-opus-5', { type: 'adaptive', display: 'summarized' }, undefined, ['mapped_field reasoning']],
    [{ enabled: true, exclude: true }, 'claude-opus-5', { type: 'adaptive', display: 'omitted' }, undefined, []],
    // A wish only to show thinking.
    [{ summary: 'auto' }, 'claude-opus-5', { type: 'adaptive', display: 'summarized' }, undefined, []],
    [{ summary: 'auto' }, 'claude-sonnet-4-5', undefined, undefined, []],
    // Thinking turned off.
    [{ effort: 'none' }, 'claude-sonnet-4-5', undefined, undefined, []],
    [{ enabled: false }, 'claude-opus-5', { type: 'disabled' }, undefined, []],
    [{ effort: 'none' }, 'claude-sonnet-5-5', { type: 'between_tools' }, undefined, ['mapped_field reasoning']],
    [{ effort: 'none' }, 'claude-opus-5-5', undefined, 'low', ['mapped_field reasoning']],
    // A model that does not think.
    [{ effort: 'high' }, 'claude-3-5-haiku-20241022', undefined, undefined, ['unsupported_field reasoning']],
  ])('%j to %s', (reasoning, model, thinking, effort, reported) => {
    const { sent, ...encoded } = encode({ settings: settingsOf({ reasoning }) }, { model })
    expect([sent['thinking'], (sent['output_config'] as { effort?: string } | undefined)?.effort, encoded.reported]).toEqual([
      thinking,
      effort,
      [...reported],
    ])
  })

  test.each<[number, number | undefined]>([
    [1024, undefined],
    [1025, 1024],
    [10_000, 8000],
    [100_000, 16_384],
  ])('a cap of %p is kept: the budget is %p', (maxOutputTokens, budget) => {
    const { sent, reported } = encode({ settings: settingsOf({ maxOutputTokens, reasoning: { effort: 'high' } }) })
    expect([sent.max_tokens, (sent['thinking'] as { budget_tokens?: number } | undefined)?.budget_tokens]).toEqual([
      maxOutputTokens,
      budget,
    ])
    expect(reported).toEqual(budget === undefined ? ['unsupported_field reasoning'] : [])
  })

  test('a demanded call of a tool wins over thinking where the model has to choose', () => {
    const given = { tools: [f], toolChoice: { type: 'required' }, settings: settingsOf({ reasoning: { effort: 'low' } }) } as const
    const older = encode(given, { model: 'claude-sonnet-4-5' })
    expect([older.sent['thinking'], older.sent['tool_choice'], older.reported]).toEqual([
      undefined,
      { type: 'any' },
      ['unsupported_field reasoning'],
    ])
    const adaptive = encode(given, { model: 'claude-opus-4-6' })
    expect([adaptive.sent['thinking'], adaptive.sent['tool_choice'], adaptive.reported]).toEqual([
      { type: 'adaptive' },
      { type: 'any' },
      [],
    ])
    const budget = { ...given, settings: settingsOf({ reasoning: { maxTokens: 2000 } }) }
    const budgeted = encode(budget, { model: 'claude-opus-4-6' })
    expect([budgeted.sent['thinking'], budgeted.reported]).toEqual([{ type: 'adaptive' }, ['mapped_field reasoning']])
    // Elsewhere, as at Bedrock, such a model refuses both kinds.
    expect(encode(given, { model: 'claude-opus-4-6', provider: 'acme' }).reported).toEqual(['unsupported_field reasoning'])
    const newer = encode(given, { model: 'claude-opus-5' })
    expect([newer.sent['thinking'], newer.sent['tool_choice'], newer.reported]).toEqual([
      { type: 'adaptive', display: 'summarized' },
      { type: 'any' },
      [],
    ])
  })

  test('a budget does not begin in the middle of calls that were made without thinking', () => {
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'u' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'c', text: 'x' }] },
    ] as const
    const settings = settingsOf({ reasoning: { effort: 'low' } })
    expect(encode({ messages, tools: [f], settings }).reported).toEqual(['unsupported_field reasoning'])
    expect(encode({ messages, tools: [f], settings }, { model: 'claude-opus-4-6' }).reported).toEqual([])
    // Models other than Claude can begin to think in the middle of a tool loop.
    const { sent, reported } = encode({ messages, tools: [f], settings }, { model: 'glm-4.7', provider: 'acme' })
    expect([sent['thinking'], reported]).toEqual([{ type: 'enabled', budget_tokens: 4096 }, []])
  })
})
