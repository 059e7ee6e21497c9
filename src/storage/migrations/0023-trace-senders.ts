/**
 * One row for each process that sends traces, with the time until which it holds all of its own. A time in each trace had to be
 * written again and again for all that waited; `held_until` of `traces_waiting` is not read any more. Released: never change it.
 */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const traceSenders = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table trace_senders (id ${text} not null primary key, held_until ${text} not null) ${end}`.execute(db)
    await sql`insert into trace_senders (id, held_until)
      select held_by, max(held_until) from traces_waiting group by held_by`.execute(db)
    await sql`drop index traces_waiting_held_until`.execute(db)
    await sql`create index traces_waiting_held_by on traces_waiting (held_by, destination_id, created_at)`.execute(db)
  },
})
