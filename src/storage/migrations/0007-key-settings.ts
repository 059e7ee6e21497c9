/** The word of a key on failures, and whose key it is in the books of an integrator. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const keySettings = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    await sql`alter table api_keys add column provider_failure ${text} check (provider_failure in ('body', 'status', 'auto'))`.execute(db)
    await sql`alter table api_keys add column external_user ${text}`.execute(db)
  },
})
