/** Sums over what a workspace has, updated as rows come and go, as Kysely sees them; created by 0030. */
import type { PresetResource } from '../../contract/preset.ts'
import type { Nanos } from './column-types.ts'

export interface WorkspaceSumTables {
  workspace_counts: WorkspaceCountsTable
  workspace_spend: WorkspaceSpendTable
}

/** The kinds of rows that are counted, without revoked keys. */
export type Counted = 'keys' | 'members' | 'audit_log' | `presets/${PresetResource['status']}`

/** Only written by triggers. If there is no row, nothing was counted yet. */
interface WorkspaceCountsTable {
  workspace_id: string
  counted: Counted
  amount: number
}

export interface WorkspaceSpendTable {
  workspace_id: string
  /**
   * The sum of all days of all the workspace's keys, including revoked ones, without what was paid through customers' own provider keys.
   */
  cost_nanos: Nanos
}
