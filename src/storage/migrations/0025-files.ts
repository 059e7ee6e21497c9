/** Files of workspaces, in sealed pieces. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const files = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`create table files (
      id ${text} not null primary key,
      workspace_id ${text} not null,
      filename ${text} not null,
      mime_type ${text} not null,
      size_bytes ${integer} not null,
      complete ${integer} not null check (complete in (0, 1)),
      created_at ${text} not null
    ) ${end}`.execute(db)
    await sql`create index files_listing on files (workspace_id, created_at, id)`.execute(db)
    await sql`create index files_incomplete on files (created_at) where complete = 0`.execute(db)

    await sql`create table file_pieces (
      file_id ${text} not null,
      position ${integer} not null,
      sealed ${text} not null,
      primary key (file_id, position)
    ) ${end}`.execute(db)
    await sql`create index file_pieces_first on file_pieces (file_id) where position = 0`.execute(db)
  },
})
