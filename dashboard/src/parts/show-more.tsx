/** Loads and shows the rest of a paginated list. */
import { useEffect, useState } from 'react'

import { Button } from './button.tsx'

export interface MoreRows {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  readonly fetchNextPage: () => Promise<unknown>
}

/** The number of rows that one press adds. */
const ROWS = 50

/**
 * The service searches a bounded number of rows for each page, so a page with few results is not the end: pages are fetched until there are
 * enough.
 */
export const ShowMore = ({ list, shown }: { list: MoreRows; shown: number }) => {
  const [wanted, setWanted] = useState(ROWS)
  const { hasNextPage, isFetching, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  const goesOn = hasNextPage && shown < wanted && !isFetchNextPageError
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage()
  }, [goesOn, isFetching, fetchNextPage])
  if (!hasNextPage) return null
  return (
    <div className="show-more row">
      <Button
        busy={isFetchingNextPage}
        onClick={() => {
          setWanted(shown + ROWS)
          void fetchNextPage()
        }}
      >
        {isFetchNextPageError ? 'Try again' : 'Show more'}
      </Button>
      {goesOn ? (
        <span className="soft small" role="status">
          Looking further…
        </span>
      ) : null}
    </div>
  )
}
