/** Presets, their versions, and what belongs to them. */
import type { Generated } from 'kysely'

import type { PresetResource, PresetShape } from '../../contract/preset.ts'
import type { RolloutState, Sticky } from '../../contract/rollout.ts'
import type { Flag, JsonText } from './column-types.ts'

export interface PresetTables {
  presets: PresetsTable
  preset_versions: PresetVersionsTable
  preset_moves: PresetMovesTable
  preset_rollouts: PresetRolloutsTable
  preset_tests: PresetTestsTable
}

export interface PresetsTable {
  id: string
  workspace_id: string
  slug: string
  name: string
  description: string | null
  status: PresetResource['status']
  status_updated_at: string | null
  creator_user_id: string
  /** The counter that numbers the versions, incremented under the lock of this row (docs/contract/presets.md#versions). */
  last_version: number
  designated_version_id: string
  labels: JsonText
  created_at: string
  updated_at: string
  require_evaluation: Generated<Flag>
}

export interface PresetVersionsTable {
  id: string
  preset_id: string
  version: number
  shape: PresetShape
  config: JsonText
  /** A JSON string or null. As plain text, PostgreSQL would refuse U+0000, and both engines would change lone surrogates. */
  system_prompt: JsonText | null
  creator_id: string
  created_at: string
  updated_at: string
  note: string | null
  /** Saved without being designated. */
  saved_as_draft: Generated<Flag>
}

/** One row each time another version was served, or a label was set, moved or removed. */
export interface PresetMovesTable {
  preset_id: string
  /** Numbers the moves of a preset, under the lock of its row. */
  position: number
  /** Null if the move is of what the preset itself serves. */
  label: string | null
  /** Null if there was none. */
  from_version: number | null
  to_version: number | null
  moved_at: string
  user_id: string | null
  key_hash: string | null
}

export interface PresetRolloutsTable {
  preset_id: string
  id: string
  state: RolloutState
  live_version: number
  splits: JsonText
  segments: JsonText
  sticky: Sticky
  /** Null if the rollout never halts by itself. */
  halt: JsonText | null
  looks: JsonText
  started_at: string
  updated_at: string
  ended_at: string | null
  reason: string | null
}

interface PresetTestsTable {
  id: string
  preset_id: string
  name: string
  /** JSON: messages, tools, and what is expected. */
  sealed_input: string
  creator_id: string
  created_at: string
}
