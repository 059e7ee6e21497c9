/** Traces on their way to their destinations. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const tracesWaiting = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table traces_waiting (
      id ${text} not null primary key,
      destination_id ${text} not null,
      sealed ${text} not null,
      created_at ${text} not null,
      held_by ${text} not null,
      held_until ${text} not null
    ) ${end}`.execute(db)
    await sql`create index traces_waiting_held_until on traces_waiting (held_until)`.execute(db)
    await sql`create index traces_waiting_created_at on traces_waiting (created_at)`.execute(db)
  },
})
