import { describe, expect, test } from 'bun:test'

import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import { createModels, plainEndpoint } from '../models/models.ts'
import { endpoint, model, planOf, provider, reasons, refusalOf, tags } from '../../test/support/plans.ts'

const OPEN: RoutingPolicy = {
  allowedModels: [],
  ignoredModels: [],
  allowedProviders: [],
  ignoredProviders: [],
  zdr: { anthropic: false, openai: false, google: false, xai: false, other: false },
  paidTraining: true,
  freeTraining: true,
  freePublication: true,
}

const clean = endpoint('clean', { dataPolicy: { training: false, retains: false } })
const keeper = endpoint('keeper', { dataPolicy: { training: true, retains: true } })

describe('a policy removes with a reason of its own, whatever the request asks for', () => {
  test.each<[string, Partial<RoutingPolicy>]>([
    ['guardrail.allowed_providers', { allowedProviders: [['clean']] }],
    ['guardrail.ignored_providers', { ignoredProviders: ['Keeper Inc.'.toUpperCase()] }],
    ['guardrail.enforce_zdr_other', { zdr: { ...OPEN.zdr, other: true } }],
    ['guardrail.enable_paid_model_training', { paidTraining: false }],
  ])('%s', (reason, policy) => {
    for (const provider of [null, { order: ['keeper'], zdr: false, data_collection: 'allow' }]) {
      const plan = planOf([keeper, clean], { provider }, { policy: { ...OPEN, ...policy } })
      expect([tags(plan), reasons(plan.removed)]).toEqual(['clean', `keeper: ${reason}`])
    }
    const refusal = refusalOf(() => planOf([keeper], {}, { policy: { ...OPEN, ...policy } }))
    expect([refusal.status, refusal.metadata['excluded_by']]).toEqual([503, [{ model: 'm/one', provider: 'keeper', reason }]])
  })

  const models = createModels([model('m/one', [clean]), model('n/two', [{ ...clean, upstreamModel: 'two' }])], [])
  test.each<[string, Partial<RoutingPolicy>]>([
    ['guardrail.allowed_models', { allowedModels: [['n/*']] }],
    ['guardrail.ignored_models', { ignoredModels: ['m/one'] }],
  ])('%s, by patterns', (reason, policy) => {
    const plan = planOf(models, { models: ['n/two'] }, { policy: { ...OPEN, ...policy } })
    expect([plan.attempts.map(({ model }) => model.id), reasons(plan.removed)]).toEqual([['n/two'], `clean: ${reason}`])
  })
})

test('what a policy leaves open it does not touch; a provider that is named is meant with its tiers', () => {
  const priority = endpoint('clean/priority', { serviceTier: 'priority' })
  expect(tags(planOf([keeper, clean], {}, { policy: OPEN }))).toBe('keeper clean')
  expect(tags(planOf([clean, priority], { service_tier: 'priority' }, { policy: { ...OPEN, allowedProviders: [['clean']] } }))).toBe(
    'clean/priority clean',
  )
})

test('of several allow-lists each must have the model and the provider, by whatever pattern or name', () => {
  const many = createModels([model('n/one', [clean, keeper]), model('n/two', [clean])], [])
  const policy = { ...OPEN, allowedModels: [['n/*'], ['N/ONE', 'x/y']], allowedProviders: [['CLEAN', 'keeper'], ['keeper inc.']] }
  const plan = planOf(many, { model: 'n/one', models: ['n/two'] }, { policy })
  expect([tags(plan), reasons(plan.removed)]).toEqual(['keeper', 'clean: guardrail.allowed_providers, clean: guardrail.allowed_models'])
})

test('zero retention is asked of the models of an author; what is not known of a provider counts as the worse', () => {
  const silent = endpoint('silent')
  const zdr = { ...OPEN.zdr, xai: true }
  const models = createModels([model('x-ai/one', [silent, clean]), model('m/two', [silent])], [])
  const plan = planOf(models, { model: 'x-ai/one', models: ['m/two'] }, { policy: { ...OPEN, zdr } })
  expect([tags(plan), reasons(plan.removed)]).toEqual(['clean silent', 'silent: guardrail.enforce_zdr_xai: not known of this provider'])
})

test('an endpoint that may train is closed, and so is one of which that is not known, each by the setting for its price', () => {
  const [nothing, little] = [
    { prompt: 0, completion: 0 },
    { prompt: 0, completion: 1 },
  ]
  const served = [
    endpoint('free', { prices: nothing, dataPolicy: { training: null, retains: false } }),
    endpoint('paid', { prices: little, dataPolicy: { training: null, retains: false } }),
    endpoint('trains', { prices: little, dataPolicy: { training: true, retains: false } }),
    clean,
  ]
  const removed = (policy: Partial<RoutingPolicy>): string => reasons(planOf(served, {}, { policy: { ...OPEN, ...policy } }).removed)
  expect(removed({ freeTraining: false })).toBe('free: guardrail.enable_free_model_training: not known of this provider')
  expect(removed({ paidTraining: false })).toBe(
    'paid: guardrail.enable_paid_model_training: not known of this provider, trains: guardrail.enable_paid_model_training',
  )
})

