/** Sums of requests over time. */
import { queryOptions } from '@tanstack/react-query'

import { ask, type Query } from './client.ts'

/** A sum for one column of time and one group. */
export interface UsageRow {
  /** The beginning of its column. */
  readonly date: string
  readonly requests: number
  readonly errors: number
  readonly cost: number
  readonly [member: string]: unknown
}

export const usage = (query: Query) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: async ({ signal }) => (await ask<{ data: readonly UsageRow[] }>('/usage', { query, signal })).data,
  })
