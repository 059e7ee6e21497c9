import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import type { Database } from '../database.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { auditLedger } from '../ledger/ledger-audit.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { migrate } from '../tables/migrate.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import { migrationsFor } from '../tables/schema.ts'
import { rejection } from '../testing/rejection.ts'
import { settlementOf } from '../testing/settlement.ts'
import { sumUsageDays } from './sum-usage-days.ts'
import { createUsageSeries, type UsageQuery, type UsageSeries } from './usage-series.ts'
import { generationRecord } from '../testing/generation-record.ts'

const recordAt = (createdAt: string, index: number): GenerationRecord =>
  generationRecord({
    id: `gen-${createdAt}-${index}`,
    createdAt,
    workspaceId: `w-${index % 2}`,
    keyHash: String(index % 3).repeat(64),
    model: `m-${index % 4}`,
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

const ALL: Omit<UsageQuery, 'interval' | 'groupBy'> = {
  from: '2020-02-01T00:00:00.000Z',
  to: '2020-02-06T00:00:00.000Z',
  top: 2,
  sort: 'cost',
  workspaceId: null,
  ownedBy: null,
  only: {},
}

const QUERIES: readonly UsageQuery[] = (['hour', 'day', 'month'] as const).flatMap((interval) => [
  { ...ALL, interval, groupBy: [] },
  { ...ALL, interval, groupBy: ['key', 'model'] },
  { ...ALL, interval, groupBy: ['error_type'], from: '2020-02-01T12:00:00.000Z', to: '2020-02-04T12:00:00.000Z' },
  { ...ALL, interval, groupBy: ['provider'], from: '2020-01-01T00:00:00.000Z', to: '2020-03-01T00:00:00.000Z' },
  { ...ALL, interval, groupBy: [], from: '2020-02-02T01:00:00.000Z', to: '2020-02-02T23:00:00.000Z' },
  { ...ALL, interval, groupBy: ['user'], workspaceId: 'w-1', only: { model: 'm-1' } },
])

const optionsOf = (before: string, limit: number) => ({ clock: systemClock, ids: systemIds, before, limit })

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
    expect(await sumUsageDays(database, optionsOf('2020-02-05T10:00:00.000Z', 3))).toBe(3)
    expect(await readAll(database)).toEqual(fromHours)
    expect(await sumUsageDays(database, optionsOf('2020-02-05T10:00:00.000Z', 3))).toBe(1)
    expect(await sumUsageDays(database, optionsOf('2020-02-05T10:00:00.000Z', 3))).toBe(0)
    expect(await readAll(database)).toEqual(fromHours)

    await settle([settlementOf(recordAt('2020-02-02T11:30:00.000Z', 100)), settlementOf(recordAt('2020-02-03T11:30:00.000Z', 101))])
    const withLate = await readAll(database)
    expect(withLate[QUERIES.findIndex(({ interval }) => interval === 'month')]?.points).toMatchObject([{ requests: RECORDS.length + 2 }])
    expect(await sumUsageDays(database, optionsOf('2020-02-05T10:00:00.000Z', 9))).toBe(2)
    expect(await readAll(database)).toEqual(withLate)
  })

  test('are summed in a database in which an earlier form of their migration made their table', async () => {
    const { dataDir, databaseUrl } = await engine.locate()
    const options = { clock: systemClock, ids: systemIds }
    const connection = await (databaseUrl === null
      ? openSqlite({ ...options, dataDir, exclusive: false, onError: () => {} })
      : openPostgres({ databaseUrl, onError: () => {} }))
    const before = Object.entries(migrationsFor(engine.name)).filter(([name]) => name < '0033')
    await migrate(connection, options, Object.fromEntries(before))
    await sql`drop table usage_summed_days`.execute(connection.kysely)
    await sql`create table usage_summed_days (day text not null primary key, complete integer not null)`.execute(connection.kysely)
    await sql`insert into usage_summed_days values ('2020-02-01', 1)`.execute(connection.kysely)
    await connection.close()

    const database = await engine.open({ dataDir, databaseUrl })
    const { settle } = createLedgerStore(database)
    await settle(RECORDS.map((record) => settlementOf(record)))
    const fromHours = await readAll(database)
    expect(await sumUsageDays(database, optionsOf('2020-02-06T00:00:00.000Z', 9))).toBe(5)
    expect(await readAll(database)).toEqual(fromHours)
    await settle([settlementOf(recordAt('2020-02-02T11:30:00.000Z', 100))])
    expect(await sumUsageDays(database, optionsOf('2020-02-06T00:00:00.000Z', 9))).toBe(1)
  })

  test('are compared with their hours by the audit of the ledger, which says how to have a day summed again', async () => {
    const database = await engine.open()
    const { settle } = createLedgerStore(database)
    await settle(RECORDS.map((record) => settlementOf(record)))
    const audited = async () =>
      (await auditLedger(database, '2020-02-06T00:00:00.000Z')).filter(({ invariant }) => invariant === 'I12').map(({ what }) => what)
    const options = optionsOf('2020-02-05T10:00:00.000Z', 9)
    expect(await sumUsageDays(database, options)).toBe(4)
    expect(await audited()).toEqual([])
    await sql`update usage_days set cost_nanos = cost_nanos + 5 where day = '2020-02-02' and error_type = ''`.execute(database.kysely)
    await sql`delete from usage_days where day = '2020-02-04' and key_hash = ${'1'.repeat(64)}`.execute(database.kysely)
    const found = await audited()
    expect(found.map((what) => what.slice(64))).toContainEqual(
      expect.stringMatching(/^ on 2020-02-04: the day and its hours differ by -\d+ requests, -\d+ tokens, -\d+ and -\d+\. The day is /),
    )
    const remedies = new Set(found.map((what) => /: (delete from usage_summed_days where day = '[-\d]+')$/.exec(what)?.[1] ?? ''))
    expect([...remedies].sort()).toEqual(['02', '04'].map((day) => `delete from usage_summed_days where day = '2020-02-${day}'`))
    for (const remedy of remedies) await sql.raw(remedy).execute(database.kysely)
    expect(await sumUsageDays(database, options)).toBe(2)
    expect(await audited()).toEqual([])
  })

  test('are not complete if a request is settled while they are summed, at whatever step', async () => {
    const database = await engine.open()
    const { settle } = createLedgerStore(database)
    await settle(RECORDS.map((record) => settlementOf(record)))
    const before = '2020-02-02T00:00:00.000Z'
    const usage = createUsageSeries(database)
    const read = async () => (await usage.read({ ...ALL, interval: 'day', groupBy: [] })).points[0]?.requests
    // A day of few hours has four steps: its beginning, the removal of old sums, the sums, and its end.
    for (const [index, step] of [1, 2, 3].entries()) {
      let rests = 0
      const after: Clock['after'] = (_, task) => {
        if (++rests === step) void settle([settlementOf(recordAt('2020-02-01T00:30:00.000Z', 100 + step))]).then(task)
        else setImmediate(task)
        return () => undefined
      }
      expect(await sumUsageDays(database, { ...optionsOf(before, 9), clock: { ...systemClock, after } })).toBe(0)
      expect(await read()).toBe(9 + index)
    }
    expect(await sumUsageDays(database, optionsOf(before, 9))).toBe(1)
    expect(await read()).toBe(11)
  })

  test('are summed in short steps however many hours they have, and never by two at once', async () => {
    const database = await engine.open()
    const many = Array.from({ length: 600 }, (_, index) => ({
      ...recordAt(`2020-02-01T${index % 2 === 0 ? '05' : '17'}:00:00.000Z`, index),
      model: `model-${index % 550}`,
    }))
    const { settle } = createLedgerStore(database)
    await settle(many.map((record) => settlementOf(record)))
    const before = '2020-02-02T00:00:00.000Z'
    const usage = createUsageSeries(database)
    const read = () => usage.read({ ...ALL, interval: 'day', groupBy: ['model'] })
    const fromHours = await read()
    let rests = 0
    const after: Clock['after'] = (_, task) => {
      rests += 1
      void sumUsageDays(database, optionsOf(before, 9)).then((days) => {
        // The second one does nothing, except where the first has just ended.
        if (days === 0) task()
      })
      return () => undefined
    }
    expect(await sumUsageDays(database, { ...optionsOf(before, 9), clock: { ...systemClock, after } })).toBe(1)
    expect(rests).toBeGreaterThan(5)
    expect(await read()).toEqual(fromHours)
  })

  test('are summed by another process 15 minutes after one began that died, and the dead one changes nothing any more', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    const before = '2020-02-02T00:00:00.000Z'
    const usage = createUsageSeries(database)
    const read = () => usage.read({ ...ALL, interval: 'day', groupBy: ['key'] })
    const fromHours = await read()
    const stopped = Promise.withResolvers<() => void>()
    let rests = 0
    const after: Clock['after'] = (_, task) => {
      if (++rests === 1) stopped.resolve(task)
      else setImmediate(task)
      return () => undefined
    }
    const dying = sumUsageDays(database, { ...optionsOf(before, 9), clock: { ...systemClock, after } })
    const goOn = await stopped.promise
    expect(await sumUsageDays(database, optionsOf(before, 9))).toBe(0)
    const later = { ...systemClock, now: () => Date.now() + 16 * 60_000 }
    expect(await sumUsageDays(database, { ...optionsOf(before, 9), clock: later })).toBe(1)
    goOn()
    expect(await dying).toBe(0)
    expect(await read()).toEqual(fromHours)
  })

  test('are summed also where one before them cannot be, which is tried again later, and reported', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    await sql`create unique index refuses_a_day on usage_days (day) where day = '2020-02-01'`.execute(database.kysely)
    expect(await rejection(sumUsageDays(database, optionsOf('2020-02-05T00:00:00.000Z', 9)))).toBeInstanceOf(AggregateError)
    const summed = await database.kysely.selectFrom('usage_summed_days').select('day').where('complete', '=', 1).orderBy('day').execute()
    expect(summed.map(({ day }) => day)).toEqual(['2020-02-02', '2020-02-03', '2020-02-04'])
    // Until then it is left alone.
    expect(await sumUsageDays(database, optionsOf('2020-02-05T00:00:00.000Z', 9))).toBe(0)
  })

  test('are read in place of their hours', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    await sumUsageDays(database, optionsOf('2020-02-05T00:00:00.000Z', 9))
    const usage = createUsageSeries(database)
    const days: UsageQuery = { ...ALL, interval: 'day', groupBy: ['model'] }
    const before = await usage.read(days)
    await database.kysely.deleteFrom('usage_hours').where('hour', '<', '2020-02-05').execute()
    expect(await usage.read(days)).toEqual(before)
  })

  test('are none that are not over, also where the clock was set back', async () => {
    const database = await engine.open()
    await createLedgerStore(database).settle(RECORDS.map((record) => settlementOf(record)))
    expect(await sumUsageDays(database, optionsOf('2020-02-06T00:00:00.000Z', 9))).toBe(5)
    expect(await sumUsageDays(database, optionsOf('2020-02-03T23:59:59.999Z', 9))).toBe(0)
    const summed = await database.kysely.selectFrom('usage_summed_days').select('day').orderBy('day').execute()
    expect(summed.map(({ day }) => day)).toEqual(['2020-02-01', '2020-02-02'])
  })

  test('are none of a database without use', async () => {
    expect(await sumUsageDays(await engine.open(), optionsOf('2020-02-06T00:00:00.000Z', 9))).toBe(0)
  })
})
