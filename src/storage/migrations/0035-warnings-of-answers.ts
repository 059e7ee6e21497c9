/** The warnings of an answer that is kept for a repetition. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const warningsOfAnswers = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    await sql`alter table idempotency_keys add column warnings ${engine === 'postgres' ? sql`text collate "C"` : sql`text`}`.execute(db)
  },
})
