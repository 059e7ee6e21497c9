import { expect, test } from 'bun:test'

import * as fc from 'fast-check'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { bucketOf, percentileOf } from './latency-buckets.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { createUsageSeries, MINUTE_RECORDS_MAX, type UsageDimension, type UsageQuery } from './usage-series.ts'
import { generationRecord } from '../testing/generation-record.ts'

const DIMENSIONS: readonly UsageDimension[] = [
  'key',
  'model',
  'provider',
  'preset',
  'preset_version',
  'user',
  'workspace',
  'interface',
  'error_type',
]

const DAY: Omit<UsageQuery, 'groupBy'> = {
  from: '2026-11-20T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  interval: 'hour',
  top: 2,
  sort: 'cost',
  workspaceId: null,
  ownedBy: null,
  only: {},
}

const finished = fc.record({
  hour: fc.integer({ min: 0, max: 23 }),
  key: fc.constantFrom('a', 'b', 'c'),
  model: fc.constantFrom('m/1', 'm/2', 'other', 'm//3'),
  provider: fc.constantFrom(null, 'p', 'q'),
  preset: fc.constantFrom(null, 'preset-1', 'preset-2'),
  error: fc.constantFrom(null, 'timeout'),
  nanos: fc.nat({ max: 1_000_000_000 }),
  byok: fc.nat({ max: 5 }),
  ms: fc.nat({ max: 400_000 }),
})

type Made = typeof finished extends fc.Arbitrary<infer Value> ? Value : never

const recordOf = ({ hour, key, model, provider, preset, error, nanos, byok, ms }: Made, index: number): GenerationRecord =>
  generationRecord({
    id: `gen-${index}`,
    createdAt: `2026-11-20T${String(hour).padStart(2, '0')}:30:00.000Z`,
    workspaceId: key === 'c' ? 'w-2' : 'w-1',
    keyHash: key.repeat(64),
    presetId: preset,
    presetVersion: preset === null ? null : 1,
    model,
    provider,
    tokensPrompt: 3,
    tokensCompletion: 2,
    costNanos: nanos,
    byokCostNanos: byok,
    record: { interface: 'chat', error_type: error, latency: ms, generation_time: ms, native_tokens_reasoning: 1 },
  })

const ONE: Made = {
  hour: 5,
  key: 'a',
  model: 'm/1',
  provider: 'p',
  preset: 'preset-1',
  error: 'timeout',
  nanos: 1_000_000,
  byok: 0,
  ms: 120,
}

