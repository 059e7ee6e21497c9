import { describe, expect, test } from 'bun:test'

import { atOnce } from '../../lib/steps.ts'
import { SETTING_SAMPLES } from '../../canonical/setting-samples.test-kit.ts'
import type { FunctionTool, Prompt } from '../../canonical/prompt.ts'
import type { ReasoningSetting, Settings, SettingValues } from '../../canonical/settings.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import { vendorOf, vendorsOf } from '../vendors/vendors.ts'
import { encode, promptOf, targetOf } from './encode.test-kit.ts'
import { encodePrompt } from './encode.ts'

const EVERY: SettingValues = {
  ...SETTING_SAMPLES,
  temperature: 0,
  topK: 1,
  topA: 1,
  minP: 0,
  frequencyPenalty: -0.5,
  presencePenalty: 0.5,
  seed: 0,
  maxOutputTokens: 100,
  stop: ['END'],
  logitBias: {},
  topLogprobs: 0,
  serviceTier: 'flex',
  user: 'u',
  safetyIdentifier: 's',
  outputModalities: ['audio'],
  audioOutput: { voice: 'v' },
  prediction: {},
  include: [],
  webSearchOptions: {},
  imageConfig: {},
  promptCacheOptions: {},
}

const tool: FunctionTool = {
  type: 'function',
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object' },
  strict: false,
  cache: {},
}

const settingsOf = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: `their.${name}` }]))

const request = (more: Partial<Prompt>, vendor: string, stream = false): object => {
  const { model: _, messages: _messages, ...rest } = encode(more, { vendor, stream }).sent
  return rest
}

describe('settings', () => {
  test('that the loss table keeps or maps are read, and no others', () => {
    const read = new Set<string>()
    atOnce(
      encodePrompt(
        {
          prompt: promptOf({ tools: [tool] }),
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
        {
          call: { dialect: 'messages' } as never,
          target: targetOf('openrouter'),
          number: 0,
          warn: () => undefined,
          connection: new AbortController(),
        },
        vendorOf('openrouter'),
      ),
    )
    // A request with one of these settings was refused before anything is encoded.
    read.delete('inferenceGeo')
    read.delete('moderation')
    const carried = Object.entries(SETTING_OUTCOMES).flatMap(([name, outcomes]) =>
      ['kept', 'mapped'].includes(outcomes['openai-chat']) ? [name] : [],
    )
    expect([...read].toSorted()).toEqual(carried.toSorted())
  })

  test('arrive under the names of the dialect, zero and empty ones too', () => {
    const {
      truncation: _t,
      include: _i,
      contextManagement: _c,
      safeguards: _s,
      compaction: _refused,
      inferenceGeo: _geo,
      moderation: _moderated,
      // OpenRouter's reference does not have it.
      promptCacheRetention: _retention,
      ...carried
    } = EVERY
    const { sent, lost } = encode({ settings: settingsOf(carried), tools: [tool] }, { vendor: 'openrouter' })
    expect(lost).toEqual([])
    expect(sent).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      top_k: 1,
      min_p: 0,
      seed: 0,
      max_tokens: 100,
      stop: ['END'],
      logit_bias: {},
      top_logprobs: 0,
      n: 2,
      reasoning: { effort: 'low' },
      parallel_tool_calls: false,
      modalities: ['audio'],
      cache_control: { type: 'ephemeral' },
    })
  })

  test('each has an outcome at every vendor: sent, reported or refused, under the field that the client wrote', () => {
    for (const vendor of ['acme', ...vendorsOf('chat').filter((slug) => slug !== 'openrouter')]) {
      for (const name of Object.keys(EVERY) as (keyof SettingValues)[]) {
        const settings = settingsOf({ [name]: EVERY[name] })
        if (SETTING_OUTCOMES[name]['openai-chat'] === 'refused') {
          expect(() => encode({ settings, tools: [tool] }, { vendor })).toThrow(`their.${name}`)
          continue
        }
        const { sent, lost } = encode({ settings, tools: [tool] }, { vendor })
        const { sent: without } = encode({ tools: [tool] }, { vendor })
        const arrived = Object.keys(sent).length > Object.keys(without).length
        expect({ vendor, name, outcome: arrived || lost.includes(`their.${name}`) }).toEqual({ vendor, name, outcome: true })
      }
    }
  })

  test('the chances of other tokens are asked for with those of the chosen ones, also at a server of which nothing is known', () => {
    for (const vendor of ['acme', 'vllm', 'openai', 'openrouter']) {
      expect(request({ settings: settingsOf({ topLogprobs: 3 }) }, vendor)).toMatchObject({ logprobs: true, top_logprobs: 3 })
    }
  })

  test('parallel calls without tools are not spoken of', () => {
    expect(request({ settings: settingsOf({ parallelToolCalls: false }) }, 'openai')).toEqual({})
  })

  test.each([
    ['openai', { max_completion_tokens: 100, seed: 0 }],
    ['azure', { max_completion_tokens: 100, seed: 0 }],
    ['groq', { max_completion_tokens: 100, seed: 0 }],
    ['cerebras', { max_completion_tokens: 100, seed: 0 }],
    ['mistral', { max_tokens: 100, random_seed: 0 }],
    ['ollama', { max_tokens: 100, seed: 0 }],
    ['acme', { max_tokens: 100, seed: 0 }],
  ])('%s: names as the vendor has them', (vendor, sent) => {
    expect(request({ settings: settingsOf({ maxOutputTokens: 100, seed: 0 }) }, vendor)).toEqual(sent)
  })

  test('usage is asked for in a stream where that takes asking', () => {
    expect(request({}, 'openai', true)).toEqual({ stream: true, stream_options: { include_usage: true } })
    expect(request({}, 'mistral', true)).toEqual({ stream: true })
    expect(request({}, 'openai')).toEqual({})
  })
})

