/** Where a workspace's traces go. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const observabilityDestinations = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text, 64 bits and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table observability_destinations (
      id ${text} not null primary key,
      workspace_id ${text} not null references workspaces (id),
      type ${text} not null,
      name ${text},
      enabled ${integer} not null check (enabled in (0, 1)),
      settings ${text} not null,
      sealed_config ${text} not null,
      created_at ${text} not null,
      updated_at ${text} not null,
      deleted_at ${text}
    ) ${end}`.execute(db)
    await sql`create index observability_destinations_workspace_id on observability_destinations (workspace_id, created_at, id)`.execute(db)
  },
})
