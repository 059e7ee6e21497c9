import { describe, expect, test } from 'bun:test'

import { atOnce } from '../../lib/steps.ts'
import type { Prompt, ProviderTool, Tool } from '../../canonical/prompt.ts'
import type { ReasoningSetting, SettingName, Settings, SettingValues } from '../../canonical/settings.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import { encodeBody } from './encode.ts'
import { encode, googleTarget, promptOf } from './encode.test-kit.ts'

const settings = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: name }]))

const fn = (name: string, more: object = {}): Tool => ({
  type: 'function',
  name,
  description: null,
  parameters: { type: 'object', properties: { a: {} } },
  ...more,
})
const search = (raw: object = {}): ProviderTool => ({
  type: 'provider',
  kind: 'web_search_20250305',
  at: 'tools[1]',
  raw: { type: 'web_search_20250305', name: 'web_search', ...raw },
})

describe('settings', () => {
  test('the encoder reads exactly what the loss table says is carried', () => {
    const read = new Set<SettingName>()
    const prompt = promptOf()
    const body = atOnce(
      encodeBody(
        {
          prompt,
          lose: () => undefined,
          mapped: () => undefined,
          refuse: () => {
            throw new Error('refused')
          },
          setting: (name) => {
            read.add(name)
            return undefined
          },
        },
        googleTarget,
        'chat',
      ),
    )
    const carried = Object.entries(SETTING_OUTCOMES).flatMap(([name, outcomes]) =>
      outcomes.google === 'kept' || outcomes.google === 'mapped' ? [name as SettingName] : [],
    )
    expect([...read].sort()).toEqual(carried.sort())
    expect(JSON.parse(JSON.stringify(body))).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: {} })
  })

  test.each<[Partial<SettingValues>, object]>([
    [
      { temperature: 0, topP: 0.5, topK: 7, seed: 0, maxOutputTokens: 9 },
      { temperature: 0, topP: 0.5, topK: 7, seed: 0, maxOutputTokens: 9 },
    ],
    [{ topK: 0, stop: [] }, {}],
    [{ seed: 2 ** 31 - 1 }, { seed: 2 ** 31 - 1 }],
    [{ stop: ['a', 'b'] }, { stopSequences: ['a', 'b'] }],
    [
      { logprobs: true, topLogprobs: 3 },
      { responseLogprobs: true, logprobs: 3 },
    ],
    [{ topLogprobs: 2 }, { responseLogprobs: true, logprobs: 2 }],
    [{ logprobs: false }, { responseLogprobs: false }],
    [{ outputModalities: ['text', 'image'] }, { responseModalities: ['TEXT', 'IMAGE'] }],
    [{ imageConfig: { aspect_ratio: '16:9', image_size: '2K' } }, { imageConfig: { aspectRatio: '16:9', imageSize: '2K' } }],
  ])('%j', (values, expected) => {
    const { body, losses } = encode({ settings: settings(values) })
    expect(body.generationConfig).toEqual(expected as Record<string, unknown>)
    expect(losses).toEqual([])
  })

  test.each<[string, Partial<SettingValues>, object, string]>([
    ['a seed above 32 bits', { seed: 2 ** 31 }, {}, 'seed: '],
    ['a seed below 32 bits', { seed: -(2 ** 31) - 1 }, {}, 'seed: '],
    ['more stop sequences than five', { stop: ['1', '2', '3', '4', '5', '6'] }, { stopSequences: ['1', '2', '3', '4', '5'] }, 'stop: '],
    [
      'an unknown word for an image',
      { imageConfig: { aspect_ratio: '1:1', strength: 0.5 } },
      { imageConfig: { aspectRatio: '1:1' } },
      'imageConfig.strength: ',
    ],
  ])('%s is told', (_, values, expected, field) => {
    const { body, losses } = encode({ settings: settings(values) })
    expect(body.generationConfig).toEqual(expected as Record<string, unknown>)
    expect(losses).toEqual([expect.stringContaining(field)])
  })

  test('penalties are left out and told, since no model takes them; one of zero changes nothing', () => {
    const { body, losses } = encode({ settings: settings({ presencePenalty: 1, frequencyPenalty: 0 }) })
    expect([body.generationConfig, losses]).toEqual([{}, [expect.stringContaining('presencePenalty: ')]])
  })

  test.each<[string, unknown, number]>([
    ['auto', undefined, 0],
    ['default', 'standard', 0],
    ['flex', 'flex', 0],
    ['fast', 'priority', 0],
    ['constructor', undefined, 1],
  ])('service tier %s', (tier, expected, lost) => {
    const { body, losses } = encode({ settings: settings({ serviceTier: tier }) })
    expect([body.serviceTier, losses.length]).toEqual([expected, lost])
  })

  test('400: more answers than one', () => {
    expect(() => encode({ settings: settings({ candidates: 2 }) })).toThrow('Google AI Studio cannot do this')
  })
})