test('what is free may be closed for training and for publication; what nobody keeps, nobody publishes', () => {
  const prices = { prompt: 0, completion: 0 }
  const free = endpoint('free', { prices, dataPolicy: { training: false, retains: true } })
  const trains = endpoint('trains', { prices, dataPolicy: { training: true, retains: false } })
  const removed = (policy: Partial<RoutingPolicy>): string =>
    reasons(planOf([free, trains], {}, { policy: { ...OPEN, ...policy } }).removed)
  expect(removed({ freePublication: false })).toBe('free: guardrail.enable_free_model_publication')
  expect(removed({ freeTraining: false })).toBe('trains: guardrail.enable_free_model_training')
  expect(removed({ paidTraining: false })).toBe('')
})

describe('an ignored model is ignored by whichever name it is asked for', () => {
  const up = { ...provider('up'), anyModel: true }
  const twin = { ...provider('twin'), anyModel: true, baseUrl: `${up.baseUrl}/` }
  const other = { ...provider('other'), anyModel: true }
  const google = { ...provider('google'), anyModel: true, dialects: ['google'] as const }
  const bedrock = { ...provider('bedrock'), anyModel: true, dialects: ['bedrock'] as const }
  const models = createModels(
    [
      model('t/huge', [plainEndpoint(up, 'Huge')]),
      model('u/alias', [plainEndpoint(up, 'huge')]),
      model('g/huge', [plainEndpoint(google, 'huge')]),
      model('b/huge', [plainEndpoint(bedrock, 'eu.acme.huge-v1:0')]),
    ],
    [up, twin, other, google, bedrock],
  )
  const isIgnored = (name: string, ignored: string): boolean => {
    try {
      planOf(models, { model: name }, { policy: { ...OPEN, ignoredModels: [ignored] } })
      return false
    } catch (thrown) {
      expect(thrown).toMatchObject({ status: 503, metadata: { excluded_by: [{ reason: 'guardrail.ignored_models' }] } })
      return true
    }
  }

  test.each([
    ['t/huge', 't/huge'],
    ['u/alias', 't/huge'],
    ['up/huge', 't/huge'],
    ['up/HUGE', 't/huge'],
    ['up/\uff28uge', 't/huge'],
    ['twin/huge', 't/huge'],
    ['up/huge:free', 't/huge'],
    ['up/huge@2', 't/huge'],
    ['up/huge:nitro', 't/*'],
    ['t/huge', 'up/huge'],
    ['up/small:free', 'up/small'],
    ['up/small', 'up/small:latest'],
    ['other/t/huge', 't/huge'],
    ['google/models/huge', 'g/huge'],
    ['google/Models/Huge', 'google/huge'],
    ['google/huge', 'google/models/huge'],
    ['bedrock/us.acme.huge-v1:0', 'b/huge'],
    ['bedrock/us.acme.huge-v1:0', 'bedrock/acme.huge-v1:0'],
    ['bedrock/acme.huge-v1:0', 'b/huge'],
    ['bedrock/arn:aws:bedrock:us-east-1::foundation-model/acme.huge-v1:0', 'b/huge'],
    ['bedrock/arn:aws-us-gov:bedrock:us-gov-east-1:123456789012:inference-profile/us-gov.acme.huge-v1:0', 'bedrock/acme.huge-v1:0'],
  ])('%s, where %s is ignored', (name, ignored) => expect(isIgnored(name, ignored)).toBe(true))

  test.each([
    ['up/hug', 't/huge'],
    ['up/huger', 't/huge'],
    ['other/huge', 't/huge'],
    ['up/llama:8b', 'up/llama:70b'],
    ['up/models/huge', 't/huge'],
    ['bedrock/us.acme.huge-v1:0', 'bedrock/eu.acme.huge-v1:0'],
    ['bedrock/acme.huge', 'bedrock/us.acme'],
  ])('but %s is another model than %s', (name, ignored) => expect(isIgnored(name, ignored)).toBe(false))

  test('zero retention that is asked of an author’s models is asked of them under names that the catalogue lacks too', () => {
    const claude = createModels([model('anthropic/claude', [plainEndpoint(up, 'claude')])], [up, other])
    const policy = { ...OPEN, zdr: { ...OPEN.zdr, anthropic: true } }
    for (const name of ['anthropic/claude', 'up/claude']) {
      expect(refusalOf(() => planOf(claude, { model: name }, { policy })).message).toContain('guardrail.enforce_zdr_anthropic')
    }
    for (const name of ['up/other', 'other/claude']) expect(planOf(claude, { model: name }, { policy }).attempts).toHaveLength(1)
  })

  test('an endpoint of a tier may be named as a whole', () => {
    const served = [clean, endpoint('clean/priority', { serviceTier: 'priority' })]
    const planned = (policy: Partial<RoutingPolicy>) =>
      tags(planOf(served, { service_tier: 'priority' }, { policy: { ...OPEN, ...policy } }))
    expect(planned({ ignoredProviders: ['clean/priority'] })).toBe('clean')
    expect(planned({ allowedProviders: [['clean/priority']] })).toBe('clean/priority')
  })

  test('an allow-list has to name what the client names', () => {
    const policy = { ...OPEN, allowedModels: [['t/huge']] }
    expect(() => planOf(models, { model: 'up/huge' }, { policy })).toThrow()
    expect(planOf(models, { model: 't/huge' }, { policy }).attempts).toHaveLength(1)
  })
})
