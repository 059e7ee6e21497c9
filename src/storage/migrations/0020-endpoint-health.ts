/** How attempts at providers ended: counted by half hours, with the last failure of each endpoint. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const endpointHealth = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict, without rowid`
    // With what lists of failures are filtered by, so that no record is looked at that does not fit.
    await sql`drop index generations_errors`.execute(db)
    await sql`create index generations_errors on generations
      (created_at, id, workspace_id, error_type, key_hash, user_id, model, provider, preset_id) where error_type is not null`.execute(db)

    await sql`create table endpoint_slots (
      slot ${text} not null check (length(slot) = 16),
      endpoint ${text} not null,
      ok ${integer} not null,
      failed ${integer} not null,
      primary key (slot, endpoint)
    ) ${end}`.execute(db)
    await sql`create table endpoint_last (
      endpoint ${text} not null primary key,
      ok_at ${text} not null,
      error_at ${text} not null,
      error_type ${text} not null,
      error_status ${integer},
      error_message ${text} not null
    ) ${end}`.execute(db)
  },
})
