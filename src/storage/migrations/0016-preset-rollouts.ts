/** Rollouts of presets, one for each preset, and what their requests are compared by. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const presetRollouts = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`

    await sql`create table preset_rollouts (
      preset_id ${text} not null primary key references presets (id),
      id ${text} not null,
      state ${text} not null check (state in ('running', 'halted', 'ended')),
      live_version ${integer} not null,
      splits ${text} not null,
      segments ${text} not null,
      sticky ${text} not null check (sticky in ('session', 'user', 'key', 'none')),
      halt ${text},
      looks ${text} not null,
      started_at ${text} not null,
      updated_at ${text} not null,
      ended_at ${text},
      reason ${text}
    ) ${end}`.execute(db)
    await sql`create index preset_rollouts_running on preset_rollouts (preset_id) where state = 'running'`.execute(db)

    await sql`alter table generations add column rollout_id ${text}`.execute(db)
    await sql`alter table generations add column guardrail_hits ${integer}`.execute(db)
    await sql`create index generations_rollout on generations (rollout_id, preset_version) where rollout_id is not null`.execute(db)
  },
})