describe('reasoning', () => {
  test.each<[string, ReasoningSetting, object, readonly string[]]>([
    ['openai', { effort: 'xhigh' }, { reasoning_effort: 'xhigh' }, []],
    ['openai', { enabled: false }, { reasoning_effort: 'none' }, []],
    ['openai', { maxTokens: 2000 }, { reasoning_effort: 'low' }, ['mapped_field']],
    ['openai', { effort: 'low', summary: 'auto' }, { reasoning_effort: 'low' }, ['unsupported_field']],
    ['openai', { enabled: true }, {}, []],
    [
      'openrouter',
      { effort: 'high', maxTokens: 5, summary: 'auto', exclude: true },
      { reasoning: { effort: 'high', summary: 'auto', exclude: true } },
      ['mapped_field'],
    ],
    ['openrouter', { maxTokens: 2000 }, { reasoning: { max_tokens: 2000 } }, []],
    ['groq', { effort: 'xhigh' }, { reasoning_effort: 'high' }, ['mapped_field']],
    ['groq', { effort: 'minimal' }, { reasoning_effort: 'low' }, ['mapped_field']],
    ['mistral', { effort: 'low' }, { reasoning_effort: 'high' }, ['mapped_field']],
    ['mistral', { effort: 'none' }, { reasoning_effort: 'none' }, []],
    ['deepseek', { effort: 'high' }, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, []],
    ['deepseek', { effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    ['moonshot', { effort: 'high' }, { reasoning_effort: 'high' }, []],
    ['moonshot', { enabled: true }, { thinking: { type: 'enabled' } }, []],
    ['moonshot', { enabled: false }, { thinking: { type: 'disabled' } }, []],
    ['together', { enabled: false }, { reasoning: { enabled: false } }, []],
    ['alibaba', { maxTokens: 2000 }, { enable_thinking: true, thinking_budget: 2000 }, []],
    ['alibaba', { effort: 'high' }, { enable_thinking: true }, ['unsupported_field']],
    ['zai', { enabled: false }, { thinking: { type: 'disabled' } }, []],
    ['acme', { effort: 'low', summary: 'auto' }, { reasoning_effort: 'low' }, []],
    ['acme', { effort: 'low', exclude: true }, { reasoning_effort: 'low' }, []],
  ])('%s: %o', (vendor, value, sent, codes) => {
    const settings: Settings = { reasoning: { value, field: 'thinking' } }
    const { warnings } = encode({ settings }, { vendor })
    expect(request({ settings }, vendor)).toEqual(sent)
    expect(warnings.map(({ code }) => code)).toEqual(codes as never)
    expect(warnings.every(({ field }) => field === 'thinking')).toBe(true)
  })
})

describe('tools', () => {
  const search = {
    type: 'provider',
    kind: 'web_search_20250305',
    at: 'tools[1]',
    raw: { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
  } as const
  const encoded = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: false } }

  test('are functions with their schemas', () => {
    expect(request({ tools: [{ ...tool, description: null }], toolChoice: { type: 'tool', name: 'look' } }, 'openai')).toEqual({
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} }, strict: false } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
    })
  })

  test('are marked for the cache where the vendor takes marks there', () => {
    expect(request({ tools: [tool] }, 'openrouter')).toEqual({ tools: [{ ...encoded, cache_control: { type: 'ephemeral' } }] })
    expect(encode({ tools: [tool] }, { vendor: 'alibaba' }).lost).toEqual(['tools'])
  })

  test('of a provider become the vendor’s own where it has them, else a warning', () => {
    expect(request({ tools: [search] }, 'openrouter')).toEqual({ tools: [{ type: 'openrouter:web_search', parameters: { max_uses: 3 } }] })
    expect(request({ tools: [search] }, 'alibaba')).toEqual({ enable_search: true })
    expect(encode({ tools: [search] }, { vendor: 'alibaba' }).lost).toEqual(['tools[1].max_uses'])
    const { sent, lost } = encode({ tools: [search], toolChoice: { type: 'required' } }, { vendor: 'groq' })
    expect([Object.keys(sent), lost]).toEqual([
      ['model', 'messages'],
      ['tools[1]', 'tool_choice'],
    ])
  })

  test.each<[string, object, object, string[]]>([
    [
      'openrouter',
      { filters: { allowed_domains: ['a.b'] }, search_context_size: 'low', user_location: { type: 'approximate', city: 'Graz' } },
      {
        tools: [
          {
            type: 'openrouter:web_search',
            parameters: { search_context_size: 'low', user_location: { type: 'approximate', city: 'Graz' }, allowed_domains: ['a.b'] },
          },
        ],
      },
      [],
    ],
    [
      'openrouter',
      { blocked_domains: ['a.b'], max_uses: 2, allowed_callers: ['direct'] },
      { tools: [{ type: 'openrouter:web_search', parameters: { max_uses: 2, excluded_domains: ['a.b'] } }] },
      [],
    ],
    [
      'openrouter',
      { engine: 'native', external_web_access: true },
      { tools: [{ type: 'openrouter:web_search', parameters: { engine: 'native' } }] },
      [],
    ],
    [
      'openrouter',
      { allowed_domains: ['a.b'], blocked_domains: ['c.d'], external_web_access: false },
      { tools: [{ type: 'openrouter:web_search', parameters: { allowed_domains: ['a.b'] } }] },
      ['tools[1].external_web_access', 'tools[1]'],
    ],
    [
      'perplexity',
      { user_location: { type: 'approximate', country: 'AT' }, blocked_domains: ['a.b'] },
      { web_search_options: { user_location: { country: 'AT' } }, search_domain_filter: ['-a.b'] },
      [],
    ],
    [
      'perplexity',
      { filters: { allowed_domains: Array.from({ length: 21 }, (_, at) => `${at}.b`) } },
      { web_search_options: {}, search_domain_filter: Array.from({ length: 20 }, (_, at) => `${at}.b`) },
      ['tools[1]'],
    ],
    ['alibaba', { search_context_size: 'low' }, { enable_search: true }, ['tools[1].search_context_size']],
  ])('%s: a search with %j has the options that its vendor knows, in its words', (vendor, options, expected, reported) => {
    const tools = [{ ...search, raw: { type: 'web_search', ...options } }]
    expect(request({ tools }, vendor)).toEqual(expected as never)
    expect(encode({ tools }, { vendor }).lost).toEqual(reported)
  })

  test('cannot be forced on a vendor without the word', () => {
    const { sent, lost } = encode({ tools: [tool], toolChoice: { type: 'required' } }, { vendor: 'moonshot' })
    expect([sent['tool_choice'], lost]).toEqual([undefined, ['tools', 'tool_choice']])
  })
})

