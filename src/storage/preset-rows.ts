/** Rows of presets and their versions, as the resources of the contract. */
import type { Selectable } from 'kysely'

import type { PresetResource, PresetVersionResource, PresetWithVersion } from '../contract/preset.ts'
import type { Database } from './database.ts'
import { readConfig, type TextSeal } from './sealed-config.ts'
import type { PresetsTable, PresetVersionsTable } from './schema.ts'

export interface SealedDatabase {
  readonly database: Database
  /** Opens and seals the secrets in it. */
  readonly seal: TextSeal
}

export type PresetRow = Selectable<PresetsTable>
export type PresetVersionRow = Selectable<PresetVersionsTable>

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
  labels: parseLabels(row.labels),
})

export const toVersion = ({ config, system_prompt, ...row }: PresetVersionRow, seal: TextSeal): PresetVersionResource => ({
  ...row,
  config: readConfig(config, row.id, seal),
  system_prompt: system_prompt === null ? null : (JSON.parse(system_prompt) as string),
})

export const toPresetWithVersion = (preset: PresetRow, version: PresetVersionRow, seal: TextSeal): PresetWithVersion => ({
  ...toPreset(preset),
  designated_version: toVersion(version, seal),
})

export const parseLabels = (labels: string): PresetResource['labels'] => JSON.parse(labels) as PresetResource['labels']
