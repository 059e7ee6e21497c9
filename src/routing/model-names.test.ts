/**
 * The parts of a model's name other than an id: variants, aliases, automatic choice, service tiers (docs/contract/routing.md#model-names).
 */
import { describe, expect, test } from 'bun:test'

import { createModels } from '../models/models.ts'
import { attemptOf, endpoint, model, newHealth, planOf, priced, provider, reasons, refusalOf, tags } from '../../test/support/plans.ts'

const ids = (plan: ReturnType<typeof planOf>): string => [...new Set(plan.attempts.map(({ model }) => model.id))].join(' ')

describe('variants', () => {
  const health = newHealth()
  attemptOf(health, 'm/one b', { tokensPerSecond: 90 })
  attemptOf(health, 'm/one a/priority', { tokensPerSecond: 70 })
  attemptOf(health, 'm/one a', { tokensPerSecond: 50 })
  const served = [
    priced('a', 2, { quantization: 'int4', contextLength: 1000 }),
    priced('b', 3, { quantization: 'bf16', contextLength: 9000 }),
    priced('a/priority', 5, { serviceTier: 'priority' }),
    priced('a/flex', 1, { serviceTier: 'flex' }),
    priced('free', 0),
  ]
  test.each<[string, string, string]>([
    [':nitro: by throughput, endpoints of the priority tier too', 'm/one:nitro', 'b a/priority a free'],
    [':floor: by price, endpoints of the flex tier too', 'm/one:floor', 'free a/flex a b'],
    [':exacto: by quality', 'm/one:exacto', 'b a free'],
    [':free: only those that cost nothing', 'm/one:free', 'free'],
    [':extended: the longest context first', 'm/one:extended', 'b a free'],
    ['several', 'm/one:free:nitro', 'free'],
  ])('%s', (_, name, expected) => {
    const plan = planOf(served, { model: name }, { health })
    expect(tags(plan)).toBe(expected)
    expect(plan.warnings).toEqual([])
    expect(ids(plan)).toBe('m/one')
  })

  test(':thinking is the model itself, with a warning', () => {
    expect(planOf([endpoint('a')], { model: 'm/one:thinking' })).toMatchObject({
      attempts: [{ model: { id: 'm/one' } }],
      warnings: [{ field: 'model' }],
    })
  })

  test.each([
    ['m/one:online', true],
    ['m/one:online:free', true],
    ['m/one:free', false],
    ['m/one', false],
  ])('%s asks for a search before the answer: %p', (name, searches) => {
    expect(planOf([priced('a', 0)], { model: name })).toMatchObject({ searches, warnings: [] })
  })

  test('an id that ends like a variant is a model of its own', () => {
    const models = createModels([model('m/one', [endpoint('a')]), model('m/one:free', [endpoint('b')])], [])
    expect(tags(planOf(models, { model: 'm/one:free' }))).toBe('b')
  })

  test('a model that is named twice is asked as its first name says', () => {
    expect(tags(planOf(served, { model: 'm/one:free', models: ['m/one'] }, { health }))).toBe('free')
    expect(tags(planOf(served, { model: 'm/one', models: ['m/one:free', 'patchbay/free'] }, { health }))).toBe('free a b')
  })

  test('a local server keeps its own colons', () => {
    const models = createModels([], [{ ...provider('ollama'), anyModel: true }])
    expect(planOf(models, { model: 'ollama/llama3:free' }).attempts[0]?.endpoint.upstreamModel).toBe('llama3:free')
  })

  test('503 :free where every endpoint costs; 404 for a variant of nothing, and for what is no variant', () => {
    const refusal = refusalOf(() => planOf([priced('a', 1)], { model: 'm/one:free' }))
    expect([refusal.status, refusal.metadata['excluded_by']]).toEqual([503, [{ model: 'm/one', provider: 'a', reason: ':free' }]])
    for (const name of ['m/none:free', 'm/one:fastest', 'm/one:constructor', `m/one${':free'.repeat(200)}`]) {
      expect(refusalOf(() => planOf([endpoint('a')], { model: name })).status).toBe(404)
    }
  })
})

