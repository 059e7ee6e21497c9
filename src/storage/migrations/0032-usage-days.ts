/** The usage of whole days, summed from their hours once they are over. Released: never change it. */
import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'

import type { Engine } from '../engine.ts'

const NAMES = ['workspace_id', 'key_hash', 'user_id', 'model', 'provider', 'preset_id'] as const

const SUMS = [
  'requests',
  'cancelled',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
  'cost_nanos',
  'byok_cost_nanos',
  'estimated_requests',
  'estimated_nanos',
  'unpriced_requests',
] as const

const BUCKETS = 24

export const usageDays = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const small = sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict, without rowid`
    const columns = (names: readonly string[], type: RawBuilder<unknown>): RawBuilder<unknown> =>
      sql.join(names.map((name) => sql`${sql.ref(name)} ${type} not null`))
    const buckets = ['ttft', 'total'].flatMap((latency) => Array.from({ length: BUCKETS }, (_, bucket) => `${latency}_${bucket}`))

    await sql`create table usage_days (
      day ${text} not null,
      ${columns(NAMES, text)},
      preset_version ${integer} not null,
      ${columns(['interface', 'error_type'], text)},
      ${columns(SUMS, integer)},
      ${columns(buckets, small)},
      primary key (day, ${sql.join(NAMES.map((name) => sql.ref(name)))}, preset_version, interface, error_type)
    ) ${end}`.execute(db)
    // By its name it comes after the hours in a backup: hours that are restored would take their days out of it.
    await sql`create table usage_summed_days (
      day ${text} not null primary key,
      complete ${integer} not null,
      run ${text} not null
    ) ${end}`.execute(db)
    await (engine === 'postgres' ? heedLateInPostgres(db) : heedLateInSqlite(db))
  },
})

/**
 * A request that is settled days later, from the journal of a node that was away, changes an hour whose day may be summed: the day is
 * summed anew. By a trigger, since processes of the version before know nothing of days. Hours that are not late pay a comparison.
 */
const heedLateInPostgres = async (db: Kysely<unknown>): Promise<void> => {
  // The lock keeps a sum of the day from beginning while an hour of it is written, and is held for a moment by one that begins.
  await sql`create function patchbay_late_hour() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1886675043, hashtext(substr(new.hour, 1, 10)));
      delete from usage_summed_days where day = substr(new.hour, 1, 10);
      return null;
    end $$`.execute(db)
  await sql`create trigger usage_hours_late after insert or update on usage_hours for each row
    when (new.hour < to_char((now() at time zone 'UTC') - interval '2 days', 'YYYY-MM-DD"T"HH24')) execute function patchbay_late_hour()`.execute(
    db,
  )
}

const heedLateInSqlite = async (db: Kysely<unknown>): Promise<void> => {
  for (const change of ['insert', 'update'])
    await sql`create trigger ${sql.ref(`usage_hours_late_${change}`)} after ${sql.raw(change)} on usage_hours
      when new.hour < strftime('%Y-%m-%dT%H', 'now', '-2 days') begin
        delete from usage_summed_days where day = substr(new.hour, 1, 10);
      end`.execute(db)
}
