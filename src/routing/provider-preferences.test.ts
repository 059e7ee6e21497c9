/**
 * Each field of the `provider` object on its own (docs/contract/routing.md#preferences). The order of names is tested in
 * plan-attempts.test.ts.
 */
import { describe, expect, test } from 'bun:test'

import { createModels } from '../models/models.ts'
import { attemptOf, endpoint, model, newHealth, planOf, priced, reasons, refusalOf, tags } from '../../test/support/plans.ts'

test('a provider that is named is meant with its tiers: by only, ignore, and an order without fallbacks', () => {
  const served = [endpoint('a'), endpoint('a/priority', { serviceTier: 'priority' }), endpoint('b')]
  const planned = (preferences: Record<string, unknown>): string =>
    tags(planOf(served, { service_tier: 'priority', provider: preferences }))
  expect(planned({ only: ['a'] })).toBe('a/priority a')
  expect(planned({ ignore: ['a'] })).toBe('b')
  expect(planned({ order: ['a'], allow_fallbacks: false })).toBe('a/priority a')
})

describe('conditions: an endpoint that does not meet one is left out, and so is one of which nobody told', () => {
  const kept = endpoint('kept', { dataPolicy: { training: false, retains: false }, distillable: true, quantization: 'fp8' })
  const broken = endpoint('broken', { dataPolicy: { training: true, retains: true }, distillable: false, quantization: 'int4' })
  test.each<[string, Record<string, unknown>]>([
    ['zdr', { zdr: true }],
    ['data_collection', { data_collection: 'deny' }],
    ['enforce_distillable_text', { enforce_distillable_text: true }],
    ['quantizations', { quantizations: ['fp8', 'bf16'] }],
  ])('%s', (name, preferences) => {
    const plan = planOf([broken, kept, endpoint('untold')], { provider: preferences })
    expect(tags(plan)).toBe('kept')
    expect(reasons(plan.removed)).toBe(`broken: provider.${name}, untold: provider.${name}: not known of this provider`)
    const refusal = refusalOf(() => planOf([broken], { provider: preferences }))
    expect([refusal.status, refusal.metadata['excluded_by']]).toEqual([
      503,
      [{ model: 'm/one', provider: 'broken', reason: `provider.${name}` }],
    ])
  })

  test.each<[Record<string, unknown>]>([
    [{ zdr: false, data_collection: 'allow', enforce_distillable_text: false, quantizations: [] }],
    [{ zdr: null, data_collection: null, enforce_distillable_text: null, quantizations: null, sort: null, max_price: null }],
  ])('%j asks for nothing', (preferences) => {
    expect(tags(planOf([broken, kept], { provider: preferences }))).toBe('broken kept')
  })

  test('quantizations: `unknown` can be asked for', () => {
    expect(tags(planOf([kept, endpoint('untold')], { provider: { quantizations: ['unknown'] } }))).toBe('untold')
  })
})

describe('require_parameters: an endpoint must support every parameter that was sent', () => {
  const all = [
    'temperature',
    'max_tokens',
    'tools',
    'tool_choice',
    'response_format',
    'reasoning',
    'stop',
    'verbosity',
    'seed',
    'parallel_tool_calls',
  ]
  const able = endpoint('able', { supportedParameters: all })
  test.each<[string, 'chat' | 'responses' | 'messages', Record<string, unknown>]>([
    ['temperature', 'chat', { temperature: 0.5 }],
    ['seed', 'chat', { seed: 1 }],
    ['stop', 'chat', { stop: ['x'] }],
    ['stop', 'messages', { stop_sequences: ['x'], max_tokens: 9 }],
    ['max_tokens', 'chat', { max_completion_tokens: 9 }],
    ['max_tokens', 'responses', { max_output_tokens: 9 }],
    ['reasoning', 'chat', { reasoning_effort: 'low' }],
    ['reasoning', 'messages', { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 }],
    ['reasoning', 'messages', { output_config: { effort: 'low' } }],
    ['reasoning', 'messages', { messages: [{ role: 'system', content: [], output_config: { effort: 'low' } }] }],
    ['parallel_tool_calls', 'messages', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
    ['parallel_tool_calls', 'chat', { parallel_tool_calls: false }],
    ['tools', 'chat', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['response_format', 'chat', { response_format: { type: 'json_object' } }],
    ['verbosity', 'responses', { text: { verbosity: 'low' } }],
  ])('%s, as %s says it', (parameter, dialect, fields) => {
    const unable = endpoint('unable', { supportedParameters: all.filter((name) => name !== parameter) })
    const plan = planOf([unable, able], { ...fields, provider: { require_parameters: true } }, { dialect })
    expect(tags(plan)).toBe('able')
    expect(reasons(plan.removed)).toBe(`unable: provider.require_parameters: ${parameter}`)
  })

  test('without it, unable ones stay, but for those without which an answer is of little use', () => {
    const unable = endpoint('unable', { supportedParameters: [] })
    expect(tags(planOf([unable, able], { temperature: 0.5, seed: 1 }))).toBe('unable able')
  })

  test('nulls were not sent', () => {
    expect(tags(planOf([endpoint('a')], { temperature: null, stop: null, tools: [], provider: { require_parameters: true } }))).toBe('a')
    const messages = [
      { role: 'system', content: 'Be brief.', output_config: { effort: null } },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { output_config: { effort: 'low' } } }] },
    ]
    const asked = { messages, output_config: { effort: null }, provider: { require_parameters: true } }
    expect(tags(planOf([endpoint('a')], asked, { dialect: 'messages' }))).toBe('a')
  })
})