describe('~author/family-latest', () => {
  const at = (id: string, created: number) => model(id, [endpoint('a')], { created })
  const models = createModels(
    [
      at('anthropic/claude-sonnet-4.5', 2),
      at('anthropic/claude-sonnet-5', 4),
      at('anthropic/claude-opus-5', 9),
      at('google/gemini-3.8-flash', 5),
      at('google/gemini-3.9-flash-lite', 8),
      at('qwen/qwen3.8-max', 3),
      at('qwen/qwen3.7-max', 1),
      at('moonshotai/kimi-k2.6', 6),
      at('moonshotai/kimi-k3', 7),
    ],
    [],
  )
  test.each([
    ['~anthropic/claude-sonnet-latest', 'anthropic/claude-sonnet-5'],
    ['~google/gemini-flash-latest', 'google/gemini-3.8-flash'],
    ['~qwen/qwen-max-latest', 'qwen/qwen3.8-max'],
    ['~moonshotai/kimi-latest', 'moonshotai/kimi-k3'],
    ['~anthropic/claude-sonnet-latest:nitro', 'anthropic/claude-sonnet-5'],
  ])('%s is %s', (name, id) => {
    expect(planOf(models, { model: name })).toMatchObject({ strategy: 'latest', attempts: [{ model: { id } }] })
  })

  test.each(['~anthropic/claude-latest', '~openai/gpt-latest', '~', '~/-latest', '~a/b'])('404: %s', (name) => {
    expect(refusalOf(() => planOf(models, { model: name })).status).toBe(404)
  })
})

describe("a vendor's own name", () => {
  const at = (id: string, created: number) => model(id, [endpoint('a')], { created })
  const models = createModels(
    [
      at('openai/gpt-5.4', 1),
      at('mistralai/mistral-large-2', 2),
      at('mistralai/mistral-large-3', 3),
      at('a/llama-4', 4),
      at('b/llama-4', 5),
    ],
    [],
    new Map([['anthropic/claude-opus-4.8', ['ANTHROPIC_API_KEY']]]),
  )

  test.each([
    ['gpt-5.4', 'openai/gpt-5.4'],
    ['gpt-5-4-2026-03-05', 'openai/gpt-5.4'],
    ['gpt-5.4:nitro', 'openai/gpt-5.4'],
    ['mistral-large-latest', 'mistralai/mistral-large-3'],
    ['a/llama-4', 'a/llama-4'],
  ])('%s is %s', (name, id) => {
    expect(planOf(models, { model: name })).toMatchObject({ strategy: 'direct', attempts: [{ model: { id } }] })
    expect(ids(planOf(models, { model: 'a/llama-4', models: [name] }))).toContain(id)
  })

  test.each([
    ['llama-4', '"llama-4" is a name of more than one model here: use a/llama-4 or b/llama-4.'],
    ['llama-latest', 'GET /api/v1/models lists what there is.'],
    ['claude-opus-4-8', 'No provider of "claude-opus-4-8" is enabled here. The operator can set ANTHROPIC_API_KEY.'],
    ['gpt-5.5', 'Did you mean openai/gpt-5.4?'],
    ['MISTRALAI/MISTRAL-LARGE', 'Did you mean mistralai/mistral-large-2, mistralai/mistral-large-3?'],
    ['gpt-5.5-2026-03-05', 'Did you mean openai/gpt-5.4?'],
  ])('404: %s', (name, sentence) => {
    const refusal = refusalOf(() => planOf(models, { model: name }))
    expect(refusal.status).toBe(404)
    expect(refusal.message).toContain(sentence)
  })
})

