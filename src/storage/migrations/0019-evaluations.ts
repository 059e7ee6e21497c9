/** Evaluations of presets and their items. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const evaluations = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`create table evaluations (
      id ${text} not null primary key,
      workspace_id ${text} not null,
      preset_id ${text} not null references presets (id),
      preset_slug ${text} not null,
      state ${text} not null check (state in ('running', 'done', 'stopped', 'cancelled')),
      key_hash ${text} not null,
      sealed_spec ${text} not null,
      items_total ${integer} not null,
      cost_nanos ${integer} not null,
      passed ${integer} check (passed in (0, 1)),
      reason ${text},
      held_by ${text},
      held_until ${text},
      created_at ${text} not null,
      ended_at ${text}
    ) ${end}`.execute(db)
    await sql`create index evaluations_listing on evaluations (preset_id, created_at, id)`.execute(db)
    await sql`create index evaluations_running on evaluations (id) where state = 'running'`.execute(db)

    await sql`create table evaluation_items (
      evaluation_id ${text} not null references evaluations (id),
      position ${integer} not null,
      sealed_item ${text} not null,
      sealed_result ${text},
      primary key (evaluation_id, position)
    ) ${end}`.execute(db)
  },
})
