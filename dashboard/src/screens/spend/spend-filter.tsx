import { Link } from '@tanstack/react-router'

import { requestsFilter, type SpendFilterValues } from './spend-groups.ts'

/** The filters that the sums are narrowed to, each with a way back. */
export const SpendFilter = ({ filter }: { filter: SpendFilterValues }) => {
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
      <Link
        to="/requests"
        search={(before) => ({ q: requestsFilter(filter), range: before['range'] ?? '30d', from: before['from'], to: before['to'] })}
      >
        Their requests
      </Link>
    </div>
  )
}
