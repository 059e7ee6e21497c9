/** The question and the answer, sealed, where a workspace wants them kept. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const generationContents = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table generation_contents (
      id ${text} not null primary key,
      workspace_id ${text} not null,
      created_at ${text} not null,
      expires_at ${text} not null,
      sealed ${text} not null
    ) ${end}`.execute(db)
    await sql`create index generation_contents_expires_at on generation_contents (expires_at)`.execute(db)
  },
})
