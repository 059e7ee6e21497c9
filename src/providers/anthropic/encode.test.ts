import { describe, expect, test } from 'bun:test'

import { SETTING_SAMPLES } from '../../canonical/setting-samples.test-kit.ts'
import type { SettingName, SettingValues } from '../../canonical/settings.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import { encode, settingsOf } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const

describe('settings', () => {
  const samples: SettingValues = { ...SETTING_SAMPLES, serviceTier: 'default' }

  test.each(Object.keys(samples) as SettingName[])('%s meets the outcome that the loss table tells', (name) => {
    const outcome = SETTING_OUTCOMES[name].anthropic
    const given = { tools: [f], settings: settingsOf({ [name]: samples[name] }) }
    if (outcome === 'refused') {
      expect(() => encode(given)).toThrow(name)
      return
    }
    const { text, reported } = encode(given)
    const changed = text !== encode({ tools: [f] }).text
    const lost = reported.includes(`unsupported_field ${name}`)
    expect({ changed, lost }).toEqual({ changed: outcome !== 'dropped', lost: outcome === 'dropped' })
  })

  test('a field that the common form cannot express causes a warning', () => {
    expect(encode({ otherFields: ['novelty'] }).reported).toEqual(['unsupported_field novelty'])
  })

  test.each<[Partial<SettingValues>, string, Record<string, unknown>, readonly string[]]>([
    [{ temperature: 0, topK: 0 }, 'claude-sonnet-4-5', { temperature: 0, top_k: 0 }, []],
    [{ temperature: 1.4 }, 'claude-sonnet-4-5', { temperature: 1 }, ['mapped_field temperature']],
    [{ temperature: 0.3, topP: 0.9 }, 'claude-sonnet-4-5', { temperature: 0.3 }, ['unsupported_field topP']],
    [{ temperature: 0.3, topP: 0.9 }, 'claude-3-opus-20240229', { temperature: 0.3, top_p: 0.9 }, []],
    [
      { temperature: 0.3, topP: 0.9, topK: 3 },
      'claude-opus-5',
      {},
      ['unsupported_field temperature', 'unsupported_field topP', 'unsupported_field topK'],
    ],
    [{ temperature: 1, topP: 1 }, 'claude-opus-5', {}, []],
    [
      { temperature: 0.3, topP: 0.5, topK: 3, reasoning: { enabled: true } },
      'claude-haiku-4-5',
      {},
      ['unsupported_field temperature', 'unsupported_field topP', 'unsupported_field topK'],
    ],
    [{ topP: 0.97, reasoning: { enabled: true } }, 'claude-opus-4-6', { top_p: 0.97 }, []],
    [{ stop: ['a', ' ', '\n'] }, 'claude-opus-5', { stop_sequences: ['a'] }, ['unsupported_field stop']],
    [{ stop: [' '] }, 'claude-opus-5', {}, ['unsupported_field stop']],
    [{ user: 'u-1' }, 'claude-opus-5', { metadata: { user_id: 'u-1' } }, []],
    [{ user: 'u', safetyIdentifier: 's' }, 'claude-opus-5', { metadata: { user_id: 'u' } }, ['unsupported_field safetyIdentifier']],
    [{ safetyIdentifier: 's' }, 'claude-opus-5', { metadata: { user_id: 's' } }, []],
    [{ serviceTier: 'auto' }, 'claude-opus-5', { service_tier: 'auto' }, []],
    [{ serviceTier: 'default' }, 'claude-opus-5', { service_tier: 'standard_only' }, []],
    [{ serviceTier: 'priority' }, 'claude-opus-5', { service_tier: 'auto' }, ['mapped_field serviceTier']],
    [{ serviceTier: 'flex' }, 'claude-opus-5', {}, ['unsupported_field serviceTier']],
  ])('%j to %s', (values, model, sent, reported) => {
    const encoded = encode({ settings: settingsOf(values) }, { model })
    const rest = Object.fromEntries(
      Object.entries(encoded.sent).filter(([member]) => !['model', 'max_tokens', 'messages', 'thinking'].includes(member)),
    )
    expect([rest, encoded.reported]).toEqual([sent, [...reported]])
  })
})

test('stream is said where it was asked for, and the text is JSON without a gap', () => {
  expect(encode({}, { stream: true }).text).toBe(
    '{"model":"claude-sonnet-4-5","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}',
  )
})
