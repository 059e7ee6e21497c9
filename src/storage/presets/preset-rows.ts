/** Rows of presets and their versions, as the resources of the contract. */
import type { ExpressionBuilder, Kysely, Selectable } from 'kysely'

import type { PresetResource, PresetVersionResource, PresetWithVersion } from '../../contract/preset.ts'
import { parseJsonInSteps } from '../../lib/json/json-steps.ts'
import { isMap, type JsonValue } from '../../lib/json/json.ts'
import type { Steps, Turn } from '../../lib/steps.ts'
import type { Database } from '../database.ts'
import { readStored, readStoredInSteps, shownIfReadable } from '../rows/damaged-row.ts'
import type { TextSeal } from '../rows/seal.ts'
import { readConfig } from './sealed-config.ts'
import type { PresetsTable, PresetVersionsTable } from '../tables/preset-tables.ts'
import type { Schema } from '../tables/schema.ts'

export interface SealedDatabase {
  readonly database: Database
  /** Opens and seals the secrets in it. */
  readonly seal: TextSeal
}

export interface ReadDatabase extends SealedDatabase {
  /** Starts a turn for work on what was read: a version may be megabytes long. */
  readonly startTurn: () => Turn
}

export type PresetRow = Selectable<PresetsTable>
/** `designated_at` is `designatedAt` below. */
export type PresetVersionRow = Selectable<PresetVersionsTable> & { readonly designated_at: string | null }

export const toPreset = (row: PresetRow): PresetResource => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  status: row.status,
  status_updated_at: row.status_updated_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
  creator_user_id: row.creator_user_id,
  workspace_id: row.workspace_id,
  designated_version_id: row.designated_version_id,
  latest_version: row.last_version,
  labels: shownLabels(row),
  require_evaluation: row.require_evaluation === 1,
})

export const versionInSteps = (row: PresetVersionRow, seal: TextSeal): Steps<PresetVersionResource> =>
  readStoredInSteps('preset_versions', row.id, readVersionInSteps(row, seal))

function* readVersionInSteps(row: PresetVersionRow, seal: TextSeal): Steps<PresetVersionResource> {
  const config = yield* readConfig(row.config, row.id, seal)
  return asVersion(row, config, row.system_prompt === null ? null : textIn(yield* parseJsonInSteps(row.system_prompt)))
}

const textIn = (value: JsonValue): string => {
  if (typeof value !== 'string') throw new TypeError('A text was expected.')
  return value
}

/** The row with its texts as they were parsed. */
export const asVersion = (
  row: PresetVersionRow,
  config: PresetVersionResource['config'],
  systemPrompt: string | null,
): PresetVersionResource => ({
  id: row.id,
  preset_id: row.preset_id,
  version: row.version,
  shape: row.shape,
  config,
  system_prompt: systemPrompt,
  creator_id: row.creator_id,
  created_at: row.created_at,
  updated_at: row.updated_at,
  note: row.note,
  designated_at: row.designated_at,
})

export function* presetWithVersion(preset: PresetRow, version: PresetVersionRow, seal: TextSeal): Steps<PresetWithVersion> {
  return { ...toPreset(preset), designated_version: yield* versionInSteps(version, seal) }
}

/** When a version was last made the one that its preset serves; null if it never was. */
export const designatedAt = (eb: ExpressionBuilder<Schema, 'preset_versions'>) =>
  eb.fn.coalesce(
    eb
      .selectFrom('preset_moves')
      .select((inner) => inner.fn.max('preset_moves.moved_at').as('at'))
      .whereRef('preset_moves.preset_id', '=', 'preset_versions.preset_id')
      .whereRef('preset_moves.to_version', '=', 'preset_versions.version')
      .where('preset_moves.label', 'is', null),
    // Versions from before there was a history were all served when they were saved.
    eb.case().when('preset_versions.saved_as_draft', '=', 0).then(eb.ref('preset_versions.created_at')).else(null).end(),
  )

export const readVersion = (kysely: Kysely<Schema>, id: string): Promise<PresetVersionRow> =>
  kysely
    .selectFrom('preset_versions')
    .selectAll('preset_versions')
    .select((eb) => designatedAt(eb).as('designated_at'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** None if they are damaged: only a request by a label needs them, and a change of them is the mend (decisions/0248). */
export const shownLabels = (row: Pick<PresetRow, 'id' | 'labels'>): PresetResource['labels'] => shownIfReadable(() => labelsOf(row)) ?? {}

/** Throws DamagedRow. */
export const labelsOf = ({ id, labels }: Pick<PresetRow, 'id' | 'labels'>): PresetResource['labels'] =>
  readStored('presets', id, () => {
    const value = JSON.parse(labels) as JsonValue
    // A schema of the library would lose a label that is called `__proto__`.
    if (!isMap(value) || !Object.values(value).every(Number.isInteger)) throw new TypeError('Numbers of versions by label were expected.')
    return value as PresetResource['labels']
  })
