/** Inputs that are kept to try a preset with. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const presetTests = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`create table preset_tests (
      id ${text} not null primary key,
      preset_id ${text} not null references presets (id),
      name ${text} not null,
      sealed_input ${text} not null,
      creator_id ${text} not null,
      created_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index preset_tests_listing on preset_tests (preset_id, created_at, id)`.execute(db)
  },
})
