import { useState } from 'react'

import { changeKey, type Key } from '../../api/keys.ts'
import { money } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'
import { toast } from '../../shell/toasts.tsx'
import { noAmount, readNumber, writeNumber } from '../../typed-number.ts'

/** A new limit applies from the next request on; what was spent stays counted. */
export const LimitDialog = ({ of: key, onClose }: { of: Key; onClose: () => void }) => {
  const [limit, setLimit] = useState(key.limit === null ? '' : writeNumber(key.limit))
  const [reset, setReset] = useState(key.limit_reset ?? '')
  return (
    <Confirm
      title={`Limit of ${key.name}`}
      action="Save limit"
      onClose={onClose}
      onConfirm={async () => {
        const amount = limit.trim() === '' ? null : readNumber(limit)
        if (amount === null && limit.trim() !== '') throw new Error(noAmount(limit))
        const before = { limit: key.limit, limit_reset: key.limit_reset }
        await changeKey(key.hash, { limit: amount, limit_reset: amount === null || reset === '' ? null : reset })
        toast(
          amount === null ? `${key.name} has no limit now.` : `${key.name} may spend ${money(amount)}: in force now.`,
          () => void changeKey(key.hash, before),
          `limit of key ${key.hash}`,
        )
      }}
    >
      <Field label="Limit in dollars" hint="Left open: no limit.">
        <input value={limit} onChange={(event) => setLimit(event.target.value)} inputMode="decimal" autoFocus autoComplete="off" />
      </Field>
      <Field label="Resets">
        <select value={reset} onChange={(event) => setReset(event.target.value)}>
          <option value="">never</option>
          <option value="daily">every day</option>
          <option value="weekly">every week</option>
          <option value="monthly">every month</option>
        </select>
      </Field>
    </Confirm>
  )
}
