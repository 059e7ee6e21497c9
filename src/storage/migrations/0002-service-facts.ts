/** Facts that the service keeps about the database itself. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const serviceFacts = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table service_facts (name ${text} not null primary key, value ${text} not null) ${end}`.execute(db)
  },
})
