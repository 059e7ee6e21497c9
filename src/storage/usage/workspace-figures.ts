/** The figures of several workspaces at once, for their list: one statement for each kind, however many rows the list has. */
import { sql } from 'kysely'

import type { Database } from '../database.ts'
import type { Span } from '../tables/ledger-tables.ts'

export interface WorkspaceFigures {
  readonly members: number
  /** Keys that are not revoked. */
  readonly keys: number
  /** Since the given hour, without what was paid through customers' own provider keys. */
  readonly spentNanos: number
  /** By their interval. */
  readonly limitsNanos: ReadonlyMap<Span, number>
  /** Null if none was ever added. */
  readonly credit: { readonly totalNanos: number; readonly spentNanos: number } | null
}

/** By id. `fromHour` is `YYYY-MM-DDTHH`; spend is summed from it on. */
export type ReadWorkspaceFigures = (ids: readonly string[], fromHour: string) => Promise<ReadonlyMap<string, WorkspaceFigures>>

export const createReadWorkspaceFigures =
  ({ reports }: Pick<Database, 'reports'>): ReadWorkspaceFigures =>
  async (ids, fromHour) => {
    if (ids.length === 0) return new Map()
    const counts = await reports
      .selectFrom('workspace_counts')
      .select(['workspace_id as id', 'counted', 'amount'])
      .where('workspace_id', 'in', ids)
      .where('counted', 'in', ['members', 'keys'])
      .execute()
    const spent = await reports
      .selectFrom('usage_hours')
      .select(['workspace_id as id', total('cost_nanos')])
      .where('hour', '>=', fromHour)
      .where('workspace_id', 'in', ids)
      .groupBy('workspace_id')
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
          spentNanos: amountIn(spent, id),
          limitsNanos: new Map(budgets.flatMap((budget) => (budget.id === id ? [[budget.span, budget.limit_nanos] as const] : []))),
          credit: credits.some((credit) => credit.id === id) ? { totalNanos: amountIn(credits, id), spentNanos: amountIn(used, id) } : null,
        },
      ]),
    )
  }

/** The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. */
const total = (column: 'cost_nanos' | 'amount_nanos') => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as('amount')
