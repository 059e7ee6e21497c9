import { describe, expect, test } from 'bun:test'

import { createModels } from '../models/models.ts'
import { endpoint, model, planOf, reasons, refusalOf, tags } from '../../test/support/plans.ts'
import type { RoutingPolicy } from './policy.ts'

const OPEN: RoutingPolicy = {
  allowedModels: null,
  ignoredModels: null,
  allowedProviders: null,
  ignoredProviders: null,
  zdr: false,
  denyTraining: false,
}

const clean = endpoint('clean', { dataPolicy: { training: false, retains: false } })
const keeper = endpoint('keeper', { dataPolicy: { training: true, retains: true } })

describe('a policy removes with a reason of its own, whatever the request asks for', () => {
  test.each<[string, Partial<RoutingPolicy>]>([
    ['guardrail.allowed_providers', { allowedProviders: ['clean'] }],
    ['guardrail.ignored_providers', { ignoredProviders: ['Keeper Inc.'.toUpperCase()] }],
    ['guardrail.enforce_zdr', { zdr: true }],
    ['guardrail.enable_training', { denyTraining: true }],
  ])('%s', (reason, policy) => {
    for (const provider of [null, { order: ['keeper'], zdr: false, data_collection: 'allow' }]) {
      const plan = planOf([keeper, clean], { provider }, { policy: { ...OPEN, ...policy } })
      expect([tags(plan), reasons(plan.removed)]).toEqual(['clean', `keeper: ${reason}`])
    }
    const refusal = refusalOf(() => planOf([keeper], {}, { policy: { ...OPEN, ...policy } }))
    expect([refusal.status, refusal.metadata['excluded_by']]).toEqual([503, [{ model: 'm/one', provider: 'keeper', reason }]])
  })

  const models = createModels([model('m/one', [clean]), model('n/two', [clean])], [])
  test.each<[string, Partial<RoutingPolicy>]>([
    ['guardrail.allowed_models', { allowedModels: ['n/*'] }],
    ['guardrail.ignored_models', { ignoredModels: ['m/one'] }],
  ])('%s, by patterns', (reason, policy) => {
    const plan = planOf(models, { models: ['n/two'] }, { policy: { ...OPEN, ...policy } })
    expect([plan.attempts.map(({ model }) => model.id), reasons(plan.removed)]).toEqual([['n/two'], `clean: ${reason}`])
  })
})

test('what a policy leaves open it does not touch; a provider that is named is meant with its tiers', () => {
  const priority = endpoint('clean/priority', { serviceTier: 'priority' })
  expect(tags(planOf([keeper, clean], {}, { policy: OPEN }))).toBe('keeper clean')
  expect(tags(planOf([clean, priority], { service_tier: 'priority' }, { policy: { ...OPEN, allowedProviders: ['clean'] } }))).toBe(
    'clean/priority clean',
  )
})
