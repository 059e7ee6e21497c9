/** Requests over the range. A click on a column, or dragging over several, selects a new range. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import type { Query } from '../../api/path.ts'
import { usage } from '../../api/usage.ts'
import { count, numbered } from '../../format.ts'
import { ColumnsChart } from '../../parts/columns-chart.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import type { TimeRange } from '../../range.ts'
import { TOO_MANY, usageSlots } from '../../usage-slots.ts'
import { FailuresBy } from './failures-by.tsx'
import { wordOf } from './filter.ts'

/** The filters that the usage sums support. */
const SUMMED = ['key', 'model', 'provider', 'preset', 'preset_version', 'user_id', 'interface', 'error_type', 'workspace_id'] as const

interface RequestHistogramProps {
  readonly filter: Query
  readonly range: TimeRange
  /** False until the rows, which are fetched first, have come. */
  readonly isTurn: boolean
  /** The text of the filter, if the failures are shown by their kind and key as well. */
  readonly failuresOf: string | null
}

export const RequestHistogram = ({ filter, range, isTurn, failuresOf }: RequestHistogramProps) => {
  const navigate = useNavigate()
  const left = Object.keys(filter).filter((name) => filter[name] !== undefined && !SUMMED.some((summed) => summed === name))
  const { from, to, interval } = range
  const summed = Object.fromEntries(SUMMED.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]]])))
  const sums = useQuery({ ...usage({ ...summed, from, to, interval }), enabled: isTurn })
  return (
    <Panel title="Requests over time" quiet>
      <div className="histogram">
        <Loaded query={sums} rows={3}>
          {(used) => (
            <>
              <ColumnsChart
                label="Requests over time"
                series={[{ name: 'OK' }, { name: 'Errors', isStriped: true }]}
                slots={usageSlots(used, range)}
                format={count}
                formatTop={(value) => numbered(value, 'request')}
                height={64}
                onOpen={(first, last) =>
                  void navigate({ to: '.', search: (search) => ({ ...search, from: first, to: last, range: undefined }) })
                }
              />
              {used.coarser === null ? null : <p className="faint small">{TOO_MANY}</p>}
              {left.length === 0 ? null : (
                <p className="faint small">The columns count more than the list: they ignore {left.map(wordOf).join(', ')}.</p>
              )}
            </>
          )}
        </Loaded>
        {failuresOf === null || !isTurn ? null : (
          <div className="failures">
            <FailuresBy by="error_type" range={range} filter={summed} q={failuresOf} />
            <FailuresBy by="key" range={range} filter={summed} q={failuresOf} />
          </div>
        )}
      </div>
    </Panel>
  )
}
