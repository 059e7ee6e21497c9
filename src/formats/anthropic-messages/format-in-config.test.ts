import { describe, expect, test } from 'bun:test'

import type { PresetContent } from '../../contract/preset.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { atOnce } from '../../lib/steps.ts'
import { applyPreset } from '../apply-preset.ts'
import { messagesFormat } from './anthropic-messages.ts'

const formatOf = (title: string) => ({ type: 'json_schema', schema: { type: 'object', title } })
const [ONE, TWO] = [formatOf('one'), formatOf('two')]
const MESSAGES = [{ role: 'user', content: 'Hi' }]

const parse = (fields: object) =>
  atOnce(messagesFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', max_tokens: 9, messages: MESSAGES, ...fields })))).call

describe('output_format, the earlier place for the format of an answer', () => {
  test.each<[string, object, JsonObject]>([
    ['alone', { output_format: ONE }, { format: ONE }],
    ['beside an effort', { output_format: ONE, output_config: { effort: 'low' } }, { effort: 'low', format: ONE }],
    ['beside a format in the newer place, which wins', { output_format: ONE, output_config: { format: TWO } }, { format: TWO }],
    ['of null', { output_format: null, output_config: { effort: 'low' } }, { effort: 'low' }],
  ])('%s', (_, fields, config) => {
    const { body, prompt } = parse(fields)
    expect([body.has('output_format'), body.value('output_config')]).toEqual([false, config])
    expect(prompt().otherFields).toEqual([])
  })

  test('400: one that is no schema', () => {
    expect(() => parse({ output_format: { type: 'json_object' } })).toThrow('output_format')
  })

  const merge = (config: PresetContent['config'], fields: object) => {
    const body = JsonBody.read(JSON.stringify({ messages: MESSAGES, ...fields }))
    const applied = atOnce(
      applyPreset('messages', body, { shape: 'messages', config: { model: 'a/b', ...config }, systemPrompt: null }, null),
    )
    const call = atOnce(messagesFormat.parseCall(applied.body)).call
    const output = call.body.value('output_config') as { format?: unknown; effort?: unknown } | undefined
    return {
      format: output?.format,
      effort: output?.effort,
      warned: applied.warnings.map(({ field }) => field),
    }
  }

  test('a preset keeps it, and either place of the request wins over either place of the preset', () => {
    expect(messagesFormat.presetContent({ model: 'a/b', output_format: ONE }).content.config).toEqual({ model: 'a/b', output_format: ONE })
    expect(merge({ output_format: ONE }, {}).format).toEqual(ONE)
    for (const preset of [{ output_format: ONE }, { output_config: { format: ONE } }])
      for (const request of [{ output_format: TWO }, { output_config: { format: TWO } }]) expect(merge(preset, request).format).toEqual(TWO)
  })

  test('the effort of a preset stays beside it, as it does not beside an output_config of the request', () => {
    const preset = { output_config: { effort: 'high', format: ONE } }
    expect(merge(preset, { output_format: TWO })).toMatchObject({ effort: 'high', format: TWO })
    expect(merge(preset, { output_config: { format: TWO } })).toMatchObject({ effort: undefined, format: TWO })
    expect(merge(preset, { output_format: null })).toMatchObject({ effort: 'high', format: ONE })
  })

  test('a lock on either place holds both', () => {
    for (const name of ['output_config', 'output_format'])
      for (const preset of [{ output_format: ONE }, { output_config: { format: ONE } }])
        for (const request of [{ output_format: TWO }, { output_config: { format: TWO } }]) {
          const { format, warned } = merge({ ...preset, locked: [name] }, request)
          expect(format).toEqual(ONE)
          expect(warned).not.toEqual([])
        }
  })
})
