import type { BucketColumn } from '../usage/latency-buckets.ts'

/** The dimensions by which usage is counted. '' and 0 mean none. */
export const USAGE_DIMENSIONS = [
  'hour',
  'workspace_id',
  'key_hash',
  'user_id',
  'model',
  'provider',
  'preset_id',
  'preset_version',
  'interface',
  'error_type',
] as const

export const USAGE_MEASURES = [
  'requests',
  'cancelled',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
  'cost_nanos',
  'byok_cost_nanos',
  'estimated_requests',
  'estimated_nanos',
  'unpriced_requests',
] as const

export interface UsageTables {
  usage_hours: UsageHoursTable
  usage_days: UsageDaysTable
  usage_summed_days: UsageSummedDaysTable
}

/** The sums of the hours of a day. */
interface UsageDaysTable extends Omit<UsageHoursTable, 'hour'> {
  /** `YYYY-MM-DD`, UTC. */
  day: string
}

/** The days that are summed, or are being summed. A change of an hour of them deletes their row. */
interface UsageSummedDaysTable {
  day: string
  /** 1 if so: only the sums of these days are read. */
  complete: number
  /** When the process began that sums the day, an ISO timestamp, and an id. */
  run: string
}

export interface UsageHoursTable extends Record<(typeof USAGE_MEASURES)[number], number>, Record<BucketColumn, number> {
  /** `YYYY-MM-DDTHH`, UTC: the hour in which the request began. */
  hour: string
  workspace_id: string
  key_hash: string
  /** The creator of the key. */
  user_id: string
  model: string
  provider: string
  preset_id: string
  preset_version: number
  interface: string
  error_type: string
}
