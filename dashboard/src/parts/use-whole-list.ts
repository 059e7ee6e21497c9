import { useInfiniteQuery, type UseInfiniteQueryOptions } from '@tanstack/react-query'
import { useEffect } from 'react'

/** Fetches all pages of a list to choose from, and returns the rows loaded so far. */
export const useWholeList = <Page, Row, Position>(
  options: UseInfiniteQueryOptions<Page, Error, readonly Row[], readonly unknown[], Position>,
): readonly Row[] => {
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = useInfiniteQuery<
    Page,
    Error,
    readonly Row[],
    readonly unknown[],
    Position
  >(options)
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
  return data ?? []
}