describeEachEngine('usage', (engine) => {
  const prepare = async (records: readonly GenerationRecord[]) => {
    const database = await engine.open()
    await createLedgerStore(database).settle(records.map((record) => settlementOf(record)))
    return { database, usage: createUsageSeries(database) }
  }

  test('by whatever it is grouped, the series and the groups are the ledger to the nano-dollar', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(finished, { minLength: 1, maxLength: 60 }), async (made) => {
        const { database, usage } = await prepare(made.map(recordOf))
        const rows = await database.kysely.selectFrom('ledger').select(['amount_n', 'byok_n']).execute()
        const spent = rows.reduce((sum, { amount_n }) => sum + amount_n, 0)
        const byok = rows.reduce((sum, { byok_n }) => sum + byok_n, 0)
        const pairs = DIMENSIONS.map((dimension, at): readonly UsageDimension[] => [
          dimension,
          DIMENSIONS[(at + 1) % DIMENSIONS.length] ?? 'key',
        ])
        for (const groupBy of [[], ...DIMENSIONS.map((dimension) => [dimension]), ...pairs]) {
          const { points, groups } = await usage.read({ ...DAY, groupBy })
          for (const list of [points, groups]) {
            expect(list.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0)).toBe(spent)
            expect(list.reduce((sum, { byok_cost_nanos }) => sum + byok_cost_nanos, 0)).toBe(byok)
            expect(list.reduce((sum, { requests }) => sum + requests, 0)).toBe(made.length)
          }
          expect(groups.length).toBeLessThanOrEqual(3)
        }
        await database.close()
      }),
      { numRuns: engine.name === 'sqlite' ? 2 : 1 },
    )
  })

  test('minutes, days and months, a workspace, a person and a filter', async () => {
    const base: Made = { hour: 5, key: 'a', model: 'm/1', provider: 'p', preset: null, error: 'timeout', nanos: 7, byok: 0, ms: 120 }
    const { usage } = await prepare([recordOf(base, 1), recordOf({ ...base, hour: 7, key: 'c', error: null, nanos: 9 }, 2)])
    const minutes = await usage.read({ ...DAY, interval: 'minute', groupBy: ['model'] })
    expect(minutes.points).toMatchObject([
      { time: '2026-11-20T05:30:00.000Z', group: ['m/1'], requests: 1, errors: 1, cost_nanos: 7, tokens_reasoning: 1 },
      { time: '2026-11-20T07:30:00.000Z', group: ['m/1'], requests: 1, errors: 0, cost_nanos: 9 },
    ])
    expect(minutes.points[0]?.totalP50).toBe((await usage.read({ ...DAY, groupBy: ['error_type'] })).points[0]?.totalP50 ?? -1)
    expect((await usage.read({ ...DAY, interval: 'day', groupBy: [] })).points).toMatchObject([
      { time: '2026-11-20T00:00:00.000Z', requests: 2 },
    ])
    expect((await usage.read({ ...DAY, interval: 'month', groupBy: [] })).points).toMatchObject([{ time: '2026-11-01T00:00:00.000Z' }])
    expect((await usage.read({ ...DAY, workspaceId: 'w-2', groupBy: [] })).groups).toMatchObject([{ cost_nanos: 9 }])
    expect((await usage.read({ ...DAY, ownedBy: 'nobody', groupBy: [] })).groups).toEqual([])
    expect((await usage.read({ ...DAY, only: { error_type: 'timeout' }, groupBy: [] })).groups).toMatchObject([{ cost_nanos: 7 }])
    expect((await usage.read({ ...DAY, only: { preset: [] }, groupBy: [] })).groups).toEqual([])
  })

  test('its groups are those that cost most, or those with the most tokens, requests or failures, in minutes as in hours', async () => {
    const failed = (key: 'a' | 'b' | 'c', count: number, nanos: number) =>
      Array.from({ length: count }, (): Made => ({ ...ONE, key, nanos }))
    const answered = (key: 'a' | 'b' | 'c', count: number): Made[] => failed(key, count, 1).map((one) => ({ ...one, error: null }))
    const made = [...failed('a', 1, 9_000), ...answered('b', 6), ...failed('c', 3, 0)]
    const { database, usage } = await prepare(made.map(recordOf))
    for (const interval of ['minute', 'hour', 'day'] as const) {
      const groupsBy = async (sort: UsageQuery['sort']) => {
        const { groups } = await usage.read({ ...DAY, interval, groupBy: ['key'], sort })
        return groups.map(
          ({ group, requests, errors }) => `${group === null ? 'others' : String(group[0]).slice(0, 1)} ${errors}/${requests}`,
        )
      }
      expect(await groupsBy('cost')).toEqual(['a 1/1', 'b 0/6', 'others 3/3'])
      expect(await groupsBy('tokens')).toEqual(['b 0/6', 'c 3/3', 'others 1/1'])
      expect(await groupsBy('requests')).toEqual(['b 0/6', 'c 3/3', 'others 1/1'])
      expect(await groupsBy('errors')).toEqual(['c 3/3', 'a 1/1', 'others 0/6'])
    }
    const types = await usage.read({ ...DAY, groupBy: ['error_type'], sort: 'errors' })
    expect(types.groups).toMatchObject([
      { group: ['timeout'], requests: 4, errors: 4 },
      { group: [''], requests: 6, errors: 0 },
    ])
    await database.close()
  })
})

describeEachEngine('percentiles', (engine) => {
  test('say how long half of the requests took, 95 of a hundred, and 99 of a hundred', async () => {
    const database = await engine.open()
    const usage = createUsageSeries(database)
    // The 99th percentile leaves out the slowest one, and the 95th the slowest five.
    const times = Array.from({ length: 100 }, (_, index) => (index < 94 ? 120 : index < 98 ? 2000 : 60_000))
    await createLedgerStore(database).settle(times.map((ms, index) => settlementOf(recordOf({ ...ONE, ms }, index))))
    for (const interval of ['minute', 'hour'] as const) {
      const { totalP50, totalP95, totalP99 } = (await usage.read({ ...DAY, interval, groupBy: [] })).groups[0] ?? {}
      expect([totalP50, totalP95, totalP99].map((ms) => bucketOf(ms ?? 0))).toEqual([120, 2000, 60_000].map(bucketOf))
    }
    await database.close()
  })
})

