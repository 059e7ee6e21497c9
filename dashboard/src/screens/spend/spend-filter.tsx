import { Link } from '@tanstack/react-router'

import type { TimeRange } from '../../range.ts'
import { requestsSearch, type SpendFilterValues } from './spend-groups.ts'

/** The filters that apply to the sums, each with a link that removes it. */
export const SpendFilter = ({ filter, time }: { filter: SpendFilterValues; time: Pick<TimeRange, 'from' | 'to'> }) => {
  const given = Object.entries(filter)
  if (given.length === 0) return null
  return (
    <div className="row" aria-label="Narrowed to" role="group">
      {given.map(([name, value]) => (
        <Link key={name} to="." search={(before) => ({ ...before, [name]: undefined })} className="chip" resetScroll={false}>
          <span className="faint">{name}</span> <span className="cut">{value.length > 40 ? `${value.slice(0, 12)}…` : value}</span>{' '}
          <span aria-hidden="true">×</span>
          <span className="hidden-text">take away</span>
        </Link>
      ))}
      <Link to="/requests" search={requestsSearch(filter, time)}>
        Their requests
      </Link>
    </div>
  )
}