describe('tools, a format or verbosity: who supports it is preferred, and where nobody does all stay', () => {
  test.each<[string, Record<string, unknown>]>([
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['structured_outputs', { response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } } }],
    ['verbosity', { verbosity: 'low' }],
  ])('%s', (parameter, fields) => {
    const [able, unable] = [endpoint('able', { supportedParameters: [parameter] }), endpoint('unable')]
    const plan = planOf([unable, able], fields)
    expect([tags(plan), reasons(plan.removed)]).toEqual(['able', `unable: others support ${parameter}`])
    expect(tags(planOf([unable, endpoint('other')], fields))).toBe('unable other')
  })
})

describe('max_price: no endpoint that costs more', () => {
  const cheap = endpoint('cheap', { prices: { prompt: 1, completion: 2, request: 0.01, image: 0.1, audio: 3 } })
  const dear = endpoint('dear', { prices: { prompt: 2, completion: 4, request: 0.02, image: 0.2, audio: 6 } })
  test.each<[string, number, string]>([
    ['prompt', 1, 'prompt'],
    ['completion', 2, 'completion'],
    ['request', 0.01, 'request'],
    ['image', 0.1, 'image'],
    ['audio', 3, 'audio'],
  ])('%s, as a number or as text', (name, limit, reported) => {
    for (const written of [limit, String(limit)]) {
      const plan = planOf([dear, cheap], { provider: { max_price: { [name]: written } } })
      expect([tags(plan), reasons(plan.removed)]).toEqual(['cheap', `dear: provider.max_price: ${reported}`])
    }
  })

  test('an unknown price is not a low one; a price that is not charged is none', () => {
    expect(reasons(planOf([endpoint('a'), cheap], { provider: { max_price: { prompt: 9 } } }).removed)).toBe(
      'a: provider.max_price: not known of this provider',
    )
    expect(tags(planOf([priced('a', 2)], { provider: { max_price: { image: 0, request: '0' } } }))).toBe('a')
  })

  test('audio without a price of its own is charged as input', () => {
    expect(reasons(planOf([priced('a', 4), cheap], { provider: { max_price: { audio: 3 } } }).removed)).toBe('')
    expect(reasons(planOf([priced('a', 8), cheap], { provider: { max_price: { audio: 3 } } }).removed)).toBe('a: provider.max_price: audio')
  })
})

