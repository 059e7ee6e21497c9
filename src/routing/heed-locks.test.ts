/** The parts of names in a request that still count where a preset locks others (docs/contract/presets.md#merge). */
import { describe, expect, test } from 'bun:test'

import { priced, planOf, refusalOf, tags } from '../../test/support/plans.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'

const OPEN: RoutingLocks = { sort: false, tier: false, search: false, models: [], providers: [], rejects: false }

const served = [
  priced('dear', 9, { contextLength: 900 }),
  priced('cheap', 1, { contextLength: 100 }),
  priced('free', 0, { contextLength: 100 }),
  priced('fast/priority', 20, { serviceTier: 'priority' }),
]

const planWith = (locks: Partial<RoutingLocks>, fields: Record<string, unknown>) => planOf(served, fields, { locks: { ...OPEN, ...locks } })

describe('a lock holds its own part of the ending of a name, and no other', () => {
  test.each<[string, string, Partial<RoutingLocks>, string, boolean]>([
    ['sort', 'nitro', { sort: true }, 'price-weighted: free cheap dear fast/priority', false],
    ['tier', 'nitro', { tier: true }, 'sort:throughput: dear cheap free', false],
    ['search', 'nitro', { search: true }, 'sort:throughput: dear cheap free fast/priority', false],
    ['sort', 'free', { sort: true }, 'price-weighted: free cheap dear', false],
    ['tier', 'free', { tier: true }, 'only candidate: free', false],
    ['sort', 'extended', { sort: true }, 'price-weighted: free cheap dear', false],
    ['search', 'extended', { search: true }, ':extended: dear cheap free', false],
    ['sort and tier', 'online', { sort: true, tier: true }, 'price-weighted: free cheap dear', true],
    ['search', 'online', { search: true }, 'price-weighted: free cheap dear', false],
  ])('%s, in :%s', (_, ending, locks, expected, searches) => {
    const name = `m/one:${ending}`
    const plan = planWith(locks, { model: name })
    expect([`${plan.order}: ${tags(plan)}`, plan.searches]).toEqual([expected, searches])
    // The preset's own name may say what it says.
    expect(planWith({ ...locks, models: [name] }, { model: name })).toEqual(planOf(served, { model: name }))
  })
})

describe('where service_tier is locked', () => {
  const named = (list: 'only' | 'order', name: string) => ({ provider: { [list]: [name, 'cheap'] } })

  test.each(['only', 'order'] as const)('provider.%s reaches an endpoint of a tier by a name of the preset alone', (list) => {
    const plan = planWith({ tier: true }, named(list, 'fast/priority'))
    expect(tags(plan)).not.toContain('fast/priority')
    expect(plan.warnings).toMatchObject([{ code: 'locked_field', field: `provider.${list}` }])
    expect(refusalOf(() => planWith({ tier: true, rejects: true }, named(list, 'fast/priority'))).status).toBe(400)
    const own = planWith({ tier: true, rejects: true, providers: ['fast/priority'] }, named(list, 'fast/priority'))
    expect([tags(own).split(' ')[0], own.warnings]).toEqual(list === 'order' ? ['fast/priority', []] : ['cheap', []])
    expect(tags(own)).toContain('fast/priority')
  })

  test.each(['dear', 'Dear Inc.', 'fast', 'stranger'])('%s, which asks for no endpoint of a tier, is heeded without a warning', (name) => {
    for (const list of ['only', 'order'] as const) {
      const plan = planWith({ tier: true, rejects: true }, named(list, name))
      expect([plan.warnings, tags(plan)]).toEqual([[], tags(planOf(served, named(list, name)))])
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['model', { model: 'm/one:nitro' }],
    ['models', { model: undefined, models: ['m/one:nitro'] }],
  ])('an ending in %s is ignored with a warning, and refused where the preset rejects', (field, fields) => {
    expect(planWith({ tier: true }, fields).warnings).toMatchObject([{ code: 'locked_field', field }])
    const refusal = refusalOf(() => planWith({ tier: true, rejects: true }, fields))
    expect([refusal.status, refusal.message.split(':')[0]]).toEqual([400, field])
  })
})
