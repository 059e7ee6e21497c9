import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { assignKey, type Guardrail } from '../../api/guardrails.ts'
import { keyList } from '../../api/keys.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'

export const AssignDialog = ({ guardrail, onClose }: { guardrail: Guardrail; onClose: () => void }) => {
  const keys = useInfiniteQuery(keyList({ status: 'active' }))
  const [hash, setHash] = useState('')
  const known = keys.data?.pages.flatMap(({ data }) => data).filter(({ kind }) => kind === 'inference') ?? []
  return (
    <Confirm
      title={`Assign ${guardrail.name}`}
      action="Assign"
      onClose={onClose}
      onConfirm={async () => {
        if (hash === '') throw new Error('Choose a key.')
        await assignKey(guardrail.id, hash)
      }}
    >
      <Field label="Key">
        <select value={hash} onChange={(event) => setHash(event.target.value)}>
          <option value="">choose…</option>
          {known.map((key) => (
            <option key={key.hash} value={key.hash}>
              {key.name} …{key.label.slice(-4)}
            </option>
          ))}
        </select>
      </Field>
    </Confirm>
  )
}
