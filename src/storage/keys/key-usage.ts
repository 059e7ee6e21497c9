import { type RawBuilder, sql } from 'kysely'

import type { Database } from '../database.ts'
import { usageWindowsAt } from '../usage/usage-windows.ts'

/** Nano-dollars spent in the current UTC windows; `byok` was spent with customers' own provider keys and is not part of `usage`. */
export interface KeyUsage {
  readonly usage: WindowTotals
  readonly byok: WindowTotals
}

interface WindowTotals {
  readonly totalNanos: number
  readonly dailyNanos: number
  readonly weeklyNanos: number
  readonly monthlyNanos: number
}

const NOTHING: WindowTotals = { totalNanos: 0, dailyNanos: 0, weeklyNanos: 0, monthlyNanos: 0 }
export const NOTHING_USED: KeyUsage = { usage: NOTHING, byok: NOTHING }

/** By hash: every given key has an entry. */
export const readKeyUsage = async (
  { kysely }: Pick<Database, 'kysely'>,
  hashes: readonly string[],
  now: string,
): Promise<ReadonlyMap<string, KeyUsage>> => {
  const usages = new Map(hashes.map((hash) => [hash, NOTHING_USED]))
  if (hashes.length === 0) return usages
  const { day, week, month } = usageWindowsAt(now)
  const rows = await kysely
    .selectFrom('key_usage_days')
    .select([
      'key_hash',
      sumSince('cost_nanos', '').as('total'),
      sumSince('cost_nanos', day).as('daily'),
      sumSince('cost_nanos', week).as('weekly'),
      sumSince('cost_nanos', month).as('monthly'),
      sumSince('byok_cost_nanos', '').as('byokTotal'),
      sumSince('byok_cost_nanos', day).as('byokDaily'),
      sumSince('byok_cost_nanos', week).as('byokWeekly'),
      sumSince('byok_cost_nanos', month).as('byokMonthly'),
    ])
    .where('key_hash', 'in', hashes)
    .groupBy('key_hash')
    .execute()
  for (const row of rows) {
    usages.set(row.key_hash, {
      usage: { totalNanos: row.total, dailyNanos: row.daily, weeklyNanos: row.weekly, monthlyNanos: row.monthly },
      byok: { totalNanos: row.byokTotal, dailyNanos: row.byokDaily, weeklyNanos: row.byokWeekly, monthlyNanos: row.byokMonthly },
    })
  }
  return usages
}

/** The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript. Every day sorts after ''. */
const sumSince = (column: 'cost_nanos' | 'byok_cost_nanos', firstDay: string): RawBuilder<number> =>
  sql<number>`cast(coalesce(sum(${sql.ref(column)}) filter (where day >= ${firstDay}), 0) as bigint)`