describe('sort: a fixed order, without a lot and without regard to outages', () => {
  const [a, b, c] = [
    priced('a', 3, { quantization: 'int4' }),
    priced('b', 1, { quantization: 'fp8' }),
    priced('c', 2, { quantization: 'bf16' }),
  ]
  const health = newHealth()
  for (let time = 0; time < 3; time += 1) {
    attemptOf(health, 'm/one a', { firstTokenMs: 300, tokensPerSecond: 90 })
    attemptOf(health, 'm/one b', { firstTokenMs: 900, tokensPerSecond: 50 })
    attemptOf(health, 'm/one b', { outcome: 'failure' })
  }
  test.each<[string, unknown, string]>([
    ['price', 'price', 'b c a'],
    ['latency, the unmeasured last', 'latency', 'a b c'],
    ['throughput, the unmeasured last', 'throughput', 'a b c'],
    ['exacto: the weights that were rounded least', 'exacto', 'c b a'],
    ['as an object', { by: 'price' }, 'b c a'],
  ])('%s', (_, sort, expected) => {
    for (const random of [() => 0, () => 0.999]) {
      for (const listed of [
        [a, b, c],
        [c, b, a],
      ]) {
        expect(tags(planOf(listed, { provider: { sort } }, { health, random }))).toBe(expected)
      }
    }
  })

  const models = createModels([model('m/one', [priced('a', 1), priced('b', 4)]), model('m/two', [priced('c', 2), priced('d', 3)])], [])
  test.each<[string, Record<string, unknown>, string]>([
    ['partition model: the fallback models stand behind', { provider: { sort: { by: 'price', partition: 'model' } } }, 'a b c d'],
    ['partition none: all together', { provider: { sort: { by: 'price', partition: 'none' } } }, 'a c d b'],
    ['route "sort" is partition none', { route: 'sort', provider: { sort: 'price' } }, 'a c d b'],
    ['route "fallback" is partition model', { route: 'fallback', provider: { sort: 'price' } }, 'a b c d'],
    ['the partition of the object wins over route', { route: 'sort', provider: { sort: { by: 'price', partition: 'model' } } }, 'a b c d'],
  ])('%s', (_, fields, expected) => {
    expect(tags(planOf(models, { models: ['m/two'], ...fields }))).toBe(expected)
  })
})

describe('preferred percentiles: who misses one stands at the end, and still serves', () => {
  const health = newHealth()
  for (let time = 0; time < 50; time += 1) {
    attemptOf(health, 'm/one slow', { firstTokenMs: 3000, tokensPerSecond: 20 })
    attemptOf(health, 'm/one fast', { firstTokenMs: 400, tokensPerSecond: 80 })
  }
  const served = [priced('slow', 1), priced('fast', 9)]
  test.each<[string, Record<string, unknown>, string]>([
    ['no wish', {}, 'slow fast'],
    ['latency, seconds at the median', { preferred_max_latency: 1 }, 'fast slow'],
    ['throughput, tokens per second at the median', { preferred_min_throughput: 50 }, 'fast slow'],
    ['by percentile', { preferred_max_latency: { p99: 2 } }, 'fast slow'],
    ['all of several must hold', { preferred_max_latency: { p50: 5, p90: 2 } }, 'fast slow'],
    ['both meet it', { preferred_max_latency: 5, preferred_min_throughput: 10 }, 'slow fast'],
    ['nobody meets it', { preferred_max_latency: 0.1 }, 'slow fast'],
  ])('%s', (_, provider, expected) => {
    expect(tags(planOf(served, { provider }, { health }))).toBe(expected)
  })

  test('who was not measured has not missed', () => {
    expect(tags(planOf([...served, priced('new', 5)], { provider: { preferred_max_latency: 1 } }, { health }))).toBe('new fast slow')
  })
})

describe('length', () => {
  const [small, large] = [
    endpoint('small', { maxCompletionTokens: 100, contextLength: 1000 }),
    endpoint('large', { maxCompletionTokens: 9000, contextLength: 10_000 }),
  ]
  test('who cannot write as much as was asked for is left out', () => {
    expect(reasons(planOf([small, large], { max_tokens: 500 }).removed)).toBe('small: max_tokens: at most 100')
    expect(reasons(planOf([endpoint('c', { contextLength: 1000 }), large], { max_tokens: 5000 }).removed)).toBe(
      'c: max_tokens: a context of 1000',
    )
  })

  test('who can write exactly as much stays', () => {
    expect(tags(planOf([small, endpoint('c', { contextLength: 100 }), large], { max_tokens: 100 }))).toBe('small c large')
  })

  test('where nobody can, a limit that is too high is no reason to refuse', () => {
    expect(tags(planOf([small], { max_tokens: 500 }))).toBe('small')
    expect(tags(planOf([small, endpoint('smaller', { maxCompletionTokens: 50 })], { max_tokens: 500 }))).toBe('small smaller')
  })

  test('whose context is too small for the input, as we estimate it, comes last', () => {
    expect(tags(planOf([small, large]))).toBe('small large')
    expect(tags(planOf([small, large], { user: 'x'.repeat(200), messages: [{ role: 'user', content: 'long '.repeat(1000) }] }))).toBe(
      'large small',
    )
  })
})
