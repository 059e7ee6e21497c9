import { useState } from 'react'

import { assignKey, type Guardrail } from '../../api/guardrails.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'
import { KeySelect } from '../../parts/key-select.tsx'

export const AssignDialog = ({ guardrail, onClose }: { guardrail: Guardrail; onClose: () => void }) => {
  const [hash, setHash] = useState('')
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
        <KeySelect value={hash} onChange={setHash} none="choose…" />
      </Field>
    </Confirm>
  )
}
