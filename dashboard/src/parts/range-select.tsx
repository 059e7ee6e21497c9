import { useNavigate, useSearch } from '@tanstack/react-router'

import { instant } from '../format.ts'
import { MONTHS, RANGES, type RangeId, readRange } from '../range.ts'

/** Selects the time range of the screen, which its address holds. `usual`: the default range, which the address leaves out. */
export const RangeSelect = ({ usual }: { usual?: RangeId }) => {
  const { id, instants, isFaulty } = readRange(useSearch({ strict: false }), usual)
  const navigate = useNavigate()
  return (
    <>
      {isFaulty ? (
        <span className="range-fault" role="status">
          The time in the address is not valid.
        </span>
      ) : null}
      <select
        aria-label="Time range"
        value={instants === null ? id : 'chosen'}
        onChange={(event) =>
          void navigate({ to: '.', search: (search) => ({ ...search, range: event.target.value, from: undefined, to: undefined }) })
        }
      >
        {instants === null ? null : <option value="chosen">{instants.map((at) => instant(new Date(at).toISOString())).join(' – ')}</option>}
        {[...RANGES, ...MONTHS].map((range) => (
          <option key={range.id} value={range.id}>
            {range.title}
          </option>
        ))}
      </select>
    </>
  )
}
