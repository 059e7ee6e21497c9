/** Budgets and credit of workspaces. The change counter announces every change to processes that cache them. */
import { type Kysely, sql, type Selectable } from 'kysely'

import type { JsonObject } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import { GatewayError } from '../../errors.ts'
import { type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import type { Once } from '../changes/idempotency.ts'
import type { Span, WorkspaceBudgetsTable } from '../tables/ledger-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { flag } from '../statements/sql-values.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

export interface BudgetRecord {
  readonly id: string
  readonly workspaceId: string
  readonly span: Span
  readonly limitNanos: number
  readonly includeByok: boolean
  readonly allowLastRequest: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

/** `allowLastRequest` keeps its value if it is absent. */
type NewBudget = Omit<BudgetRecord, 'allowLastRequest'> & Partial<Pick<BudgetRecord, 'allowLastRequest'>>

interface PutBudgetOptions {
  readonly check: (others: readonly BudgetRecord[]) => void
  /** The workspace's other budgets are set to count customers' own provider keys as this one does. */
  readonly shareByok: boolean
}

export interface BudgetStore {
  /** The broadest interval first. */
  list(workspaceId: string): Promise<readonly BudgetRecord[]>
  /** Returns the given workspaces whose budgets count customers' own provider keys. */
  countingByok(workspaceIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Creates or changes the budget of that interval, after `check` has seen the others; if `check` throws, everything is
   * undone. An existing budget keeps its id and its `createdAt`.
   */
  put(budget: NewBudget, by: ChangedBy, options: PutBudgetOptions): Promise<BudgetRecord>
  /** False if there was none. */
  delete(workspaceId: string, span: Span, change: Change): Promise<boolean>
}

const BROADEST_FIRST: readonly Span[] = ['lifetime', 'monthly', 'weekly', 'daily']

export const createBudgetStore = (database: Database): BudgetStore => ({
  async list(workspaceId) {
    const rows = await database.kysely.selectFrom('workspace_budgets').selectAll().where('workspace_id', '=', workspaceId).execute()
    return inOrder(rows.map(toBudget))
  },
  async countingByok(workspaceIds) {
    if (workspaceIds.length === 0) return new Set()
    const rows = await database.kysely
      .selectFrom('workspace_budgets')
      .select('workspace_id')
      .where('workspace_id', 'in', workspaceIds)
      .where('include_byok', '=', 1)
      .execute()
    return new Set(rows.map(({ workspace_id }) => workspace_id))
  },
  put: (budget, by, { check, shareByok }) =>
    recordChange(database, { by, now: budget.updatedAt }, async (transaction) => {
      await lockWorkspace(transaction, budget.workspaceId)
      const before = (
        await transaction.selectFrom('workspace_budgets').selectAll().where('workspace_id', '=', budget.workspaceId).execute()
      ).map(toBudget)
      check(before.filter(({ span }) => span !== budget.span))
      const replaced = before.find(({ span }) => span === budget.span)
      if (shareByok) {
        await transaction
          .updateTable('workspace_budgets')
          .set({ include_byok: flag(budget.includeByok) })
          .where('workspace_id', '=', budget.workspaceId)
          .execute()
      }
      const row = await transaction
        .insertInto('workspace_budgets')
        .values(toRow({ allowLastRequest: replaced?.allowLastRequest ?? false, ...budget }))
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'span']).doUpdateSet((eb) => ({
            limit_nanos: eb.ref('excluded.limit_nanos'),
            include_byok: eb.ref('excluded.include_byok'),
            allow_last_request: eb.ref('excluded.allow_last_request'),
            updated_at: eb.ref('excluded.updated_at'),
          })),
        )
        .returningAll()
        .executeTakeFirstOrThrow()
      const after = toBudget(row)
      return { result: after, audit: audited(replaced === undefined ? 'created' : 'updated', after, replaced ?? null, after) }
    }),
  delete: (workspaceId, span, change) =>
    recordChange(database, change, async (transaction) => {
      const row = await transaction
        .deleteFrom('workspace_budgets')
        .where('workspace_id', '=', workspaceId)
        .where('span', '=', span)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return { result: false, audit: null }
      return { result: true, audit: audited('deleted', toBudget(row), toBudget(row), null) }
    }),
})

