/** Selects one of the active inference keys. */
import { useInfiniteQuery } from '@tanstack/react-query'

import { keyList } from '../api/keys.ts'
import { ShowMore } from './show-more.tsx'

interface KeySelectProps {
  readonly id?: string
  readonly label?: string
  readonly value: string
  readonly onChange: (hash: string) => void
  /** The words of the choice without a key. */
  readonly none: string
  readonly prefix?: string
}

export const KeySelect = ({ id, label, value, onChange, none, prefix = '', ...field }: KeySelectProps) => {
  const keys = useInfiniteQuery(keyList({ status: 'active', kind: 'inference' }))
  const known = keys.data ?? []
  return (
    <>
      <select {...field} id={id} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{none}</option>
        {known.map((key) => (
          <option key={key.hash} value={key.hash}>
            {prefix}
            {key.name} …{key.label.slice(-4)}
          </option>
        ))}
      </select>
      <ShowMore list={keys} shown={known.length} />
    </>
  )
}
