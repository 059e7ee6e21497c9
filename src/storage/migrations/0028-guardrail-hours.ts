/** How often each rule of a guardrail found something, by hours. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const guardrailHours = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict, without rowid`
    await sql`create table guardrail_hours (
      guardrail_id ${text} not null,
      hour ${text} not null,
      rule ${text} not null,
      requests ${integer} not null,
      primary key (guardrail_id, hour, rule)
    ) ${end}`.execute(db)
    await sql`create index guardrail_hours_hour on guardrail_hours (hour)`.execute(db)
  },
})