const audited = (action: string, { workspaceId, span }: BudgetRecord, before: BudgetRecord | null, after: BudgetRecord | null) => ({
  workspaceId,
  action,
  objectType: 'workspace_budget' as const,
  objectId: `${workspaceId}/${span}`,
  before: before === null ? null : auditView(before),
  after: after === null ? null : auditView(after),
})

const auditView = ({ limitNanos, includeByok, allowLastRequest }: BudgetRecord): JsonObject => ({
  limit_usd: dollars(limitNanos),
  include_byok: includeByok,
  allow_last_request: allowLastRequest,
})

export interface CreditStore {
  /** The sum of all entries. */
  total(workspaceId: string): Promise<number>
  /**
   * The amount that all keys of the workspace ever spent, including revoked ones, without what
   * was paid through customers' own provider keys.
   */
  spent(workspaceId: string): Promise<number>
  add(
    entry: { id: string; workspaceId: string; amountNanos: number; note: string; createdAt: string },
    by: ChangedBy,
    once?: Once<number>,
  ): Promise<number>
}

export const createCreditStore = (database: Database): CreditStore => ({
  total: (workspaceId) => totalIn(database.kysely, workspaceId),
  async spent(workspaceId) {
    const row = await database.reports
      .selectFrom('workspace_spend')
      .select('cost_nanos')
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst()
    return row?.cost_nanos ?? 0
  },
  add: ({ id, workspaceId, amountNanos, note, createdAt }, by, once) =>
    recordChange<number>(database, { by, now: createdAt, once }, async (transaction) => {
      await lockWorkspace(transaction, workspaceId)
      const total = (await totalIn(transaction, workspaceId)) + amountNanos
      // Beyond this no reader gets the exact sum, and each request of the workspace would fail.
      if (!Number.isSafeInteger(total)) {
        throw new GatewayError(
          'invalid_request',
          `amount_usd: The credit of a workspace is at most ${CREDIT_MAX} US dollars, above or below zero.`,
        )
      }
      await transaction
        .insertInto('credit_entries')
        .values({ id, workspace_id: workspaceId, amount_nanos: amountNanos, note, created_at: createdAt })
        .execute()
      const after = { amount_usd: dollars(amountNanos), note }
      return {
        result: total,
        audit: { workspaceId, action: 'created', objectType: 'credit' as const, objectId: id, before: null, after },
      }
    }),
})

const CREDIT_MAX = Math.floor(dollars(Number.MAX_SAFE_INTEGER))

const totalIn = async (kysely: Kysely<Schema>, workspaceId: string): Promise<number> => {
  const { total } = await kysely
    .selectFrom('credit_entries')
    .select(sql<number>`cast(coalesce(sum(amount_nanos), 0) as bigint)`.as('total'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return total
}

const inOrder = (budgets: readonly BudgetRecord[]): readonly BudgetRecord[] =>
  budgets.toSorted((a, b) => BROADEST_FIRST.indexOf(a.span) - BROADEST_FIRST.indexOf(b.span))

const toBudget = (row: Selectable<WorkspaceBudgetsTable>): BudgetRecord => ({
  id: row.id,
  workspaceId: row.workspace_id,
  span: row.span,
  limitNanos: row.limit_nanos,
  includeByok: row.include_byok === 1,
  allowLastRequest: row.allow_last_request === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toRow = (budget: BudgetRecord): Selectable<WorkspaceBudgetsTable> => ({
  id: budget.id,
  workspace_id: budget.workspaceId,
  span: budget.span,
  limit_nanos: budget.limitNanos,
  include_byok: flag(budget.includeByok),
  allow_last_request: flag(budget.allowLastRequest),
  created_at: budget.createdAt,
  updated_at: budget.updatedAt,
})