describe('thinking', () => {
  const think = (model: string, reasoning: ReasoningSetting) => {
    const { body, losses } = encode({ settings: settings({ reasoning }) }, { model })
    return [body.generationConfig['thinkingConfig'], losses.length]
  }
  const level = (thinkingLevel: string, includeThoughts = true) => ({ includeThoughts, thinkingLevel })
  const budget = (thinkingBudget: number, includeThoughts = true) => ({ includeThoughts, thinkingBudget })

  test.each<[string, ReasoningSetting, unknown, number]>([
    ['gemini-3.5-flash', {}, { includeThoughts: true }, 0],
    ['gemini-3.5-flash', { enabled: true, exclude: true }, { includeThoughts: false }, 0],
    ['gemini-3.5-flash', { effort: 'minimal' }, level('minimal'), 0],
    ['gemini-3.1-flash-lite', { effort: 'none' }, level('minimal', false), 1],
    ['gemini-3.7-flash', { effort: 'minimal' }, level('low'), 1],
    ['gemini-3.1-pro-preview', { effort: 'medium', exclude: true }, level('medium', false), 0],
    ['gemini-3.1-pro-preview', { enabled: false }, level('low', false), 1],
    ['gemini-flash-latest', { effort: 'max' }, level('high'), 1],
    ['gemini-3.5-flash', { maxTokens: 1000 }, level('low'), 1],
    ['gemini-3.5-flash', { maxTokens: 8000 }, level('medium'), 1],
    ['gemini-3.5-flash', { maxTokens: 32_000, effort: 'low' }, level('low'), 1],
    ['gemini-3.5-flash', { maxTokens: 32_000 }, level('high'), 1],
    ['gemini-3.5-flash', { effort: 'odd' }, { includeThoughts: true }, 1],
    ['gemini-2.5-flash', { effort: 'none' }, budget(0, false), 0],
    ['gemini-2.5-flash', { effort: 'low' }, budget(1024), 0],
    ['gemini-2.5-flash', { effort: 'xhigh' }, budget(24_576), 0],
    ['gemini-2.5-flash', { maxTokens: 31_999 }, budget(24_576), 1],
    ['gemini-2.5-flash-lite', { maxTokens: 100 }, budget(512), 1],
    ['models/gemini-2.5-pro', { effort: 'xhigh' }, budget(32_768), 0],
    ['gemini-2.5-pro', { maxTokens: 0 }, budget(128, false), 1],
    ['gemini-2.0-flash', { effort: 'high' }, undefined, 1],
    ['gemini-2.0-flash', { effort: 'none' }, undefined, 0],
    ['gemma-3-27b-it', { effort: 'high' }, undefined, 1],
    ['gemma-4-31b-it', {}, { includeThoughts: true }, 0],
    ['gemma-4-31b-it', { enabled: true }, level('high'), 0],
    ['gemma-4-26b-a4b-it', { effort: 'high' }, level('high'), 0],
    ['gemma-4-31b-it', { effort: 'low' }, level('minimal'), 1],
    ['gemma-4-31b-it', { enabled: false }, level('minimal', false), 0],
    ['gemini-3.1-flash-image', { effort: 'medium' }, level('high'), 1],
    ['gemini-3.1-flash-lite-image', { effort: 'low' }, level('minimal'), 1],
    ['gemini-3.1-flash-image', { maxTokens: 8000 }, level('high'), 1],
    ['gemini-3.1-flash-image', { effort: 'none' }, level('minimal', false), 1],
    ['a-name-of-tomorrow', { effort: 'high' }, level('high'), 0],
  ])('%s, %j', (model, reasoning, config, lost) => {
    expect(think(model, reasoning)).toEqual([config, lost])
  })
})

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { kind: { const: 'a' } } }
  const json = {
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', properties: { kind: { type: 'string', enum: ['a'] } } },
  }
  const format: Prompt['outputFormat'] = { type: 'json-schema', name: 'n', schema }

  test('is JSON, or JSON of a schema', () => {
    expect(encode({ outputFormat: { type: 'json' } }).body.generationConfig).toEqual({ responseMimeType: 'application/json' })
    expect(encode({ outputFormat: format }).body.generationConfig).toEqual(json)
    expect(encode({ outputFormat: format, tools: [fn('f')] }).body.generationConfig).toEqual(json)
  })

  test('is described in its schema, since Google has no other place for that', () => {
    const described = (own: object) =>
      encode({ outputFormat: { ...format, schema: { ...schema, ...own }, description: 'A kind.' } }).body.generationConfig
    expect(described({})).toMatchObject({ responseJsonSchema: { description: 'A kind.', type: 'object' } })
    expect(described({ description: 'Its own.' })).toMatchObject({ responseJsonSchema: { description: 'Its own.' } })
  })

  test.each<[string, Partial<Prompt>, string]>([
    ['beside functions, where the model cannot', { tools: [fn('f')] }, 'gemini-2.5-pro'],
    ['where a function must be called', { tools: [fn('f')], toolChoice: { type: 'required' } }, 'gemini-3.5-flash'],
  ])('is left out and told %s', (_, more, model) => {
    const { body, losses } = encode({ outputFormat: format, ...more }, { model, dialect: 'responses' })
    expect(body.generationConfig).toEqual({})
    expect(losses).toEqual([expect.stringMatching(/^text\.format: /)])
  })
})

