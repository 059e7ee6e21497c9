/** The usage of each key on each UTC day. It is never deleted, so every window can be recomputed from it. */
import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Schema } from '../tables/schema.ts'

export type UsageDay = Schema['key_usage_days']

/**
 * Sums by key and day, in the order of their keys: two nodes that write the same rows take
 * their locks in the same order and never deadlock.
 */
export const sumUsageDays = (days: readonly UsageDay[]): UsageDay[] => {
  const sums = new Map<string, UsageDay>()
  for (const day of days) {
    const name = `${day.key_hash} ${day.day}`
    const sum = sums.get(name)
    if (sum === undefined) {
      sums.set(name, { ...day })
      continue
    }
    sum.cost_nanos += day.cost_nanos
    sum.byok_cost_nanos += day.byok_cost_nanos
    sum.requests += day.requests
    sum.tokens += day.tokens
  }
  return [...sums.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
}

export const addUsageDays = bulkInsert<UsageDay>((transaction, rows) =>
  transaction
    .insertInto('key_usage_days')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['key_hash', 'day']).doUpdateSet((eb) => ({
        cost_nanos: eb('key_usage_days.cost_nanos', '+', eb.ref('excluded.cost_nanos')),
        byok_cost_nanos: eb('key_usage_days.byok_cost_nanos', '+', eb.ref('excluded.byok_cost_nanos')),
        requests: eb('key_usage_days.requests', '+', eb.ref('excluded.requests')),
        tokens: eb('key_usage_days.tokens', '+', eb.ref('excluded.tokens')),
      })),
    )
    .compile(),
)
