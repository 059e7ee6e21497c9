import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { sumUsageDays } from './sum-usage-days.ts'
import { createUsageSeries, type UsageQuery, type UsageSeries } from './usage-series.ts'

const recordAt = (createdAt: string, index: number): GenerationRecord => ({
  id: `gen-${createdAt}-${index}`,
  createdAt,
  workspaceId: `w-${index % 2}`,
  keyHash: String(index % 3).repeat(64),
  presetId: null,
  presetVersion: null,
  model: `m-${index % 4}`,
  provider: 'p',
  streamed: false,
  cancelled: index % 5 === 0,
  tokensPrompt: 3,
  tokensCompletion: 2,
  costNanos: 1_000_000 + index,
  byokCostNanos: index,
  record: { interface: 'chat', error_type: index % 7 === 0 ? 'timeout' : null, latency: index, generation_time: index * 10 },
})

/** Four days of which the third has nothing, with requests in each hour that begins, ends or divides them. */
const RECORDS = ['01', '02', '04', '05'].flatMap((day) =>
  ['00', '11', '12', '23'].flatMap((hour, at) => [1, 2].map((more) => recordAt(`2020-02-${day}T${hour}:59:59.999Z`, at * 2 + more))),
)

const ALL = { from: '2020-02-01T00:00:00.000Z', to: '2020-02-06T00:00:00.000Z', top: 2, workspaceId: null, ownedBy: null, only: {} }

const QUERIES: readonly UsageQuery[] = (['hour', 'day', 'month'] as const).flatMap((interval) => [
  { ...ALL, interval, groupBy: [] },
  { ...ALL, interval, groupBy: ['key', 'model'] },
  { ...ALL, interval, groupBy: ['error_type'], from: '2020-02-01T12:00:00.000Z', to: '2020-02-04T12:00:00.000Z' },
  { ...ALL, interval, groupBy: ['provider'], from: '2020-01-01T00:00:00.000Z', to: '2020-03-01T00:00:00.000Z' },
  { ...ALL, interval, groupBy: [], from: '2020-02-02T01:00:00.000Z', to: '2020-02-02T23:00:00.000Z' },
  { ...ALL, interval, groupBy: ['user'], workspaceId: 'w-1', only: { model: 'm-1' } },
])

describeEachEngine('days that are summed', (engine) => {
  const readAll = async (database: Database): Promise<readonly UsageSeries[]> => {
    const usage = createUsageSeries(database)
    const read: UsageSeries[] = []
    for (const query of QUERIES) read.push(await usage.read(query))
    return read
  }

  test('are what their hours are, by whatever they are read, and a request that is settled late is in them at once', async () => {
    const database = await engine.open()
    const { settle } = createLedgerStore(database)
    await settle(RECORDS.map((record) => settlementOf(record)))
    const fromHours = await readAll(database)
    expect(await sumUsageDays(database, systemClock, '2020-02-05T10:00:00.000Z', 3)).toBe(3)
    expect(await readAll(database)).toEqual(fromHours)
    expect(await sumUsageDays(database, systemClock, '2020-02-05T10:00:00.000Z', 3)).toBe(1)
    expect(await sumUsageDays(database, systemClock, '2020-02-05T10:00:00.000Z', 3)).toBe(0)
    expect(await readAll(database)).toEqual(fromHours)

    await settle([settlementOf(recordAt('2020-02-02T11:30:00.000Z', 100)), settlementOf(recordAt('2020-02-03T11:30:00.000Z', 101))])
    const withLate = await readAll(database)
    expect(withLate[QUERIES.findIndex(({ interval }) => interval === 'month')]?.points).toMatchObject([{ requests: RECORDS.length + 2 }])
    expect(await sumUsageDays(database, systemClock, '2020-02-05T10:00:00.000Z', 9)).toBe(2)
    expect(await readAll(database)).toEqual(withLate)
  })

  test('are not complete if a request is settled while they are summed', async () => {
    // PostgreSQL sums them at once, and whoever settles waits.
    if (engine.name === 'postgres') return
    const database = await engine.open()
    const { settle } = createLedgerStore(database)
    await settle(RECORDS.map((record) => settlementOf(record)))
    let turns = 0
    const after = (_: number, task: () => void) => {
      if (++turns === 20) void settle([settlementOf(recordAt('2020-02-01T00:30:00.000Z', 100))]).then(task)
      else setImmediate(task)
      return () => undefined
    }
    await sumUsageDays(database, { after }, '2020-02-02T00:00:00.000Z', 9)
    const usage = createUsageSeries(database)
    const read = async () => (await usage.read({ ...ALL, interval: 'day', groupBy: [] })).points[0]?.requests
    expect(await read()).toBe(9)
    expect(await sumUsageDays(database, systemClock, '2020-02-02T00:00:00.000Z', 9)).toBe(1)
    expect(await read()).toBe(9)
  })

  test('are read in place of their hours', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    await sumUsageDays(database, systemClock, '2020-02-05T00:00:00.000Z', 9)
    const usage = createUsageSeries(database)
    const days: UsageQuery = { ...ALL, interval: 'day', groupBy: ['model'] }
    const before = await usage.read(days)
    await database.kysely.deleteFrom('usage_hours').where('hour', '<', '2020-02-05').execute()
    expect(await usage.read(days)).toEqual(before)
  })

  test('are none that are not over, also where the clock was set back', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    expect(await sumUsageDays(database, systemClock, '2020-02-06T00:00:00.000Z', 9)).toBe(5)
    expect(await sumUsageDays(database, systemClock, '2020-02-03T23:59:59.999Z', 9)).toBe(0)
    const summed = await database.kysely.selectFrom('usage_summed_days').select('day').orderBy('day').execute()
    expect(summed.map(({ day }) => day)).toEqual(['2020-02-01', '2020-02-02'])
  })

  test('are none of a database without use', async () => {
    expect(await sumUsageDays(await engine.open(), systemClock, '2020-02-06T00:00:00.000Z', 9)).toBe(0)
  })
})
