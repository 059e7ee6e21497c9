import { useEffect } from 'react'

interface PagedList {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly isFetchNextPageError: boolean
  readonly fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<unknown>
}

/** Fetches the pages of a list, one after the other, while something is wanted that they may hold. */
export const useFurtherPages = ({ hasNextPage, isFetching, isFetchNextPageError, fetchNextPage }: PagedList, isWanted: boolean): void => {
  useEffect(() => {
    // Many parts of a screen may want the same page, which is fetched once.
    if (isWanted && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage({ cancelRefetch: false })
  }, [isWanted, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
}
