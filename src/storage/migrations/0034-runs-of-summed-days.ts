/** The table of summed days as 0032 makes it, where an earlier form of 0032 had made it without `run`. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const runsOfSummedDays = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const found = await (
      engine === 'postgres'
        ? sql`select 1 from pg_attribute where attrelid = 'usage_summed_days'::regclass and attname = 'run' and not attisdropped`
        : sql`select 1 from pragma_table_info('usage_summed_days') where name = 'run'`
    ).execute(db)
    if (found.rows.length > 0) return
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    // Without their rows all days count as not summed, and are summed again.
    await sql`drop table usage_summed_days`.execute(db)
    await sql`create table usage_summed_days (
      day ${text} not null primary key,
      complete ${integer} not null,
      run ${text} not null
    ) ${engine === 'postgres' ? sql`` : sql`strict, without rowid`}`.execute(db)
    if (engine === 'sqlite') return
    // It took one lock for all days.
    await sql`create or replace function patchbay_late_hour() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1886675043, hashtext(substr(new.hour, 1, 10)));
      delete from usage_summed_days where day = substr(new.hour, 1, 10);
      return null;
    end $$`.execute(db)
  },
})
