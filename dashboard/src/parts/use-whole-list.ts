import { useInfiniteQuery, type UseInfiniteQueryOptions } from '@tanstack/react-query'
import { useEffect } from 'react'

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
  const { data, isSuccess, isError, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = useInfiniteQuery<
    Page,
    Error,
    readonly Row[],
    readonly unknown[],
    Position
  >(options)
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
  return { rows: data ?? [], isWhole: isSuccess && !hasNextPage, isFailed: isError }
}
