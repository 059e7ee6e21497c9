/** Evaluations of presets, and their items. */
import type { EvaluationState } from '../../contract/evaluation.ts'
import type { Flag, Nanos } from './column-types.ts'

export interface EvaluationTables {
  evaluations: EvaluationsTable
  evaluation_items: EvaluationItemsTable
}

export interface EvaluationsTable {
  id: string
  workspace_id: string
  preset_id: string
  preset_slug: string
  state: EvaluationState
  key_hash: string
  /** JSON: what is run, and by which rules. */
  sealed_spec: string
  /** Null if the evaluation was written by an older version of the service. */
  version: number | null
  items_total: number
  cost_nanos: Nanos
  passed: Flag | null
  reason: string | null
  /** The process that runs it, and until when no other process may. */
  held_by: string | null
  held_until: string | null
  created_at: string
  ended_at: string | null
}

export interface EvaluationItemsTable {
  evaluation_id: string
  position: number
  sealed_item: string
  /** JSON: the answers that were paid for, and the result once there is one. */
  sealed_result: string | null
}
