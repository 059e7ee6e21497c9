/** Sums the usage of days that are over from their hours, so that a chart of months reads days. */
import { sql, type Transaction } from 'kysely'

import { type Clock, turnOf } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { USAGE_DIMENSIONS, USAGE_MEASURES } from '../tables/usage-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { BUCKET_COLUMNS } from './latency-buckets.ts'
import { nextDay, utcDay } from './usage-windows.ts'

/**
 * Sums up to `limit` days that ended before this ISO timestamp, the earliest first; returns the number. The timestamp must be more than two
 * days ago: a later change of an hour does not have its day summed anew (0032-usage-days.ts).
 */
export const sumUsageDays = async (database: Database, clock: Pick<Clock, 'after'>, before: string, limit: number): Promise<number> => {
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
  if (early.length > 0) await kysely.deleteFrom('usage_summed_days').where('day', '>=', end).execute()
  let count = 0
  for (let day = utcDay(first); day < end && count < limit; day = nextDay(day)) {
    if (summed.has(day)) continue
    await (database.engine === 'postgres' ? sumAtOnce(database, day) : sumInSteps(database, clock, day))
    count += 1
  }
  return count
}

/** A node that writes to an hour of the day waits, and one that sums the same day. */
const sumAtOnce = (database: Database, day: string): Promise<void> =>
  database.transaction(async (transaction) => {
    await sql`select pg_advisory_xact_lock(1886675042, 32)`.execute(transaction)
    await begin(transaction, day)
    await addHours(transaction, day, `${day}T00`, `${day}T24`)
    await complete(transaction, day)
  })

/** SQLite answers nothing else during a statement, so that others have their turn after each hour. If one of them changes the day, it stays incomplete. */
const sumInSteps = async (database: Database, clock: Pick<Clock, 'after'>, day: string): Promise<void> => {
  const write = (work: (transaction: Transaction<Schema>) => Promise<unknown>) => database.transaction(work, 'process')
  await write((transaction) => begin(transaction, day))
  for (let hour = 0; hour < 24; hour++) {
    await turnOf(clock)
    await write((transaction) => addHours(transaction, day, hourText(day, hour), hourText(day, hour + 1)))
  }
  await write((transaction) => complete(transaction, day))
}

const hourText = (day: string, hour: number): string => `${day}T${String(hour).padStart(2, '0')}`

const begin = async (transaction: Transaction<Schema>, day: string): Promise<void> => {
  await transaction.deleteFrom('usage_days').where('day', '=', day).execute()
  await transaction.deleteFrom('usage_summed_days').where('day', '=', day).execute()
  await transaction.insertInto('usage_summed_days').values({ day, complete: 0 }).execute()
}

const addHours = (transaction: Transaction<Schema>, day: string, from: string, to: string) =>
  sql`insert into usage_days (day, ${DIMENSIONS}, ${sql.join(NAMES)})
    select ${day}, ${DIMENSIONS}, ${SUMS} from usage_hours where hour >= ${from} and hour < ${to} group by ${DIMENSIONS}
    on conflict (day, ${DIMENSIONS}) do update set ${ADDED}`.execute(transaction)

const complete = (transaction: Transaction<Schema>, day: string) =>
  transaction.updateTable('usage_summed_days').set({ complete: 1 }).where('day', '=', day).execute()

const DIMENSIONS = sql.join(USAGE_DIMENSIONS.filter((name) => name !== 'hour').map((name) => sql.ref(name)))
const NAMES = [...USAGE_MEASURES, ...BUCKET_COLUMNS].map((name) => sql.ref(name))
const SUMS = sql.join(NAMES.map((name) => sql`sum(${name})`))
const ADDED = sql.join(NAMES.map((name) => sql`${name} = usage_days.${name} + excluded.${name}`))
