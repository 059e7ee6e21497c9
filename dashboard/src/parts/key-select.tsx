/** Selects one of the active inference keys. */
import { useState } from 'react'

import type { Key } from '../api/keys.ts'
import { useKeyName } from './key-name.tsx'
import { useKeySearch } from './use-key-search.tsx'

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
  const keys = useKeySearch({ kind: 'inference' })
  const found = keys.query.data ?? []
  const [chosen, setChosen] = useState<Key | null>(null)
  // The chosen key stays in the list while another one is looked for.
  const listed = chosen === null || chosen.hash !== value || found.some(({ hash }) => hash === value) ? found : [chosen, ...found]
  return (
    <>
      {keys.field}
      <select
        {...field}
        id={id}
        aria-label={label}
        value={value}
        onChange={(event) => {
          setChosen(listed.find(({ hash }) => hash === event.target.value) ?? null)
          onChange(event.target.value)
        }}
      >
        <option value="">{none}</option>
        {listed.map((key) => (
          <KeyOption key={key.hash} of={key} prefix={prefix} />
        ))}
      </select>
      {keys.more}
    </>
  )
}

const KeyOption = ({ of: { hash, name, label }, prefix }: { of: Key; prefix: string }) => (
  <option value={hash}>
    {prefix}
    {useKeyName(name)} …{label.slice(-4)}
  </option>
)
