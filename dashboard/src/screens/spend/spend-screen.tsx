/**
 * Who spends what: stacked columns over the range, and a table with the same total. Each part links one step deeper, and at last to the
 * requests.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'

import { usage } from '../../api/usage.ts'
import { figures } from '../../figures.ts'
import { compact, count, instant, money, numbered } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { ColumnsChart } from '../../parts/columns-chart.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Loaded, Skeleton } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RangeSelect } from '../../parts/range-select.tsx'
import { saveCsv } from '../../parts/save-csv.ts'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeBefore, rangeOf } from '../../range.ts'
import { useStore } from '../../store.ts'
import { SpendFilter } from './spend-filter.tsx'
import { dimensionsOf, narrowedTo, requestsSearch, spendFilterOf } from './spend-groups.ts'
import { DIMENSIONS, type Measure, MEASURES, seriesOf, totalCost } from './spend-series.ts'
import { SpendTable } from './spend-table.tsx'
import { SpendTotal } from './spend-total.tsx'
import { useMonth } from './use-month.tsx'
import { useNames } from './use-names.ts'
import { exactMoney } from '../../units.ts'

/** The largest number of groups that the API lists one by one. */
const TOP = 50

const topOf = (measure: Measure, isExact: boolean, value: number): string => {
  if (measure === 'cost') return isExact ? exactMoney(value) : money(value)
  if (measure === 'tokens') return isExact ? numbered(value, 'token') : `${compact(value)} tokens`
  return numbered(value, measure === 'errors' ? 'failure' : 'request')
}

export const SpendScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const now = useNow()
  const [range, earlier] = [rangeOf(search, now, '30d'), rangeBefore(search, now, '30d')]
  const dimensions = dimensionsOf(search)
  const [group, and] = dimensions
  const measure = MEASURES.find(({ id }) => id === search['of'])?.id ?? 'cost'
  const filter = spendFilterOf(search)
  const isExact = useStore(figures) === 'exact'
  const grouped = { ...filter, group_by: dimensions.join(','), ...(measure === 'cost' ? {} : { sort: measure }) }
  const query = { ...grouped, from: range.from, to: range.to, interval: range.interval }
  const sums = useQuery(usage(query))
  // The chart has few groups, and the table as many as there are at once, of which it needs no columns over time.
  const step = range.interval === 'minute' ? 'minute' : 'month'
  const hasMore = sums.data?.groups.some(({ other }) => other === true) === true
  const all = useQuery({ ...usage({ ...query, interval: step, top: TOP }), enabled: hasMore })
  const before = useQuery(usage({ ...grouped, ...earlier, interval: step, top: TOP }))
  // The sums have the names of their people; those of a filter are looked up.
  const keys = [...((all.data ?? sums.data)?.groups ?? [])].flatMap(({ key_name: name }) => name ?? [])
  const names = useNames([...dimensions.filter((one) => one !== 'user'), ...narrowedTo(filter)], keys, search['workspace'])
  const month = useMonth(filter)
  const choose = (name: string, value: string | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }) })
  return (
    <>
      <ScreenHead title="Spend">
        <RangeSelect usual="30d" />
        <select aria-label="Group by" value={group} onChange={(event) => choose('group', event.target.value)}>
          {DIMENSIONS.map(({ id, title }) => (
            <option key={id} value={id}>
              by {title}
            </option>
          ))}
        </select>
        <select aria-label="And by" value={and ?? ''} onChange={(event) => choose('and', event.target.value || undefined)}>
          <option value="">alone</option>
          {DIMENSIONS.filter(({ id }) => id !== group).map(({ id, title }) => (
            <option key={id} value={id}>
              × {title}
            </option>
          ))}
        </select>
        <select aria-label="Measure" value={measure} onChange={(event) => choose('of', event.target.value)}>
          {MEASURES.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
        <CopyCurl path="/usage" query={query} />
        <Button onClick={() => saveCsv('/usage', { ...query, top: TOP }, `spend-by-${dimensions.join('-and-')}.csv`)}>CSV</Button>
      </ScreenHead>
      <SpendFilter filter={filter} time={sums.data ?? range} names={names} />
      <Loaded query={sums} rows={8}>
        {(data) => (
          <>
            <SpendTotal used={data} filter={filter} month={month} before={before.data === undefined ? undefined : totalCost(before.data)} />
            <Panel title="Over time" quiet>
              <ColumnsChart
                label={`Spend by ${dimensions.join(' and ')}`}
                {...seriesOf(data, dimensions, measure, range, names)}
                format={measure === 'cost' ? exactMoney : count}
                formatTop={(value) => topOf(measure, isExact, value)}
                height={160}
                onOpen={(from, to, columns) =>
                  void (columns === 1
                    ? navigate({ to: '/requests', search: requestsSearch(filter, { from, to }) })
                    : navigate({ to: '.', search: (before) => ({ ...before, from, to, range: undefined }) }))
                }
              />
            </Panel>
            <Panel title="Groups" quiet>
              {before.isPending || (hasMore && all.isPending) ? (
                <Skeleton rows={8} />
              ) : (
                <>
                  <SpendTable
                    used={(hasMore ? all.data : undefined) ?? data}
                    before={before.data ?? null}
                    dimensions={dimensions}
                    filter={filter}
                    names={names}
                    measure={measure}
                  />
                  <p className="faint small">
                    Before is {instant(earlier.from)} to {instant(earlier.to)}.
                  </p>
                </>
              )}
            </Panel>
          </>
        )}
      </Loaded>
    </>
  )
}
