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
  /** The cost of requests whose tokens the provider did not report; part of the cost. */
  readonly estimated_cost?: number
  readonly unpriced_requests?: number
  readonly ttft_p50: number | null
  readonly ttft_p95: number | null
  readonly ttft_p99: number | null
  readonly total_p50: number | null
  readonly total_p95: number | null
  readonly total_p99: number | null
}

/** The dimensions of the sums, by what the query grouped them. */
export interface UsageGroup {
  readonly key?: string | null
  readonly key_name?: string | null
  readonly model?: string | null
  readonly provider?: string | null
  readonly preset?: string | null
  readonly preset_version?: number | null
  readonly user?: string | null
  readonly workspace?: string | null
  readonly interface?: string | null
  readonly error_type?: string | null
  /** All groups together that are not listed by themselves. */
  readonly other?: boolean
}

export interface Usage {
  readonly from: string
  readonly to: string
  /** The interval of the points is longer than what was asked for where there are too many records; `coarser` says so then. */
  readonly interval: Interval
  readonly coarser: { readonly asked: string } | null
  /** One for each interval and group in which something happened. */
  readonly data: readonly (UsageSums & UsageGroup & { readonly time: string })[]
  /** The whole range, the dearest group first. */
  readonly groups: readonly (UsageSums & UsageGroup)[]
}

export const usage = (query: Query) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => ask<Usage>('/usage', { query, signal }),
  })
