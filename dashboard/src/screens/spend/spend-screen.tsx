/**
 * Who spends what: stacked columns over the range, and a table with the same total. Each part links one step deeper, and at last to the
 * requests.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'

import { usage } from '../../api/usage.ts'
import { compact, count, money, numbered } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { ColumnsChart } from '../../parts/columns-chart.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RangeSelect } from '../../parts/range-select.tsx'
import { saveCsv } from '../../parts/save-csv.ts'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { SpendFilter } from './spend-filter.tsx'
import { dimensionsOf, requestsSearch, spendFilterOf } from './spend-groups.ts'
import { DIMENSIONS, type Measure, MEASURES, seriesOf } from './spend-series.ts'
import { SpendTable } from './spend-table.tsx'
import { SpendTotal } from './spend-total.tsx'
import { useMonth } from './use-month.tsx'

const TOPS: Readonly<Record<Measure, (value: number) => string>> = {
  cost: money,
  tokens: (value) => `${compact(value)} tokens`,
  requests: (value) => numbered(value, 'request'),
}

export const SpendScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const range = rangeOf(search, useNow(), '30d')
  const dimensions = dimensionsOf(search)
  const [group, and] = dimensions
  const measure = MEASURES.find(({ id }) => id === search['of'])?.id ?? 'cost'
  const filter = spendFilterOf(search)
  const query = { ...filter, from: range.from, to: range.to, interval: range.interval, group_by: dimensions.join(',') }
  const sums = useQuery(usage(query))
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
        <Button onClick={() => saveCsv('/usage', query, `spend-by-${dimensions.join('-and-')}.csv`)}>CSV</Button>
      </ScreenHead>
      <SpendFilter filter={filter} time={sums.data ?? range} />
      <Loaded query={sums} rows={8}>
        {(data) => (
          <>
            <SpendTotal used={data} filter={filter} month={month} />
            <Panel title="Over time" quiet>
              <ColumnsChart
                label={`Spend by ${dimensions.join(' and ')}`}
                {...seriesOf(data, dimensions, measure, range)}
                format={measure === 'cost' ? money : measure === 'tokens' ? compact : count}
                formatTop={TOPS[measure]}
                height={160}
                onOpen={(from, to, columns) =>
                  void (columns === 1
                    ? navigate({ to: '/requests', search: requestsSearch(filter, { from, to }) })
                    : navigate({ to: '.', search: (before) => ({ ...before, from, to, range: undefined }) }))
                }
              />
            </Panel>
            <Panel title="Groups" quiet>
              <SpendTable used={data} dimensions={dimensions} filter={filter} />
            </Panel>
          </>
        )}
      </Loaded>
    </>
  )
}