describe('the format of the answer', () => {
  const schema = { type: 'json-schema', name: 'it', schema: { type: 'object' }, strict: true } as const

  test('is a schema with its name, JSON, or nothing', () => {
    expect(request({ outputFormat: schema }, 'openai')).toEqual({
      response_format: { type: 'json_schema', json_schema: { name: 'it', schema: { type: 'object' }, strict: true } },
    })
    expect(request({ outputFormat: { type: 'json' } }, 'openai')).toEqual({ response_format: { type: 'json_object' } })
    expect(request({ outputFormat: { type: 'text' } }, 'openai')).toEqual({})
  })

  test('is any JSON, with a warning, where the vendor takes no schema', () => {
    const { sent, lost } = encode({ outputFormat: schema }, { vendor: 'deepseek', dialect: 'responses' })
    expect([sent['response_format'], lost]).toEqual([{ type: 'json_object' }, ['text.format']])
  })
})

test('a choice that allows only a tool of another provider leaves the other tools out: OpenAI refuses a choice among none', () => {
  const barred = { type: 'function', name: 'f', description: null, parameters: { type: 'object' }, barred: true } as const
  const hosted = { type: 'provider', kind: 'image_generation', at: 'tools[1]', raw: { type: 'image_generation' } } as const
  expect(encode({ tools: [barred, hosted], toolChoice: { type: 'required' } }, { vendor: 'openai' }).sent).not.toMatchObject({
    tools: expect.anything() as unknown,
  })
})
