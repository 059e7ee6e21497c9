/** The usage in each hour. The sums are updated when requests are settled, so that a chart reads hours instead of requests. */
import type { Transaction } from 'kysely'

import { bulkInsert } from '../statements/bulk-insert.ts'
import type { Engine } from '../engine.ts'
import { type FinishedGeneration, withoutNul } from '../generations/generation-store.ts'
import { BUCKET_COLUMNS, bucketColumn, bucketOf, type Latency } from './latency-buckets.ts'
import type { HoldTable } from '../tables/ledger-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { USAGE_DIMENSIONS, USAGE_MEASURES, type UsageHoursTable } from '../tables/usage-tables.ts'

const SUMMED = [...USAGE_MEASURES, ...BUCKET_COLUMNS] as const

type Summed = (typeof SUMMED)[number]

const NOTHING = Object.fromEntries(SUMMED.map((name) => [name, 0])) as Record<Summed, number>

interface Charged {
  readonly amountNanos: number
  readonly byokNanos: number
}

/** The usage of a request that is charged now. */
export const usageOfRequest = ({ record, userId }: FinishedGeneration, { amountNanos, byokNanos }: Charged): UsageHoursTable => {
  const { record: reported } = record
  const count = (member: string): number => {
    const value = reported[member]
    return typeof value === 'number' ? value : 0
  }
  const text = (member: string): string => {
    const value = reported[member]
    return typeof value === 'string' ? withoutNul(value) : ''
  }
  const isEstimated = reported['usage_estimated'] === true
  return {
    hour: record.createdAt.slice(0, HOUR_LENGTH),
    workspace_id: record.workspaceId,
    key_hash: record.keyHash,
    user_id: userId,
    model: withoutNul(record.model),
    provider: withoutNul(record.provider ?? ''),
    preset_id: record.presetId ?? '',
    preset_version: record.presetVersion ?? 0,
    interface: text('interface'),
    error_type: text('error_type'),
    ...NOTHING,
    requests: 1,
    cancelled: record.cancelled ? 1 : 0,
    tokens_prompt: record.tokensPrompt,
    tokens_completion: record.tokensCompletion,
    tokens_reasoning: count('native_tokens_reasoning'),
    tokens_cache_read: count('native_tokens_cached'),
    tokens_cache_write: count('native_tokens_cache_write'),
    cost_nanos: amountNanos,
    byok_cost_nanos: byokNanos,
    estimated_requests: isEstimated ? 1 : 0,
    estimated_nanos: isEstimated ? amountNanos : 0,
    unpriced_requests: reported['cost_known'] === false ? 1 : 0,
    ...inBucket('ttft', reported['latency']),
    ...inBucket('total', reported['generation_time']),
  }
}

/** Characters of an ISO timestamp that name its hour. */
export const HOUR_LENGTH = 'YYYY-MM-DDTHH'.length

const inBucket = (latency: Latency, ms: unknown) => (typeof ms === 'number' ? { [bucketColumn(latency, bucketOf(ms))]: 1 } : {})

/** The charge for a request whose node died. `sign` is -1 if the request came back after all and is counted as what it was. */
export const usageOfReaped = (
  hold: Pick<HoldTable, 'created_at' | 'workspace_id' | 'key_hash' | 'user_id' | 'provider'>,
  { amountNanos, byokNanos }: Charged,
  sign: 1 | -1,
): UsageHoursTable => ({
  hour: hold.created_at.slice(0, HOUR_LENGTH),
  workspace_id: hold.workspace_id,
  key_hash: hold.key_hash,
  user_id: hold.user_id,
  model: '',
  provider: withoutNul(hold.provider ?? ''),
  preset_id: '',
  preset_version: 0,
  interface: '',
  error_type: '',
  ...NOTHING,
  requests: sign,
  cost_nanos: sign * amountNanos,
  byok_cost_nanos: sign * byokNanos,
  estimated_requests: sign,
  estimated_nanos: sign * amountNanos,
})

const upsertRows = bulkInsert<UsageHoursTable>((transaction, rows) =>
  transaction
    .insertInto('usage_hours')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns([...USAGE_DIMENSIONS])
        .doUpdateSet((eb) => Object.fromEntries(SUMMED.map((name) => [name, eb(`usage_hours.${name}`, '+', eb.ref(`excluded.${name}`))]))),
    )
    .compile(),
)

/** In the order of their keys, so that two nodes never deadlock. */
export const addUsageHours = async (transaction: Transaction<Schema>, engine: Engine, rows: readonly UsageHoursTable[]): Promise<void> => {
  const sums = new Map<string, UsageHoursTable>()
  for (const row of rows) {
    const name = JSON.stringify(USAGE_DIMENSIONS.map((dimension) => row[dimension]))
    const sum = sums.get(name)
    if (sum === undefined) sums.set(name, { ...row })
    else for (const measure of SUMMED) sum[measure] = (sum[measure] ?? 0) + (row[measure] ?? 0)
  }
  const ordered = [...sums.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
  await upsertRows(transaction, engine, ordered)
}
