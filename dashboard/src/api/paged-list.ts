/** Paginated lists, as one list of the rows loaded so far. */
import { infiniteQueryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'
import type { Query } from './path.ts'

const PAGE_ROWS = 100

/** Each page continues after the cursor of the one before. A page may have few rows or none without being the last. */
export const cursorList = <Row>(queryKey: readonly unknown[], path: string, query: Query) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      ask<{ data: readonly Row[]; next_cursor?: string | null }>(path, {
        query: { limit: PAGE_ROWS, ...query, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? null,
    select: ({ pages }): readonly Row[] => pages.flatMap(({ data }) => data),
  })

/** Each page skips the rows of the pages before it. */
export const offsetList = <Row>(queryKey: readonly unknown[], path: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      ask<{ data: readonly Row[]; total_count: number }>(path, { query: { limit: PAGE_ROWS, ...query, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: ({ data, total_count: total }, _pages, offset) =>
      data.length === 0 || offset + data.length >= total ? null : offset + data.length,
    select: ({ pages }): readonly Row[] => pages.flatMap(({ data }) => data),
  })
