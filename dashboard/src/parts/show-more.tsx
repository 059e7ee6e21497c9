/** The way to the rest of a list that comes by the page. */
import { useEffect, useState } from 'react'

import { Button } from './button.tsx'

export interface MoreRows {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  readonly fetchNextPage: () => Promise<unknown>
}

/** So many rows more are shown at once. */
const ROWS = 50

/** The service looks through so many rows for a page, so one with few of them is not the end: this goes on by itself until there are enough. */
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
