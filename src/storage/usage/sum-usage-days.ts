/** Sums the usage of days that are over from their hours, so that a chart of months reads days. */
import { type RawBuilder, sql, type Transaction } from 'kysely'

import { type Clock, isoTimestamp, pause } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { Database } from '../database.ts'
import { USAGE_DIMENSIONS, USAGE_MEASURES } from '../tables/usage-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { BUCKET_COLUMNS } from './latency-buckets.ts'
import { nextDay, utcDay } from './usage-windows.ts'

interface SumOptions {
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'uuid'>
  /** An ISO timestamp more than two days ago: a later change of an hour does not have its day summed anew (0032-usage-days.ts). */
  readonly before: string
  /** How many days are begun at most. */
  readonly limit: number
}

/** Sums days that ended before, the earliest first, and returns their number. A day that fails keeps no other from being summed; then it throws. */
export const sumUsageDays = async (database: Database, { clock, ids, before, limit }: SumOptions): Promise<number> => {
  const { kysely } = database
  const { first } = await kysely
    .selectFrom('usage_hours')
    .select((eb) => eb.fn.min<string | null>('hour').as('first'))
    .executeTakeFirstOrThrow()
  if (first === null) return 0
  const end = utcDay(before)
  const rows = await kysely.selectFrom('usage_summed_days').select('day').where('complete', '=', 1).execute()
  const summed = new Set(rows.map(({ day }) => day))
  // The clock was set back since.
  const early = [...summed].filter((day) => day >= end)
  if (early.length > 0) {
    await database.transaction((transaction) => transaction.deleteFrom('usage_summed_days').where('day', '>=', end).execute(), 'process')
  }
  const failures: unknown[] = []
  let count = 0
  for (let day = utcDay(first); day < end && count + failures.length < limit; day = nextDay(day)) {
    if (summed.has(day)) continue
    try {
      if (await sumDay(database, { clock, ids }, day)) count += 1
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `The usage of ${failures.length} days could not be summed.`)
  return count
}

/**
 * In short transactions, each of which has a rest as long after it: requests come first. A change of one of its hours meanwhile ends it, since
 * the row of the run is gone then. Returns false if so, or if another run is at it.
 */
const sumDay = async (database: Database, { clock, ids }: Pick<SumOptions, 'clock' | 'ids'>, day: string): Promise<boolean> => {
  const run = `${isoTimestamp(clock.now())} ${ids.uuid()}`
  const write = async <T>(work: (transaction: Transaction<Schema>) => Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs()
    const result = await database.transaction(work, 'process')
    await pause(clock, clock.monotonicMs() - startMs)
    return result
  }
  /** Locks the row of the run, so that a change of an hour comes before or after the step. */
  const goOn = (transaction: Transaction<Schema>, complete: 0 | 1) =>
    transaction
      .updateTable('usage_summed_days')
      .set({ complete })
      .where('day', '=', day)
      .where('run', '=', run)
      .executeTakeFirstOrThrow()
      .then(({ numUpdatedRows }) => numUpdatedRows > 0n)
  const goThrough = async (source: Source, step: (transaction: Transaction<Schema>, range: RawBuilder<unknown>) => Promise<unknown>) => {
    for (let after: Key | null = null; ;) {
      const last: Key | 'end' | 'lost' = await write(async (transaction) => {
        if (!(await goOn(transaction, 0))) return 'lost'
        const key = await lastOfStep(transaction, source, day, after)
        await step(transaction, rangeOf(source, day, after, key))
        return key ?? 'end'
      })
      if (typeof last === 'string') return last === 'end'
      after = last
    }
  }
  const staleRun = isoTimestamp(clock.now() - RUN_MAX_MS)
  return (
    (await write((transaction) => begin(transaction, database.engine, { day, run, staleRun }))) &&
    (await goThrough(DAYS, (transaction, range) => sql`delete from usage_days where ${range}`.execute(transaction))) &&
    (await goThrough(HOURS, (transaction, range) => addHours(transaction, day, range))) &&
    (await write((transaction) => goOn(transaction, 1)))
  )
}

/** A run that began longer ago is dead, or failed. If it goes on after all, it finds that the row is another's. */
const RUN_MAX_MS = 15 * 60_000

/** Never waits for another node: whoever settles requests of the day, or begins to sum it, has it to himself. */
const begin = async (
  transaction: Transaction<Schema>,
  engine: Database['engine'],
  { day, run, staleRun }: { readonly day: string; readonly run: string; readonly staleRun: string },
): Promise<boolean> => {
  if (engine === 'postgres') {
    // The lock of the trigger in 0032-usage-days.ts.
    const { rows } = await sql<{ isFree: boolean }>`select pg_try_advisory_xact_lock(1886675043, hashtext(${day})) as "isFree"`.execute(
      transaction,
    )
    if (rows[0]?.isFree !== true) return false
  }
  const row = await transaction.selectFrom('usage_summed_days').selectAll().where('day', '=', day).executeTakeFirst()
  if (row !== undefined && (row.complete === 1 || row.run > staleRun)) return false
  await transaction
    .insertInto('usage_summed_days')
    .values({ day, complete: 0, run })
    .onConflict((conflict) => conflict.column('day').doUpdateSet({ complete: 0, run }))
    .execute()
  return true
}

type Key = readonly unknown[]

interface Source {
  readonly table: 'usage_hours' | 'usage_days'
  /** The columns of its primary key, in their order. */
  readonly columns: readonly string[]
}

const NAMES_OF_SUMS = [...USAGE_MEASURES, ...BUCKET_COLUMNS]
const DIMENSIONS = USAGE_DIMENSIONS.filter((name) => name !== 'hour')
const HOURS: Source = { table: 'usage_hours', columns: ['hour', ...DIMENSIONS] }
const DAYS: Source = { table: 'usage_days', columns: ['day', ...DIMENSIONS] }

/** SQLite answers nothing else during a step: some ten milliseconds for as many rows. */
const STEP_ROWS = 250

/** The key at which a step ends; null for the last step. */
const lastOfStep = async (transaction: Transaction<Schema>, source: Source, day: string, after: Key | null): Promise<Key | null> => {
  const columns = namesOf(source.columns)
  const { rows } = await sql<Record<string, unknown>>`select ${columns} from ${sql.ref(source.table)}
    where ${rangeOf(source, day, after, null)} order by ${columns} limit 1 offset ${sql.lit(STEP_ROWS - 1)}`.execute(transaction)
  const row = rows[0]
  return row === undefined ? null : source.columns.map((name) => row[name])
}

/** The rows of the day after the one key up to the other. */
const rangeOf = ({ columns: [time = '', ...others] }: Source, day: string, after: Key | null, last: Key | null): RawBuilder<unknown> => {
  const columns = namesOf([time, ...others])
  const start = after === null ? sql`${sql.ref(time)} >= ${day}` : sql`(${columns}) > (${sql.join(after)})`
  return last === null ? sql`${start} and ${sql.ref(time)} < ${nextDay(day)}` : sql`${start} and (${columns}) <= (${sql.join(last)})`
}

const addHours = (transaction: Transaction<Schema>, day: string, range: RawBuilder<unknown>) =>
  sql`insert into usage_days (day, ${GROUP}, ${namesOf(NAMES_OF_SUMS)})
    select ${day}, ${GROUP}, ${SUMS} from usage_hours where ${range} group by ${GROUP}
    on conflict (day, ${GROUP}) do update set ${ADDED}`.execute(transaction)

const namesOf = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))

const GROUP = namesOf(DIMENSIONS)
const SUMS = sql.join(NAMES_OF_SUMS.map((name) => sql`sum(${sql.ref(name)})`))
const ADDED = sql.join(NAMES_OF_SUMS.map((name) => sql`${sql.ref(name)} = usage_days.${sql.ref(name)} + excluded.${sql.ref(name)}`))
