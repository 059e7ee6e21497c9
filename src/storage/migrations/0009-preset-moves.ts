/** Versions that are saved before they are served, with a note; and what a preset and its labels stood at, when. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const presetMoves = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`alter table preset_versions add column note ${text}`.execute(db)
    // Every version that a process from before this writes is served at once.
    await sql`alter table preset_versions add column saved_as_draft ${integer} not null default 0 check (saved_as_draft in (0, 1))`.execute(
      db,
    )

    await sql`create table preset_moves (
      preset_id ${text} not null references presets (id),
      position ${integer} not null check (position >= 1),
      label ${text},
      from_version ${integer},
      to_version ${integer},
      moved_at ${text} not null,
      user_id ${text},
      key_hash ${text},
      primary key (preset_id, position)
    ) ${end}`.execute(db)
    await sql`create index preset_moves_served on preset_moves (preset_id, to_version, moved_at) where label is null`.execute(db)
  },
})
