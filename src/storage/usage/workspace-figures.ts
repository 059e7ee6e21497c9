/** The figures of several workspaces at once, for their list: one statement for each kind, however many rows the list has. */
import { sql } from 'kysely'

import type { Database } from '../database.ts'
import { SUBJECTS } from '../ledger/scope-windows.ts'
import type { Span } from '../tables/ledger-tables.ts'
import type { UsageWindows } from './usage-windows.ts'

export interface WorkspaceFigures {
  readonly members: number
  /** Keys that are not revoked. */
  readonly keys: number
  /** Since the beginning of the month, without what was paid through customers' own provider keys. */
  readonly spentNanos: number
  readonly budgets: readonly BudgetFigures[]
  /** Null if none was ever added. */
  readonly credit: { readonly totalNanos: number; readonly spentNanos: number } | null
}

export interface BudgetFigures {
  readonly span: Span
  readonly limitNanos: number
  /** In its running window. */
  readonly chargedNanos: number
  /** Paid through customers' own provider keys in that window. */
  readonly byokNanos: number
}

/** By id. Nothing is written: a window that admission has not begun is only summed. */
export type ReadWorkspaceFigures = (ids: readonly string[], windows: UsageWindows) => Promise<ReadonlyMap<string, WorkspaceFigures>>

export const createReadWorkspaceFigures =
  ({ reports }: Pick<Database, 'reports'>): ReadWorkspaceFigures =>
  async (ids, { day, week, month }) => {
    if (ids.length === 0) return new Map()
    const starts = { daily: day, weekly: week, monthly: month, lifetime: '' } satisfies Record<Span, string>
    const counts = await reports
      .selectFrom('workspace_counts')
      .select(['workspace_id as id', 'counted', 'amount'])
      .where('workspace_id', 'in', ids)
      .where('counted', 'in', ['members', 'keys'])
      .execute()
    const sums = await reports
      .selectFrom('usage_hours')
      .select([
        'workspace_id as id',
        ...SUMMED.flatMap((span) => [
          totalSince(starts[span], 'cost_nanos').as(`${span}_charged`),
          totalSince(starts[span], 'byok_cost_nanos').as(`${span}_byok`),
        ]),
      ])
      .where('hour', '>=', week < month ? week : month)
      .where('workspace_id', 'in', ids)
      .groupBy('workspace_id')
      .execute()
    const begun = await reports
      .selectFrom('scope_window')
      .select(['subject', 'span', 'window_start', 'committed_n', 'byok_n'])
      .where('subject', 'in', ids.map(SUBJECTS.workspace))
      .where('window_start', 'in', Object.values(starts))
      .execute()
    const budgets = await reports
      .selectFrom('workspace_budgets')
      .select(['workspace_id as id', 'span', 'limit_nanos'])
      .where('workspace_id', 'in', ids)
      .execute()
    const credits = await reports
      .selectFrom('credit_entries')
      .select(['workspace_id as id', total('amount_nanos')])
      .where('workspace_id', 'in', ids)
      .groupBy('workspace_id')
      .execute()
    const used = await reports
      .selectFrom('workspace_spend')
      .select(['workspace_id as id', 'cost_nanos as amount'])
      .where('workspace_id', 'in', ids)
      .execute()
    /** The figures of the window that admission checks; before there is one, the sum of the requests so far. */
    const countedIn = (id: string, span: Span): Pick<BudgetFigures, 'chargedNanos' | 'byokNanos'> => {
      const window = begun.find((row) => row.subject === SUBJECTS.workspace(id) && row.span === span && row.window_start === starts[span])
      if (window !== undefined) return { chargedNanos: window.committed_n, byokNanos: window.byok_n }
      if (span === 'lifetime') return { chargedNanos: amountIn(used, id), byokNanos: 0 }
      const sum = sums.find((row) => row.id === id)
      return { chargedNanos: sum?.[`${span}_charged`] ?? 0, byokNanos: sum?.[`${span}_byok`] ?? 0 }
    }
    const amountIn = (rows: readonly { id: string; amount: number }[], wanted: string): number =>
      rows.find(({ id }) => id === wanted)?.amount ?? 0
    return new Map(
      ids.map((id) => [
        id,
        {
          members: amountIn(
            counts.filter(({ counted }) => counted === 'members'),
            id,
          ),
          keys: amountIn(
            counts.filter(({ counted }) => counted === 'keys'),
            id,
          ),
          spentNanos: sums.find((row) => row.id === id)?.monthly_charged ?? 0,
          budgets: budgets.flatMap(({ id: of, span, limit_nanos }) =>
            of === id ? [{ span, limitNanos: limit_nanos, ...countedIn(id, span) }] : [],
          ),
          credit: credits.some((credit) => credit.id === id) ? { totalNanos: amountIn(credits, id), spentNanos: amountIn(used, id) } : null,
        },
      ]),
    )
  }

/** The spans whose spending is summed by the hour. */
const SUMMED = ['daily', 'weekly', 'monthly'] as const

/** Since this day, of the hours that the query reads. */
const totalSince = (day: string, column: 'cost_nanos' | 'byok_cost_nanos') =>
  sql<number>`cast(sum(case when hour >= ${day} then ${sql.ref(column)} else 0 end) as bigint)`

/** The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const total = (column: 'amount_nanos') => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as('amount')
