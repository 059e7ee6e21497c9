/**
 * Fills the real schema with the wanted number of keys, presets with one version each, members and audit log entries; the database
 * generates them itself.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'

import { isoTimestamp } from '../../src/lib/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import type { Engine } from '../../src/storage/engine.ts'
import type { Schema } from '../../src/storage/tables/schema.ts'
import { fillPatiently, rowsBetween, spread, timeOfRow } from './made-rows.ts'

export interface ManagementRecords {
  readonly records: number
  /** Rows are one second apart, starting here. */
  readonly fromMs: number
}

/** The workspace that gets nine tenths of the rows. */
export const MANY = 'many'
const OTHER = 'other'

export const fillManagement = (database: Database, databaseUrl: string | null, wanted: ManagementRecords): Promise<void> =>
  fillPatiently(database, databaseUrl, (engine, kysely) => fill(engine, kysely, wanted))

const PORTION = 50_000

const fill = async (engine: Engine, kysely: Kysely<Schema>, { records, fromMs }: ManagementRecords): Promise<void> => {
  const isSqlite = engine === 'sqlite'
  const time = timeOfRow(engine, fromMs, 1000)
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
      sql`${head} ${rowsBetween(start, end)} select ${columns} from n`.execute(kysely)
    await insert(
      sql`insert into api_keys (hash, digest, kind, name, label, workspace_id, creator_user_id, disabled, include_byok_in_limit, expires_at, created_at, last_used_at)`,
      sql`${hex}, ${hex}, 'inference', ${letters} || ' ' || ${number}, 'pb_inf_…' || substr(${hex}, 61), ${workspace}, ${person},
        case when i % 50000 = 9 then 1 else 0 end, 0, case when i % 50000 = 11 then '2020-01-01T00:00:00.000Z' end, ${time},
        case when i % 3 = 0 then '' else ${time} end`,
    )
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
      sql`insert into workspace_members (id, workspace_id, user_id, role, created_at)`,
      sql`'member-' || ${number}, ${workspace}, 'person-' || ${number}, 'member', ${time}`,
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