describe('tools', () => {
  test('functions are declared with their JSON Schema, in their order', () => {
    expect(
      encode({ tools: [fn('a', { description: 'A' }), fn('b', { parameters: { type: 'object', properties: {} } })] }).body.tools,
    ).toEqual([
      {
        functionDeclarations: [
          { name: 'a', description: 'A', parametersJsonSchema: { type: 'object', properties: { a: {} } } },
          { name: 'b' },
        ],
      },
    ])
  })

  test('the second function of one name is left out, and told', () => {
    const { body, losses } = encode({ tools: [fn('a', { description: 'A' }), search(), fn('a', { description: 'B' }), fn('b')] })
    expect(body.tools).toMatchObject([{ functionDeclarations: [{ name: 'a', description: 'A' }, { name: 'b' }] }])
    expect(losses.filter((loss) => loss.includes('named a'))).toEqual(['tools[2]: There is a tool named a already; this one was left out.'])
  })

  test.each<[Prompt['toolChoice'], boolean, unknown]>([
    [{ type: 'auto' }, false, undefined],
    [{ type: 'auto' }, true, { mode: 'VALIDATED' }],
    [{ type: 'none' }, true, { mode: 'NONE' }],
    [{ type: 'required' }, true, { mode: 'ANY' }],
    [{ type: 'tool', name: 'f' }, false, { mode: 'ANY', allowedFunctionNames: ['f'] }],
  ])('the choice %j, strict: %p', (toolChoice, strict, config) => {
    expect(encode({ tools: [fn('f', { strict })], toolChoice }).body.toolConfig).toEqual(
      config === undefined ? undefined : { functionCallingConfig: config },
    )
  })

  test('a choice without functions is left out, with a warning if it forced one', () => {
    expect(encode({ toolChoice: { type: 'none' } }).losses).toEqual([])
    const { body, losses } = encode({ toolChoice: { type: 'required' } })
    expect([body.toolConfig, losses.length]).toEqual([undefined, 1])
  })

  test.each(['web_search', 'web_search_preview_2025_03_11', 'openrouter:web_search', 'service:web_search'])(
    '%s is Google’s search',
    (kind) => {
      const { body, losses } = encode({
        tools: [{ type: 'provider', kind, at: 'tools[0]', raw: { type: kind, engine: 'native', parameters: {} } }],
      })
      expect([body.tools, losses]).toEqual([[{ googleSearch: {} }], []])
    },
  )

  test('the option that asks for a search is one, too', () => {
    const { body, losses } = encode({ settings: settings({ webSearchOptions: { search_context_size: 'low' } }) })
    expect([body.tools, losses.map((loss) => loss.split(':')[0])]).toEqual([
      [{ googleSearch: {} }],
      ['webSearchOptions.search_context_size'],
    ])
    expect(encode({ settings: settings({ webSearchOptions: {} }) }).losses).toEqual([])
  })

  test('what a search cannot do as asked, and every other provider’s tool, is told', () => {
    const other: ProviderTool = { type: 'provider', kind: 'bash_20250124', at: 'tools[0]', raw: {} }
    const { body, losses } = encode({ tools: [other, search({ max_uses: 8, allowed_domains: ['x'] })] })
    expect(body.tools).toEqual([{ googleSearch: {} }])
    expect(losses.map((loss) => loss.split(':')[0])).toEqual(['tools[0]', 'tools[1].max_uses', 'tools[1].allowed_domains'])
  })

  test('a search beside functions is left out and told', () => {
    const { body, losses } = encode({ tools: [fn('f'), search()] })
    expect([JSON.stringify(body.tools).includes('googleSearch'), losses.map((loss) => loss.split(':')[0])]).toEqual([false, ['tools[1]']])
  })
})
