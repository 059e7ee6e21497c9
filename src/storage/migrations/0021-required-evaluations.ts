/** Presets whose versions go live only once they have passed an evaluation. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const requiredEvaluations = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    await sql`alter table presets add column require_evaluation ${integer} not null default 0 check (require_evaluation in (0, 1))`.execute(
      db,
    )
    // The sealed evidence of an evaluation from before this ran proves nothing here: it is run again.
    await sql`alter table evaluations add column version ${integer}`.execute(db)
    await sql`create index evaluations_passed on evaluations (preset_id, version) where passed = 1`.execute(db)
  },
})
