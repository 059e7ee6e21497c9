import { useMemo } from 'react'

import { namesFitting } from './names-fitting.ts'

/** The names to choose from, below the input whose `list` is this id. */
export const NameOptions = ({ id, names, typed }: { id: string; names: readonly string[]; typed: string }) => {
  const shown = useMemo(() => namesFitting(names, typed), [names, typed])
  return (
    <datalist id={id}>
      {shown.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}
