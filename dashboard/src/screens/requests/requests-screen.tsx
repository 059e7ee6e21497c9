/** All requests, newest first, with one of them open beside the list. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

import { generationList, type GenerationRow } from '../../api/generations.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { FaultBoundary } from '../../parts/panel.tsx'
import { RangeSelect } from '../../parts/range-select.tsx'
import { saveCsv } from '../../parts/save-csv.ts'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useIsWide } from '../../parts/use-is-wide.ts'
import { VirtualRows } from '../../parts/virtual-rows.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { useKeys } from '../../shell/keyboard.ts'
import { ColumnChooser, useChosenColumns } from './chosen-columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { NoRequests } from './no-requests.tsx'
import { RequestHistogram } from './request-histogram.tsx'
import { useLive } from './use-live.ts'
import { useRequestFilter } from './use-request-filter.ts'

export const RequestsScreen = () => {
  const search = useSearch({ strict: false })
  const { id = null } = useParams({ strict: false })
  const navigate = useNavigate()
  const now = useNow()
  const isLive = search['live'] === 'on'
  const hasFailures = search['failures'] === 'shown'
  const isWide = useIsWide(68.6875)
  const { q = '', workspace } = search
  // A live range starts at the time when it was opened: one that moved with the clock would be fetched again each minute.
  const [openedAt] = useState(now)
  const range = rangeOf(search, openedAt)
  const { query: filter, faults, isReady } = useRequestFilter(q, workspace)
  const columns = useChosenColumns()
  const bounded = useMemo(
    () => ({ ...filter, from: range.from, ...(range.hasEnd ? { to: range.to } : {}) }),
    [filter, range.from, range.to, range.hasEnd],
  )
  const list = useInfiniteQuery({ ...generationList(bounded), enabled: isReady })
  const scroller = useRef<HTMLDivElement>(null)
  const isHeld = useCallback(
    () => scroller.current?.matches(':hover, :focus-within') === true || (scroller.current?.scrollTop ?? 0) > 0,
    [],
  )
  const live = useLive(filter, isLive && isReady, isHeld)
  const rows = useMemo(() => merged(live.rows, list.data?.pages.flatMap(({ data }) => data) ?? []), [live.rows, list.data])
  const showNew = (): void => {
    live.show()
    scroller.current?.scrollTo(0, 0)
  }
  const toggleLive = (): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, live: isLive ? undefined : 'on' }), replace: true })
  const toggleFailures = (): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, failures: hasFailures ? undefined : 'shown' }), replace: true })
  const open = useCallback(
    (row: GenerationRow) => void navigate({ to: '/requests/$id', params: { id: row.id }, search: (before) => before, replace: true }),
    [navigate],
  )
  const exportCsv = (): Promise<void> => saveCsv('/generations', bounded, 'requests.csv')
  useKeys({ f: toggleLive, e: exportCsv })
  const more = useCallback(() => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
  }, [list])
  // The service searches a bounded number of requests for each page, so a page without rows is not the end.
  const isFoundless = list.data?.pages.at(-1)?.data.length === 0 && list.hasNextPage
  useEffect(() => {
    if (isFoundless && !list.isFetchNextPageError) more()
  }, [isFoundless, list.isFetchNextPageError, more])
  const listIsShown = id === null || isWide
  return (
    <>
      {listIsShown ? (
        <ScreenHead title="Requests" isBeside={id !== null}>
          <RangeSelect />
          <Button aria-pressed={isLive} onClick={toggleLive} keys="f">
            <span aria-hidden="true">{isLive ? '● ' : '○ '}</span>Live
          </Button>
          <Button aria-pressed={hasFailures} onClick={toggleFailures}>
            Failures by type and key
          </Button>
          <ColumnChooser />
          <Button onClick={exportCsv}>Export CSV</Button>
          <CopyCurl path="/generations" query={bounded} />
        </ScreenHead>
      ) : null}
      <div className={id !== null && isWide ? 'beside' : undefined}>
        {listIsShown ? (
          <div className="requests-list">
            <FilterBar faults={faults} />
            {id === null && isReady ? (
              <RequestHistogram filter={filter} range={range} isTurn={list.isFetched} failuresOf={hasFailures ? q : null} />
            ) : null}
            <p className="rows-note">
              {/* Their number grows each second, which nobody wants to hear. */}
              {live.waiting > 0 ? (
                <button type="button" className="link-button" onClick={showNew}>
                  {live.waiting} new
                </button>
              ) : null}
              <span role="status">
                {live.waiting > 0 ? (
                  <span className="hidden-text">New requests wait above the list.</span>
                ) : isLive && live.fault === null ? (
                  'Following: new requests appear here as they end.'
                ) : !isLive && rows.length > 0 ? (
                  foundOf(rows.length, list.hasNextPage)
                ) : null}
                {live.fault === null ? null : ` ${live.fault}`}
              </span>
              {live.skipped > 0 ? ` ${live.skipped} were skipped: more came than can be shown.` : null}
            </p>
            <Loaded query={list} rows={12}>
              {() =>
                rows.length === 0 && !list.hasNextPage ? (
                  <NoRequests isFiltered={q !== ''} workspace={workspace} />
                ) : (
                  <VirtualRows
                    label="Requests"
                    columns={columns}
                    rows={rows}
                    rowKey={rowKey}
                    selected={id}
                    onEnd={more}
                    onMove={id === null ? NOTHING : open}
                    scroller={scroller}
                    foot={<ListEnd more={furtherPages(list, isFoundless)} again={() => void list.fetchNextPage()} />}
                  />
                )
              }
            </Loaded>
          </div>
        ) : null}
        <FaultBoundary key={id}>
          <Outlet />
        </FaultBoundary>
      </div>
    </>
  )
}

/** Lists have no total: the count is exact if all rows are loaded; otherwise it says that there may be more. */
const foundOf = (loaded: number, hasMore: boolean): string =>
  hasMore ? `The newest ${count(loaded)}; more follow` : `${count(loaded)} found`

const NOTHING = (): void => undefined

const rowKey = ({ id }: GenerationRow): string => id

/** A request that arrived live and was then also loaded is shown once. */
const merged = (live: readonly GenerationRow[], loaded: readonly GenerationRow[]): readonly GenerationRow[] => {
  if (live.length === 0) return loaded
  const known = new Set(loaded.map(rowKey))
  return [...live.filter(({ id }) => !known.has(id)), ...loaded]
}

type FurtherPages = 'none' | 'failed' | 'sought' | 'loading'

const furtherPages = (list: { hasNextPage: boolean; isFetchNextPageError: boolean }, isFoundless: boolean): FurtherPages => {
  if (!list.hasNextPage) return 'none'
  if (list.isFetchNextPageError) return 'failed'
  return isFoundless ? 'sought' : 'loading'
}

const ListEnd = ({ more, again }: { more: FurtherPages; again: () => void }) => (
  <p className="list-end faint">
    {more === 'failed' ? (
      <>
        The next rows could not be loaded. <Button onClick={again}>Try again</Button>
      </>
    ) : (
      LIST_ENDS[more]
    )}
  </p>
)

const LIST_ENDS = { none: 'These are all.', sought: 'Looking through older requests…', loading: 'Loading more…' } as const
