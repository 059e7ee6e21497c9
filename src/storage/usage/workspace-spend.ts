/** The amount that each workspace ever spent: the sum of the days of its keys, updated whenever those are written. */
import { sql } from 'kysely'

import { bulkInsert } from '../statements/bulk-insert.ts'
import type { LedgerTable } from '../tables/ledger-tables.ts'
import type { WorkspaceSpendTable } from '../tables/workspace-sum-tables.ts'

/**
 * Each PostgreSQL transaction that writes days and also adds their cost here must select this; for processes of the previous
 * version, which only write days, a trigger adds the cost (0030).
 */
export const ADDS_SPEND = sql`set_config('patchbay.adds_spend', 'on', true)`

/** In the order of their ids, so that two nodes that write the same rows never deadlock. There is no row for what cost nothing. */
export const sumWorkspaceSpend = (charges: readonly Pick<LedgerTable, 'workspace_id' | 'amount_n'>[]): WorkspaceSpendTable[] => {
  const sums = new Map<string, number>()
  for (const { workspace_id, amount_n } of charges) sums.set(workspace_id, (sums.get(workspace_id) ?? 0) + amount_n)
  return [...sums.entries()]
    .filter(([, cost]) => cost !== 0)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([workspace_id, cost_nanos]) => ({ workspace_id, cost_nanos }))
}

export const addWorkspaceSpend = bulkInsert<WorkspaceSpendTable>((transaction, rows) =>
  transaction
    .insertInto('workspace_spend')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet((eb) => ({
        cost_nanos: eb('workspace_spend.cost_nanos', '+', eb.ref('excluded.cost_nanos')),
      })),
    )
    .compile(),
)
