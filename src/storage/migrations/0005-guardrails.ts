/** Guardrails and whom they are assigned to. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const guardrails = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    // Bytewise text and strict types, for the reasons in 0001.
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table guardrails (
      id ${text} not null primary key,
      workspace_id ${text} not null references workspaces (id),
      is_default ${integer} not null check (is_default in (0, 1)),
      name ${text} not null,
      limit_nanos ${integer} check (limit_nanos > 0),
      reset_interval ${text} check (reset_interval in ('daily', 'weekly', 'monthly')),
      include_byok ${integer} not null check (include_byok in (0, 1)),
      settings ${text} not null,
      created_at ${text} not null,
      updated_at ${text}
    ) ${end}`.execute(db)
    await sql`create index guardrails_listing on guardrails (workspace_id, created_at, id)`.execute(db)
    await sql`create unique index guardrails_default on guardrails (workspace_id) where is_default = 1`.execute(db)

    await sql`create table guardrail_assignments (
      id ${text} not null primary key,
      guardrail_id ${text} not null references guardrails (id) on delete cascade,
      workspace_id ${text} not null references workspaces (id),
      subject_kind ${text} not null check (subject_kind in ('key', 'member')),
      subject ${text} not null,
      assigned_by ${text},
      created_at ${text} not null,
      constraint guardrail_assignments_subject_unique unique (workspace_id, subject_kind, subject)
    ) ${end}`.execute(db)
    await sql`create index guardrail_assignments_guardrail on guardrail_assignments (guardrail_id, created_at, id)`.execute(db)
  },
})
