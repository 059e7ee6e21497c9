import { useInfiniteQuery, type UseInfiniteQueryOptions } from '@tanstack/react-query'

import { useFurtherPages } from './use-further-pages.ts'

interface WholeList<Row> {
  /** The rows that are loaded so far. */
  readonly rows: readonly Row[]
  readonly isWhole: boolean
  /** True if a page could not be fetched, so that rows may be missing. */
  readonly isFailed: boolean
}

/** Fetches all pages of a list to choose from. */
export const useWholeList = <Page, Row, Position>(
  options: UseInfiniteQueryOptions<Page, Error, readonly Row[], readonly unknown[], Position>,
): WholeList<Row> => {
  const list = useInfiniteQuery<Page, Error, readonly Row[], readonly unknown[], Position>(options)
  const { data, isSuccess, isError, hasNextPage } = list
  useFurtherPages(list, true)
  return { rows: data ?? [], isWhole: isSuccess && !hasNextPage, isFailed: isError }
}
