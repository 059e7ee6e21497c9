/** Budgets of a workspace: at most one for each interval (docs/contract/budgets.md#workspace-budgets). */
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { dollars } from '../lib/money.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { createBudgetStore, type BudgetRecord } from '../storage/ledger/budget-store.ts'
import type { Database } from '../storage/database.ts'
import type { Span } from '../storage/tables/ledger-tables.ts'
import type { Scope, ScopeSource } from './scope.ts'
import { createWorkspaceScopes } from './workspace-scopes.ts'

export interface Budgets extends ScopeSource {
  /** The budget of the broadest interval comes first. */
  list(workspaceId: string): Promise<readonly BudgetRecord[]>
  /** Returns the given workspaces in whose budgets customers' own provider keys count. */
  countingByok(workspaceIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Throws `invalid_request` if a longer interval would not have the larger limit. */
  put(
    input: {
      readonly workspaceId: string
      readonly span: Span
      readonly limitNanos: number
      readonly includeByok: boolean
      /** If absent, it keeps its value, or is false for a new budget. */
      readonly allowLastRequest?: boolean
      /** Also sets `includeByok` of the workspace's other budgets (docs/contract/budgets.md#workspace-budgets). */
      readonly shareByok?: boolean
    },
    by: ChangedBy,
  ): Promise<BudgetRecord>
  /** Returns false if there was no such budget. */
  delete(workspaceId: string, span: Span, by: ChangedBy): Promise<boolean>
  refreshCache(): void
}

export const createBudgets = (parts: { database: Database; clock: Clock; ids: IdSource }): Budgets => {
  const { clock, ids } = parts
  const store = createBudgetStore(parts.database)
  const workspaces = createWorkspaceScopes(clock, async (workspaceId) => (await store.list(workspaceId)).map(toScope))
  return {
    list: store.list,
    countingByok: store.countingByok,
    async put({ shareByok = false, ...budget }, by) {
      const now = isoTimestamp(clock.now())
      const written = await store.put({ ...budget, id: ids.uuid(), createdAt: now, updatedAt: now }, by, {
        check: (others) => checkOrder(budget, others),
        shareByok,
      })
      workspaces.forget(budget.workspaceId)
      return written
    },
    async delete(workspaceId, span, by) {
      const deleted = await store.delete(workspaceId, span, { by, now: isoTimestamp(clock.now()) })
      workspaces.forget(workspaceId)
      return deleted
    },
    scopes: workspaces.scopes,
    refreshCache: workspaces.refreshCache,
  }
}

const LENGTHS: Readonly<Record<Span, number>> = { daily: 0, weekly: 1, monthly: 2, lifetime: 3 }

/** A smaller limit for a longer interval would make the shorter interval's limit meaningless. */
const checkOrder = ({ span, limitNanos }: { span: Span; limitNanos: number }, others: readonly BudgetRecord[]): void => {
  for (const other of others) {
    const longer = LENGTHS[span] > LENGTHS[other.span]
    if (longer ? limitNanos > other.limitNanos : limitNanos < other.limitNanos) continue
    throw new GatewayError(
      'invalid_request',
      `limit_usd: the ${span} budget must be ${longer ? 'more' : 'less'} than the ${other.span} one, which is $${dollars(other.limitNanos)}.`,
    )
  }
}

const toScope = (budget: BudgetRecord): Scope => ({
  id: `workspace_budget:${budget.id}`,
  kind: 'workspace',
  limitNanos: budget.limitNanos,
  interval: budget.span === 'lifetime' ? null : budget.span,
  includeByok: budget.includeByok,
  guardrailId: null,
  budgetId: budget.id,
  allowLastRequest: budget.allowLastRequest,
})