describe('automatic choice', () => {
  const costing = (id: string, price: number, created: number, supportedParameters: readonly string[] = []) =>
    model(id, [priced('a', price, { supportedParameters })], { created, supportedParameters })
  const models = createModels(
    [
      costing('v/low', 1, 1),
      costing('v/high', 2, 2),
      costing('v/mid-old', 3, 3),
      costing('v/mid-new', 3.1, 9, ['tools']),
      costing('v/xhigh', 4, 4),
      costing('v/max', 50, 5),
      model('v/free', [priced('a', 0)], { created: 6 }),
      model('v/paints', [priced('a', 3)], { outputModalities: ['image'] }),
    ],
    [],
  )
  const first = (fields: Record<string, unknown>): string | undefined =>
    planOf(models, { model: 'patchbay/auto', ...fields }).attempts[0]?.model.id
  const router = (preferences: Record<string, unknown>) => ({ plugins: [{ id: 'auto-router', ...preferences }] })

  test.each(['patchbay/auto', 'service/auto', 'openrouter/auto', 'openrouter/auto-beta'])(
    '%s: the newest model of the middle of the price range',
    (name) => {
      expect(planOf(models, { model: name })).toMatchObject({ strategy: 'auto', attempts: [{ model: { id: 'v/mid-new' } }, {}, {}, {}] })
    },
  )

  test.each<[string, Record<string, unknown>, string]>([
    ['cost_tier low', router({ cost_tier: 'low' }), 'v/free'],
    ['cost_tier max', router({ cost_tier: 'max' }), 'v/max'],
    ['allowed_models', router({ allowed_models: ['v/*high'] }), 'v/xhigh'],
    ['any of several allowed_models', router({ allowed_models: ['v/none', 'v/max'] }), 'v/max'],
    ['excluded_models win', router({ allowed_models: ['v/*high'], excluded_models: ['*x*'] }), 'v/high'],
    ['a plugin that is off', router({ enabled: false, cost_tier: 'max' }), 'v/mid-new'],
    [
      'who heeds the tools that were sent',
      { ...router({ cost_tier: 'max' }), tools: [{ type: 'function', function: { name: 'f' } }] },
      'v/mid-new',
    ],
  ])('%s', (_, fields, expected) => {
    expect(first(fields)).toBe(expected)
  })

  test('a conversation stays with the model that answered it', () => {
    const fields = { model: 'patchbay/auto', session_id: 's' }
    const { attempts } = planOf(models, fields, { sticky: () => 'v/low a' })
    expect(attempts.slice(0, 2).map(({ model }) => model.id)).toEqual(['v/low', 'v/mid-new'])
  })

  test('patchbay/free: only models that cost nothing', () => {
    expect(planOf(models, { model: 'openrouter/free' })).toMatchObject({ strategy: 'free', attempts: [{ model: { id: 'v/free' } }] })
  })

  test('patchbay/free: a model that one provider serves for nothing is asked of no other', () => {
    const mixed = createModels([model('v/mixed', [priced('paid', 1), priced('free', 0), endpoint('untold')])], [])
    const plan = planOf(mixed, { model: 'patchbay/free' })
    expect([tags(plan), reasons(plan.removed)]).toEqual(['free', 'paid: :free, untold: :free'])
    expect(tags(planOf(mixed, { model: 'patchbay/auto' }))).toBe('free paid untold')
  })

  test('pin_model: the model that spoke last comes first, whatever endpoint the conversation is remembered at', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Ho', model: 'v/xhigh' },
    ]
    const fields = { model: 'patchbay/auto', session_id: 's', messages, ...router({ pin_model: true }) }
    expect(planOf(models, fields, { sticky: () => 'v/low a' }).attempts.map(({ model }) => model.id)).toEqual([
      'v/xhigh',
      'v/mid-new',
      'v/mid-old',
      'v/high',
    ])
  })

  test('503 where no model may be chosen', () => {
    expect(refusalOf(() => planOf(models, { model: 'patchbay/auto', ...router({ excluded_models: ['*'] }) })).status).toBe(503)
  })
})

