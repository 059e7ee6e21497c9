/** Sums of requests over time. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { usageAnswer, usageSums } from '../../../src/contract/usage.ts'
import type { Interval } from '../range.ts'
import { ask } from './client.ts'
import type { Query } from './path.ts'

type UsageAnswer = z.output<typeof usageAnswer>

/** The figures that are summed. */
export type UsageSums = z.output<z.ZodObject<typeof usageSums>>

/** The dimensions that the query grouped the sums by. */
export type UsageGroup = Omit<UsageAnswer['groups'][number], keyof UsageSums>

/** The interval of the points is longer than the requested one if there are too many records; `coarser` then says so. */
export type Usage = Omit<UsageAnswer, 'interval'> & { readonly interval: Interval }

export const usage = (query: Query) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => ask<Usage>('/usage', { query, signal }),
  })
