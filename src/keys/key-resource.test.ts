import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { apiKey, currentKey, type KeyBudget } from '../contract/key.ts'
import type { KeyRecord } from '../storage/keys/key-record.ts'
import type { KeyUsage } from '../storage/keys/key-usage.ts'
import { usageWindowsAt, windowEnd } from '../storage/usage/usage-windows.ts'
import { currentKeyResource, keyResource } from './key-resource.ts'
import { keyRecord } from '../storage/testing/key-record.ts'

const record = keyRecord({
  hash: 'ab'.repeat(32),
  digest: 'cd'.repeat(32),
  name: 'a key',
  label: 'pb_inf_…1234',
  workspaceId: '00000000-0000-4000-8000-000000000001',
  limitNanos: 10_000_000_000,
  createdAt: '2026-11-20T10:00:00.000Z',
})

const lastUsedAt = '2026-11-21T10:00:00.000Z'

const used: KeyUsage = {
  usage: { totalNanos: 4_000_000_001, dailyNanos: 1_000_000_000, weeklyNanos: 2_000_000_000, monthlyNanos: 3_000_000_000 },
  byok: { totalNanos: 400_000_000, dailyNanos: 100_000_000, weeklyNanos: 200_000_000, monthlyNanos: 300_000_000 },
}

const budget = (scope: KeyBudget['scope'], left: number): KeyBudget => ({
  scope,
  limit_usd: 10,
  spend_usd: 10 - left,
  remaining_usd: left,
  reset_interval: 'monthly',
  resets_at: '2026-12-01T00:00:00.000Z',
  include_byok: false,
  guardrail_id: null,
  budget_id: null,
})

const at = (text: string): number => Date.parse(text)

describe('a window ends', () => {
  test.each<[string, KeyRecord['limitReset'], string, string | null]>([
    ['never, without a reset', null, '2026-11-20T10:00:00Z', null],
    ['at midnight', 'daily', '2026-11-20T10:00:00Z', '2026-11-21T00:00:00.000Z'],
    ['at the next midnight, from midnight on', 'daily', '2026-11-20T00:00:00Z', '2026-11-21T00:00:00.000Z'],
    ['at midnight, a millisecond before it', 'daily', '2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00.000Z'],
    ['at the end of a month', 'daily', '2026-11-30T12:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['at the end of a year', 'daily', '2026-12-31T12:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['on 29 February', 'daily', '2028-02-28T12:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['on Monday, from a Friday', 'weekly', '2026-11-20T10:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['on Monday, from a Sunday', 'weekly', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
    ['a week later, on Monday', 'weekly', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['on Monday, from a Tuesday', 'weekly', '2026-11-24T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['on Monday of another year', 'weekly', '2026-12-31T00:00:00Z', '2027-01-04T00:00:00.000Z'],
    ['on the 1st', 'monthly', '2026-11-20T10:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['on the 1st, from the 31st', 'monthly', '2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
    ['on the 1st of the next month, on the 1st', 'monthly', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['on New Year', 'monthly', '2026-12-15T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['on 1 March, from 29 February', 'monthly', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00.000Z'],
    ['by UTC, wherever the instant was written', 'daily', '2026-11-20T23:30:00-05:00', '2026-11-22T00:00:00.000Z'],
  ])('%s', (_, reset, now, end) => {
    expect(windowEnd(reset, at(now))).toBe(end)
  })

  test('where storage begins the next one to count, at every instant of forty years', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: at('2020-01-01'), max: at('2060-01-01') }),
        fc.constantFrom('daily', 'weekly', 'monthly'),
        (nowMs, reset) => {
          const window = { daily: 'day', weekly: 'week', monthly: 'month' } as const
          const end = windowEnd(reset, nowMs) ?? ''
          const startOf = (ms: number): string => usageWindowsAt(new Date(ms).toISOString())[window[reset]]
          expect(at(end)).toBeGreaterThan(nowMs)
          expect(startOf(at(end))).toBe(end.slice(0, 10))
          expect(startOf(at(end) - 1)).toBe(startOf(nowMs))
        },
      ),
    )
  })
})

describe('numbers', () => {
  test.each<[KeyRecord['limitReset'], boolean, number]>([
    [null, false, 5.999999999],
    [null, true, 5.599999999],
    ['daily', false, 9],
    ['daily', true, 8.9],
    ['weekly', false, 8],
    ['weekly', true, 7.8],
    ['monthly', false, 7],
    ['monthly', true, 6.7],
  ])(
    'what is left of a limit counts the running window alone: reset %s, own provider keys counted %s',
    (limitReset, includeByokInLimit, left) => {
      const resource = keyResource({ record: { ...record, limitReset, includeByokInLimit }, used, lastUsedAt })
      expect(resource.limit_remaining).toBe(left)
      const current = currentKeyResource({ record: { ...record, limitReset, includeByokInLimit }, used, lastUsedAt }, [])
      expect(current.limit_remaining).toBe(left)
    },
  )

  test('of use are in dollars, exact to the nano-dollar', () => {
    expect(keyResource({ record, used, lastUsedAt })).toMatchObject({
      limit: 10,
      usage: 4.000000001,
      usage_daily: 1,
      usage_weekly: 2,
      usage_monthly: 3,
      byok_usage: 0.4,
      byok_usage_daily: 0.1,
      byok_usage_weekly: 0.2,
      byok_usage_monthly: 0.3,
    })
  })

  test('a limit of zero is a limit, and none is null', () => {
    expect(
      keyResource({ record: { ...record, limitNanos: 0 }, used: { usage: { ...used.usage, totalNanos: 0 }, byok: used.byok }, lastUsedAt }),
    ).toMatchObject({ limit: 0, limit_remaining: 0 })
    const free = { ...record, limitNanos: null }
    expect(keyResource({ record: free, used, lastUsedAt })).toMatchObject({ limit: null, limit_remaining: null })
    expect(currentKeyResource({ record: free, used, lastUsedAt }, [])).toMatchObject({ budgets: [], effective_budget: null })
  })
})

test('both resources are what the contract says, with every key present', () => {
  const key = keyResource({ record, used, lastUsedAt })
  expect(apiKey.strict().parse(key)).toEqual(key)
  expect(Object.keys(key).sort()).toEqual(Object.keys(apiKey.shape).sort())
  const budgets = [budget('workspace', 9), budget('key_limit', 3), budget('api_key', 3)]
  const current = currentKeyResource({ record: { ...record, limitReset: 'monthly' }, used, lastUsedAt }, budgets)
  expect(currentKey.strict().parse(current)).toEqual(current)
  expect(Object.keys(current).sort()).toEqual(Object.keys(currentKey.shape).sort())
  expect(current.budgets).toEqual(budgets)
  // The smallest remaining amount; among equals, the budget that is checked first.
  expect(current.effective_budget).toMatchObject({ scope: 'key_limit', remaining_usd: 3 })
})

test('nothing of a key that could be used is in what is shown of it', () => {
  expect(
    Object.values(keyResource({ record, used, lastUsedAt })).filter((value) => typeof value === 'string' && value.startsWith('pb_')),
  ).toEqual(['pb_inf_…1234'])
})