describe('service tiers', () => {
  const health = newHealth()
  attemptOf(health, 'm/one slow/priority', { tokensPerSecond: 20 })
  attemptOf(health, 'm/one fast/priority', { tokensPerSecond: 90 })
  const served = [
    priced('plain', 2),
    priced('slow/priority', 5, { serviceTier: 'priority' }),
    priced('fast/priority', 6, { serviceTier: 'priority' }),
    priced('ultra/ultrafast', 9, { serviceTier: 'ultrafast' }),
    priced('dear/flex', 1.5, { serviceTier: 'flex' }),
    priced('cheap/flex', 1, { serviceTier: 'flex' }),
  ]
  const asked = (tier: string | null, fields: Record<string, unknown> = {}): string =>
    planOf(served, { service_tier: tier, ...fields }, { health })
      .attempts.map(({ endpoint, serviceTier }) => `${endpoint.tag}=${serviceTier}`)
      .join(' ')
  const PRIORITY = 'fast/priority=priority slow/priority=priority plain=default'
  test.each<[string, string | null, string]>([
    ['none: ordinary endpoints', null, 'plain=null'],
    ['auto', 'auto', 'plain=null'],
    ['default', 'default', 'plain=null'],
    ['scale goes to the provider as it is', 'scale', 'plain=null'],
    ['priority: its endpoints by throughput, then ordinary ones, asked as such', 'priority', PRIORITY],
    ['fast is priority', 'fast', PRIORITY],
    ['ultrafast, then priority, then ordinary', 'ultrafast', `ultra/ultrafast=ultrafast ${PRIORITY}`],
    ['flex: its endpoints by price, and no others', 'flex', 'cheap/flex=flex dear/flex=flex'],
  ])('%s', (_, tier, expected) => {
    expect(asked(tier)).toBe(expected)
  })

  test('the speed of a Messages request goes to a provider without such endpoints as it is, and no tier beside it', () => {
    expect(planOf([priced('plain', 1)], { speed: 'fast', max_tokens: 10 }, { dialect: 'messages' }).attempts).toMatchObject([
      { serviceTier: null },
    ])
  })

  test.each([
    ['flex', 'null'],
    ['priority', 'priority'],
    ['fast', 'priority'],
    ['ultrafast', 'priority'],
  ])('%s of a model without such endpoints: the ordinary ones, where the word of providers for it is %s', (tier, sent) => {
    const plan = planOf([priced('plain', 1)], { service_tier: tier })
    expect(plan.attempts.map(({ endpoint, serviceTier }) => `${endpoint.tag}=${serviceTier}`)).toEqual([`plain=${sent}`])
  })

  test('an endpoint of another tier does not count: the ordinary one is asked with the word of providers for the tier', () => {
    const plan = planOf([priced('plain', 1), priced('cheap/flex', 1, { serviceTier: 'flex' })], { service_tier: 'priority' })
    expect([plan.order, plan.attempts.map(({ endpoint, serviceTier }) => `${endpoint.tag}=${serviceTier}`)]).toEqual([
      'only candidate',
      ['plain=priority'],
    ])
  })

  test('an endpoint of a tier is reached by its whole name; by its provider with the tier alone', () => {
    expect(asked(null, { provider: { only: ['fast/priority'] } })).toBe('fast/priority=priority')
    expect(asked(null, { provider: { order: ['cheap/flex'] } })).toBe('cheap/flex=flex plain=null')
    expect(asked('priority', { provider: { only: ['slow'] } })).toBe('slow/priority=priority')
    expect(asked('priority', { provider: { order: ['slow', 'plain'], allow_fallbacks: false } })).toBe(
      'slow/priority=priority plain=default',
    )
    expect(asked('priority', { provider: { order: ['slow', 'fast/priority'] } })).toStartWith(
      'slow/priority=priority fast/priority=priority',
    )
    expect(refusalOf(() => planOf(served, { provider: { only: ['slow'] } })).message).toContain('slow/priority for m/one (service_tier)')
    expect(reasons(planOf(served, { service_tier: 'flex', provider: { ignore: ['dear'] } }).removed)).toContain(
      'dear/flex: provider.ignore',
    )
  })
})
