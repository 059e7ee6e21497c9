import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { isKeyHash, oneKey } from '../../api/keys.ts'
import { KeyName } from '../../parts/key-name.tsx'
import type { TimeRange } from '../../range.ts'
import { PARAMETERS, requestsSearch, type SpendFilterValues } from './spend-groups.ts'
import { DIMENSIONS, type Names } from './spend-series.ts'

interface SpendFilterProps {
  readonly filter: SpendFilterValues
  readonly time: Pick<TimeRange, 'from' | 'to'>
  readonly names: Names
}

/** The filters that apply to the sums, each with a link that removes it. */
export const SpendFilter = ({ filter, time, names }: SpendFilterProps) => {
  const hash = filter.key ?? ''
  const key = useQuery({ ...oneKey(hash), enabled: isKeyHash(hash) }).data
  const given = DIMENSIONS.flatMap(({ id, title }) => {
    const value = filter[PARAMETERS[id]]
    if (value === undefined) return []
    const name = id === 'key' ? <KeyName name={key?.name ?? value.slice(0, 8)} /> : (names(id, value) ?? value)
    return [{ parameter: PARAMETERS[id], title, value, name }]
  })
  if (given.length === 0) return null
  return (
    <div className="row" aria-label="Narrowed to" role="group">
      {given.map(({ parameter, title, value, name }) => (
        <Link
          key={parameter}
          to="."
          // The workspace is in the address under the name that the workspace switch has for it, too.
          search={(before) => ({
            ...before,
            [parameter]: undefined,
            ...(parameter === 'workspace_id' ? { workspace: undefined } : {}),
          })}
          className="chip"
          title={value}
          resetScroll={false}
        >
          <span className="faint">{title}</span> <span className="cut">{name}</span> <span aria-hidden="true">×</span>
          <span className="hidden-text">take away</span>
        </Link>
      ))}
      <Link to="/requests" search={requestsSearch(filter, time)}>
        Their requests
      </Link>
    </div>
  )
}