describeEachEngine('minutes', (engine) => {
  test('are dense where one answer would look through more than 50,000 records, of all or of those that an index finds', async () => {
    const database = await engine.open()
    const usage = createUsageSeries(database)
    await createLedgerStore(database).settle([settlementOf(recordOf(ONE, 0))])
    // In portions, each small enough for the time limit of one statement.
    const portion = MINUTE_RECORDS_MAX / 10
    const copy = (
      from: number,
    ) => sql`with recursive n(i) as (select ${sql.lit(from + 1)} union all select i + 1 from n where i < ${sql.lit(from + portion)})
      insert into generations (id, created_at, workspace_id, key_hash, model, streamed, cancelled, tokens_prompt, tokens_completion, cost_nanos, byok_cost_nanos, record)
      select 'copy-' || cast(i as text), created_at, workspace_id, key_hash, 'many', 0, 0, 1, 1, 1, 0, '{}' from n, generations where id = 'gen-0'`
    await database.transaction(async (transaction) => {
      for (let from = 0; from < MINUTE_RECORDS_MAX; from += portion) await copy(from).execute(transaction)
    })
    const minutes: UsageQuery = { ...DAY, interval: 'minute', groupBy: ['model'] }
    expect(await usage.isDense(minutes)).toBe(true)
    expect(await usage.isDense({ ...minutes, only: { model: 'm/1' } })).toBe(false)
    expect(await usage.isDense({ ...minutes, only: { provider: 'p' } })).toBe(true)
    expect(await usage.isDense({ ...minutes, to: minutes.from })).toBe(false)
    expect((await usage.read({ ...minutes, top: 1 })).groups).toMatchObject([
      { group: ['m/1'], requests: 1 },
      { group: null, requests: MINUTE_RECORDS_MAX },
    ])
    await database.close()
  })

  test.each([
    ['key', { key: 'a'.repeat(64) }],
    ['model', { model: 'm/1' }],
    ['provider', { provider: 'p' }],
    ['user', { user: 'nobody' }],
    ['interface', { interface: 'chat' }],
    ['preset', { preset: ['preset-1'] }],
    ['preset_version', { preset_version: 1 }],
    ['error_type', { error_type: 'timeout' }],
    ['two of them', { error_type: 'timeout', key: 'a'.repeat(64) }],
  ] satisfies readonly [string, UsageQuery['only']][])('are what the hours are, filtered by %s', async (_, only) => {
    const database = await engine.open()
    const usage = createUsageSeries(database)
    const made = [
      ONE,
      { ...ONE, key: 'b' as const, nanos: 90 },
      { ...ONE, model: 'm/2' as const, error: null, nanos: 900 },
      { ...ONE, provider: null, preset: null, nanos: 9000 },
    ]
    await createLedgerStore(database).settle(made.map((one, index) => settlementOf(recordOf(one, index))))
    for (const [workspaceId, ownedBy] of [
      [null, null],
      ['w-1', null],
      [null, 'nobody'],
    ] as const) {
      const read = (interval: 'minute' | 'hour') =>
        usage.read({ ...DAY, interval, groupBy: ['key', 'model'], top: 1, only, workspaceId, ownedBy })
      expect((await read('minute')).groups).toEqual((await read('hour')).groups)
    }
    await database.close()
  })
})

test('a percentile lies in the bucket of the value that it stands for', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1 }), fc.constantFrom(0.5, 0.95, 0.99), (values, share) => {
      const counts = Array.from({ length: 24 }, () => 0)
      for (const ms of values) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1
      const sorted = values.toSorted((a, b) => a - b)
      const exact = sorted[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0
      const reported = percentileOf(counts, share) ?? -1
      // A bucket's end is rounded, and is the beginning of the next bucket.
      expect([bucketOf(reported), bucketOf(Math.max(0, reported - 1))]).toContain(bucketOf(exact))
    }),
  )
  expect(percentileOf([0, 0], 0.5)).toBeNull()
})
