/** Sums of requests over time. */
import { queryOptions } from '@tanstack/react-query'

import type { Interval } from '../range.ts'
import { ask } from './client.ts'
import type { Query } from './path.ts'

/** The figures that are summed. */
export interface UsageSums {
  readonly requests: number
  readonly errors: number
  readonly cancelled: number
  readonly tokens_prompt: number
  readonly tokens_completion: number
  readonly cost: number
  readonly byok_cost: number
  /** The cost of requests whose token counts are estimates, since the provider reported none; included in the cost. */
  readonly estimated_cost?: number
  readonly unpriced_requests?: number
  readonly ttft_p50: number | null
  readonly ttft_p95: number | null
  readonly ttft_p99: number | null
  readonly total_p50: number | null
  readonly total_p95: number | null
  readonly total_p99: number | null
}

/** The dimensions that the query grouped the sums by. */
export interface UsageGroup {
  readonly key?: string | null
  readonly key_name?: string | null
  readonly model?: string | null
  readonly provider?: string | null
  readonly preset?: string | null
  readonly preset_version?: number | null
  readonly user?: string | null
  readonly user_name?: string | null
  readonly workspace?: string | null
  readonly workspace_slug?: string | null
  readonly interface?: string | null
  readonly error_type?: string | null
  /** True for the group that combines all groups that are not listed individually. */
  readonly other?: boolean
}

export interface Usage {
  readonly from: string
  readonly to: string
  /** The interval of the points. It is longer than the requested one if there are too many records; `coarser` then says so. */
  readonly interval: Interval
  readonly coarser: { readonly asked: string } | null
  /** One point for each interval and group with at least one request. */
  readonly data: readonly (UsageSums & UsageGroup & { readonly time: string })[]
  /** The sums of the whole range, the most expensive group first. */
  readonly groups: readonly (UsageSums & UsageGroup)[]
}

export const usage = (query: Query) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => ask<Usage>('/usage', { query, signal }),
  })
