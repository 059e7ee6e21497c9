import { useNavigate, useSearch } from '@tanstack/react-router'

import { instant } from '../format.ts'
import { DEFAULT_RANGE, RANGES } from '../range.ts'

/** Selects the time range of the screen, which its address holds. `usual`: the default range, which the address leaves out. */
export const RangeSelect = ({ usual = DEFAULT_RANGE }: { usual?: string }) => {
  const { range = usual, from, to } = useSearch({ strict: false })
  const navigate = useNavigate()
  const chosen = from !== undefined && to !== undefined ? 'chosen' : range
  return (
    <select
      aria-label="Time range"
      value={chosen}
      onChange={(event) =>
        void navigate({ to: '.', search: (search) => ({ ...search, range: event.target.value, from: undefined, to: undefined }) })
      }
    >
      {chosen === 'chosen' ? (
        <option value="chosen">
          {instant(from ?? '')} – {instant(to ?? '')}
        </option>
      ) : null}
      {RANGES.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  )
}
