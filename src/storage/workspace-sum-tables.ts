/** Sums over what a workspace has, kept as it comes and goes, as Kysely sees them; 0030 makes them. */
import type { PresetResource } from '../contract/preset.ts'
import type { Nanos } from './column-types.ts'

export interface WorkspaceSumTables {
  workspace_counts: WorkspaceCountsTable
  workspace_spend: WorkspaceSpendTable
}

/** The kinds of rows that are counted. Keys that were revoked are not. */
export type Counted = 'keys' | 'members' | 'audit_log' | `presets/${PresetResource['status']}`

/** Written by triggers alone. No row: nothing was there yet. */
interface WorkspaceCountsTable {
  workspace_id: string
  counted: Counted
  amount: number
}

export interface WorkspaceSpendTable {
  workspace_id: string
  /** The sum of all days of all its keys, revoked ones too; without what customers' own provider keys paid. */
  cost_nanos: Nanos
}
