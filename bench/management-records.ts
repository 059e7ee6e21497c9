/** As many keys, presets with a version each, and entries of the audit log, with the real schema: made by the database itself. */
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely'
import { Pool } from 'pg'

import { isoTimestamp } from '../src/lib/clock.ts'
import type { Database } from '../src/storage/database.ts'
import type { Engine } from '../src/storage/engine.ts'
import type { Schema } from '../src/storage/schema.ts'

export interface ManagementRecords {
  readonly records: number
  /** One a second, from then on. */
  readonly fromMs: number
}

/** The workspace that has nine tenths of them. */
export const MANY = 'many'
const OTHER = 'other'

/** The service ends a statement after some seconds; to fill a table takes longer. */
export const fillManagement = async (database: Database, databaseUrl: string | null, wanted: ManagementRecords): Promise<void> => {
  if (databaseUrl === null) return fill(database.engine, database.kysely, wanted)
  const pool = new Pool({ connectionString: databaseUrl, max: 1 })
  const patient = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await fill(database.engine, patient, wanted)
  } finally {
    await patient.destroy()
  }
}

const PORTION = 50_000

const fill = async (engine: Engine, kysely: Kysely<Schema>, { records, fromMs }: ManagementRecords): Promise<void> => {
  const isSqlite = engine === 'sqlite'
  const time = isSqlite
    ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', (${sql.lit(fromMs)} + i * 1000) / 1000.0, 'unixepoch')`
    : sql`to_char(to_timestamp((${sql.lit(fromMs)} + i * 1000) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const number = sql`cast(i as text)`
  const hex = isSqlite ? sql`printf('%064x', i)` : sql`lpad(to_hex(i), 64, '0')`
  const workspace = sql`case when i % 10 = 3 then ${sql.lit(OTHER)} else ${sql.lit(MANY)} end`
  const person = sql`'user-' || cast(${spread(1000)} as text)`
  const letters = sql`substr('abcdefghijklmnopqrstuvwxyz', cast(${spread(20)} as integer) + 1, 4)`
  for (const id of [MANY, OTHER])
    await sql`insert into workspaces (id, slug, name, created_at, created_by, updated_at)
      values (${id}, ${id}, ${id}, ${isoTimestamp(fromMs)}, 'ada', ${isoTimestamp(fromMs)})`.execute(kysely)
  for (let start = 0; start < records; start += PORTION) {
    const end = Math.min(records, start + PORTION) - 1
    const insert = (head: RawBuilder<unknown>, columns: RawBuilder<unknown>): Promise<unknown> =>
      sql`${head} with recursive n(i) as (select cast(${sql.lit(start)} as bigint) union all select i + 1 from n where i < ${sql.lit(end)}) select ${columns} from n`.execute(
        kysely,
      )
    await insert(
      sql`insert into api_keys (hash, digest, kind, name, label, workspace_id, creator_user_id, disabled, include_byok_in_limit, expires_at, created_at)`,
      sql`${hex}, ${hex}, 'inference', ${letters} || ' ' || ${number}, 'pb_inf_' || substr(${hex}, 60), ${workspace}, ${person},
        case when i % 50000 = 9 then 1 else 0 end, 0, case when i % 50000 = 11 then '2020-01-01T00:00:00.000Z' end, ${time}`,
    )
    await insert(sql`insert into key_uses (key_hash, last_used_at)`, sql`${hex}, ${time}`)
    await insert(
      sql`insert into presets (id, workspace_id, slug, name, status, creator_user_id, last_version, designated_version_id, labels, created_at, updated_at)`,
      sql`'preset-' || ${number}, ${workspace}, ${letters} || '-' || ${number}, ${letters} || ' ' || ${number},
        case when i % 50000 = 9 then 'archived' else 'active' end, ${person}, 1, 'version-' || ${number}, '{}', ${time}, ${time}`,
    )
    await insert(
      sql`insert into preset_versions (id, preset_id, version, shape, config, creator_id, created_at, updated_at)`,
      sql`'version-' || ${number}, 'preset-' || ${number}, 1, 'chat', '{}', ${person}, ${time}, ${time}`,
    )
    await insert(
      sql`insert into audit_log (id, created_at, workspace_id, user_id, action, object_type, object_id, "before", "after")`,
      sql`'entry-' || ${number}, ${time}, ${workspace}, ${person}, case when i % 50000 = 9 then 'deleted' else 'updated' end,
        case when i % 50000 = 7 then 'guardrail' when i % 3 = 0 then 'preset' else 'api_key' end, 'object-' || cast(i / 10 as text),
        ${sql.lit(JSON.stringify({ name: 'before', filler: 'x'.repeat(300) }))}, ${sql.lit(JSON.stringify({ name: 'after', filler: 'y'.repeat(300) }))}`,
    )
  }
  await (isSqlite ? sql`analyze` : sql`vacuum analyze`).execute(kysely)
}

/** One of so many, in no order that an index would know. */
const spread = (of: number) => sql`((i * 2654435761) % ${sql.lit(of)})`
