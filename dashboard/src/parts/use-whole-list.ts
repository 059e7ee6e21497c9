import { useInfiniteQuery, type UseInfiniteQueryOptions } from '@tanstack/react-query'
import { useEffect } from 'react'

/** A list to choose from, page after page until it is whole: the rows that came so far. */
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
