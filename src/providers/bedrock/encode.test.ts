import { describe, expect, test } from 'bun:test'

import { SETTING_SAMPLES } from '../../canonical/setting-samples.test-kit.ts'
import type { SettingName, SettingValues } from '../../canonical/settings.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import { CLAUDE, encode, GPT, LLAMA, MISTRAL, NOVA, settingsOf, type Sent } from './encode.test-kit.ts'

const f = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } as const

describe('settings', () => {
  test.each(Object.keys(SETTING_SAMPLES) as SettingName[])('%s meets the outcome that the loss table tells', (name) => {
    const outcome = SETTING_OUTCOMES[name].bedrock
    const given = { tools: [f], settings: settingsOf({ [name]: SETTING_SAMPLES[name] }) }
    if (outcome === 'refused') {
      expect(() => encode(given)).toThrow(name)
      return
    }
    const { text, reported } = encode(given)
    const changed = text !== encode({ tools: [f] }).text
    const lost = reported.includes(`unsupported_field ${name}`)
    expect({ changed, lost }).toEqual({ changed: outcome !== 'dropped', lost: outcome === 'dropped' })
  })

  test('have their places', () => {
    const { sent, reported } = encode({
      settings: settingsOf({
        maxOutputTokens: 1,
        temperature: 0,
        topK: 0,
        stop: ['a', 'b'],
        metadata: { team: 'x y' },
        serviceTier: 'flex',
      }),
    })
    expect(sent).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 1, temperature: 0, stopSequences: ['a', 'b'] },
      additionalModelRequestFields: { top_k: 0 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      requestMetadata: { team: 'x y' },
      serviceTier: { type: 'flex' },
    })
    expect(reported).toEqual([])
  })

  test('a stream tells elsewhere which sequence ended it', () => {
    const { sent } = encode({ settings: settingsOf({ stop: ['a'] }) }, { stream: true })
    expect(sent['additionalModelResponseFieldPaths']).toEqual(['/delta/stop_sequence'])
  })

  test.each<[string, string, Partial<SettingValues>, Omit<Sent, 'messages'>, string[]]>([
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
  ])('%s', (_, model, settings, expected, reported) => {
    const encoded = encode({ settings: settingsOf(settings) }, { model })
    const { messages, ...rest } = encoded.sent
    expect(messages).toHaveLength(1)
    expect(rest).toEqual(expected)
    expect(encoded.reported).toEqual(reported)
  })

  test('fields that the common form cannot express cause warnings', () => {
    expect(encode({ otherFields: ['weird'] }).reported).toEqual(['unsupported_field weird'])
  })
})

describe('the format of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } }
  const outputFormat = { type: 'json-schema', name: 'out', schema, description: 'D' } as const

  test('is a schema as JSON text', () => {
    const { sent, reported } = encode({ outputFormat }, { model: GPT })
    expect(sent.outputConfig).toMatchObject({
      textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'out', description: 'D' } } },
    })
    const format = sent.outputConfig as { textFormat: { structure: { jsonSchema: { schema: string } } } }
    expect(JSON.parse(format.textFormat.structure.jsonSchema.schema)).toMatchObject({ type: 'object', additionalProperties: false })
    expect(reported).toEqual(['mapped_field response_format'])
  })

  test.each<[string, 'chat' | 'responses' | 'messages', string]>([
    [NOVA, 'chat', 'response_format'],
    [LLAMA, 'responses', 'text.format'],
    ['anthropic.claude-3-5-sonnet-20240620-v1:0', 'messages', 'output_config.format'],
  ])('is told where %s cannot hold to it (%s)', (model, dialect, field) => {
    const { sent, reported } = encode({ outputFormat }, { model, dialect })
    expect(sent).not.toHaveProperty('outputConfig')
    expect(JSON.stringify(sent['system'])).toContain('JSON Schema')
    expect(reported).toEqual([`mapped_field ${field}`])
  })

  test('JSON without a schema is asked for in words', () => {
    const { sent, reported } = encode({ outputFormat: { type: 'json' } })
    expect(sent['system']).toEqual([{ text: expect.stringContaining('one JSON object') }])
    expect(reported).toEqual(['mapped_field response_format'])
  })
})
