/** Prepaid credit of a workspace: the sum of its entries. The operator chooses if it limits spending (`budgets.credits`). */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { createCreditStore } from '../storage/ledger/budget-store.ts'
import type { Database } from '../storage/database.ts'
import type { Once } from '../storage/changes/idempotency.ts'
import type { Scope, ScopeSource } from './scope.ts'
import { createWorkspaceScopes } from './workspace-scopes.ts'

export interface Credits extends ScopeSource {
  /** Nano-dollars that were added and spent, over all time. */
  total(workspaceId: string): Promise<number>
  spent(workspaceId: string): Promise<number>
  /**
   * Returns the new total. A negative amount takes credit back. Throws `invalid_request` if the total could not be counted exactly.
   */
  add(
    input: { readonly workspaceId: string; readonly amountNanos: number; readonly note: string },
    by: ChangedBy,
    once?: Once<number>,
  ): Promise<number>
  refreshCache(): void
}

export const createCredits = (parts: { database: Database; clock: Clock; ids: IdSource }): Credits => {
  const { clock, ids } = parts
  const store = createCreditStore(parts.database)
  const workspaces = createWorkspaceScopes(clock, async (workspaceId) => [creditScope(workspaceId, await store.total(workspaceId))])
  return {
    total: store.total,
    spent: store.spent,
    async add({ workspaceId, amountNanos, note }, by, once) {
      const total = await store.add({ id: ids.uuid(), workspaceId, amountNanos, note, createdAt: isoTimestamp(clock.now()) }, by, once)
      workspaces.forget(workspaceId)
      return total
    },
    scopes: workspaces.scopes,
    refreshCache: workspaces.refreshCache,
  }
}

/** Customers' own provider keys cost the operator nothing, so they use up no credit. */
const creditScope = (workspaceId: string, totalNanos: number): Scope => ({
  id: `credits:${workspaceId}`,
  kind: 'credits',
  limitNanos: totalNanos,
  interval: null,
  includeByok: false,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
})
