/** For the list of presets: what each serves, and who changed it last. One statement, however many rows the list has. */
import { sql } from 'kysely'
import { z } from 'zod'

import type { PresetSummary } from '../../contract/preset-query.ts'
import { split } from '../../contract/split.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { readStored, readStoredJson, shownIfReadable } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import { tableBy } from '../statements/table-by.ts'

/** A longer configuration is not read for a list: it contains long tools, and a page may have a hundred of them. */
const CONFIG_MAX = 65_536

/** By id. */
export const readPresetSummaries = async (
  { engine, reports }: Pick<Database, 'engine' | 'reports'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PresetSummary>> => {
  if (ids.length === 0) return new Map()
  // Entries about tests and evaluations do not change what a preset serves.
  const lastChange = sql`select entry.id from (select * from ${tableBy(engine, 'audit_log', 'audit_log_object')}
      where object_type = 'preset' and object_id = p.slug and workspace_id = p.workspace_id
        and action not like 'evaluation%' and action not like 'test%') as entry
    order by entry.created_at desc, entry.id desc limit 1`
  const { rows } = await sql<SummaryRow>`
    select p.id as id, v.version as version, case when length(v.config) <= ${sql.lit(CONFIG_MAX)} then v.config end as config, r.splits as splits,
      a.created_at as changed_at, a.user_id as user_id, a.key_hash as key_hash, k.name as key_name, m.name as user_name
    from presets p
    join preset_versions v on v.id = p.designated_version_id
    left join preset_rollouts r on r.preset_id = p.id and r.state = 'running'
    left join audit_log a on a.id = (${lastChange})
    left join api_keys k on k.hash = a.key_hash
    left join workspace_members m on m.workspace_id = p.workspace_id and m.user_id = a.user_id
    where p.id in (${sql.join(ids)})`.execute(reports)
  return new Map(rows.map((row) => [row.id, summaryOf(row)]))
}

interface SummaryRow {
  readonly id: string
  readonly version: number
  readonly config: string | null
  readonly splits: string | null
  readonly changed_at: string | null
  readonly user_id: string | null
  readonly key_hash: string | null
  readonly key_name: string | null
  readonly user_name: string | null
}

const splitList = z.array(split)

const summaryOf = ({ id, version, config, splits, changed_at: at, ...by }: SummaryRow): PresetSummary => ({
  live_version: version,
  model: config === null ? null : shownIfReadable(() => readStored('preset_versions', `${id} ${version}`, () => modelIn(config))),
  splits: splits === null ? null : shownIfReadable(() => readStoredJson('preset_rollouts', id, splitList, splits)),
  last_change: at === null ? null : { at, user_id: by.user_id, user_name: by.user_name, key_hash: by.key_hash, key_name: by.key_name },
})

/** Sealed secrets are stored beside the rest of a configuration, and the model is never one of them. */
const modelIn = (stored: string): string | null => {
  const value = JSON.parse(stored) as JsonObject | readonly [JsonObject, string]
  const { model } = (Array.isArray(value) ? value[0] : value) as JsonObject
  return typeof model === 'string' ? model : null
}
