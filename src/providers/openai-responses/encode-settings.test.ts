import { describe, expect, test } from 'bun:test'

import { atOnce } from '../../lib/steps.ts'
import { SETTING_SAMPLES } from '../../canonical/setting-samples.test-kit.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import { encode, promptOf, set, target } from './encode.test-kit.ts'
import { encodePrompt } from './encode.ts'

describe('settings', () => {
  const EVERY: SettingValues = {
    ...SETTING_SAMPLES,
    temperature: 0,
    maxOutputTokens: 100,
    topLogprobs: 0,
    candidates: 1,
    serviceTier: 'flex',
    user: 'u',
    safetyIdentifier: 's',
    outputModalities: ['text'],
    webSearchOptions: {},
    imageConfig: {},
  }

  test('that the loss table keeps or maps are read, and no others', () => {
    const read = new Set<string>()
    const prompt = promptOf({})
    atOnce(
      encodePrompt(
        {
          prompt,
          lose: () => undefined,
          mapped: () => undefined,
          refuse: () => {
            throw new Error('refused')
          },
          setting: (name) => {
            read.add(name)
            return EVERY[name]
          },
        },
        { call: { dialect: 'chat' } as never, target: target(), warn: () => undefined },
      ),
    )
    const carried = Object.entries(SETTING_OUTCOMES).flatMap(([name, outcomes]) =>
      ['kept', 'mapped'].includes(outcomes['openai-responses']) ? [name] : [],
    )
    expect([...read].toSorted()).toEqual(carried.toSorted())
  })

  test('arrive under the names of the dialect, zero and empty ones too', () => {
    const { candidates: _, compaction: _refused, inferenceGeo: _geo, moderation: _moderated, ...others } = EVERY
    const settings = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { value, field: name }])) as Settings
    const { sent, lost } = encode({ settings }, { model: 'local-model' })
    expect(sent).toEqual({
      model: 'local-model',
      input: [],
      tools: [{ type: 'web_search' }],
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
      top_logprobs: 0,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      include: ['file_search_call.results', 'reasoning.encrypted_content', 'message.output_text.logprobs'],
      parallel_tool_calls: false,
      service_tier: 'flex',
      metadata: { a: 'b' },
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      truncation: 'auto',
      stream: false,
      store: false,
    })
    expect(lost).toContain('stop')
  })

  test('both names of the end user arrive, and one alone goes under the newer word', () => {
    const both = { ...set('user', 'u'), ...set('safetyIdentifier', 's') }
    expect(encode({ settings: both }).sent).toMatchObject({ user: 'u', safety_identifier: 's' })
    expect(encode({ settings: set('user', 'u') }).sent['safety_identifier']).toBe('u')
    expect(encode({ settings: set('safetyIdentifier', 's') }).sent['safety_identifier']).toBe('s')
  })

  test('400: more than one answer', () => {
    expect(() => encode({ settings: set('candidates', 2, 'n') })).toThrow(/^n: OpenAI/)
  })

  test.each<[Settings, JsonObject, string[]]>([
    [set('maxOutputTokens', 1, 'max_tokens'), { max_output_tokens: 16 }, ['mapped_field max_tokens']],
    [set('maxOutputTokens', 16, 'max_tokens'), { max_output_tokens: 16 }, []],
    [set('verbosity', 'max'), {}, ['unsupported_field verbosity']],
    [set('serviceTier', 'fast', 'speed'), { service_tier: 'priority' }, ['mapped_field speed']],
    [set('user', 'u'.repeat(64)), { safety_identifier: 'u'.repeat(64) }, []],
    [set('user', 'u'.repeat(150)), { safety_identifier: '816752062318c8f216b0d347163d40e917a8c522ce07be3d0ebc80db6132fc5b' }, []],
    [
      set('metadata', { a: 'b', c: 1, d: 'x'.repeat(513) }),
      { metadata: { a: 'b' } },
      ['unsupported_field metadata.c', 'unsupported_field metadata.d'],
    ],
    [set('topLogprobs', 3), { top_logprobs: 3, include: ['message.output_text.logprobs'] }, []],
  ])('%j becomes %j', (settings, expected, reported) => {
    const { sent, warnings } = encode({ settings }, { model: 'gpt-4.1' })
    const { model: _, input: __, stream: ___, store: ____, ...others } = sent
    expect(others).toEqual(expected)
    expect(warnings.map(({ code, field }) => `${code} ${field}`)).toEqual(reported)
  })

  test('what the common form cannot express causes a warning', () => {
    expect(encode({ otherFields: ['functions'] }).lost).toEqual(['functions'])
  })

  test.each<[Prompt['outputFormat'], JsonObject | undefined]>([
    [{ type: 'text' }, undefined],
    [{ type: 'json' }, { format: { type: 'json_object' } }],
    [
      { type: 'json-schema', name: 'a', schema: { type: 'object' } },
      { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
    ],
    [
      { type: 'json-schema', name: 'a', schema: {}, strict: false, description: 'd' },
      { format: { type: 'json_schema', name: 'a', description: 'd', schema: {}, strict: false } },
    ],
  ])('the format %j is %j', (outputFormat, expected) => {
    expect(encode({ outputFormat }).sent['text']).toEqual(expected as never)
  })
})
