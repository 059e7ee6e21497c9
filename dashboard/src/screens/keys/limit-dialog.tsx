import { changeKey, type Key, oneKey } from '../../api/keys.ts'
import { queryClient } from '../../api/query-client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'
import { useKeyName } from '../../parts/key-name.tsx'
import { NOT_SAVED, SavedMeanwhile } from '../../parts/saved-meanwhile.tsx'
import { takeBack } from '../../shell/take-back.ts'
import { toast } from '../../shell/toasts.tsx'
import { noAmount, readNumber, writeNumber } from '../../typed-number.ts'
import { isSame, useEdited } from '../../use-edited.ts'
import { exactMoney } from '../../units.ts'

/** A new limit applies from the next request on; what was spent stays counted. */
export const LimitDialog = ({ of: key, onClose }: { of: Key; onClose: () => void }) => {
  const name = useKeyName(key.name)
  const form = useEdited(formOf(key))
  const { limit, reset } = form.value
  return (
    <Confirm
      title={`Limit of ${name}`}
      action="Save limit"
      onClose={onClose}
      onConfirm={async () => {
        const typed = limit.trim() === '' ? null : readNumber(limit)
        if (typed === null && limit.trim() !== '') throw new Error(noAmount(limit))
        const known = await queryClient.fetchQuery({ ...oneKey(key.hash), staleTime: 0 })
        if (form.isOvertakenBy(formOf(known))) throw new Error(NOT_SAVED)
        if (!form.isChanged) return
        const amount = 'limit' in form.edits ? typed : known.limit
        const edits = {
          ...('limit' in form.edits ? { limit: amount } : {}),
          ...('reset' in form.edits || amount === null ? { limit_reset: amount === null || reset === '' ? null : reset } : {}),
        }
        const { data: stored } = await changeKey(key.hash, edits)
        const editedOf = (one: Key) => Object.fromEntries(Object.keys(edits).map((field) => [field, one[field as keyof typeof edits]]))
        toast(
          stored.limit === null ? `${name} has no limit now.` : `${name} may spend ${exactMoney(stored.limit)}: in force now.`,
          () =>
            void takeBack({
              what: `The limit of ${name}`,
              read: async () => editedOf(await queryClient.fetchQuery({ ...oneKey(key.hash), staleTime: 0 })),
              isAsLeft: (now) => isSame(now, editedOf(stored)),
              putBack: () => changeKey(key.hash, editedOf(known)),
            }),
          `limit of key ${key.hash}`,
        )
      }}
    >
      <SavedMeanwhile
        what={`The limit of ${name}`}
        form={form}
        isSaving={false}
        theirs={key.limit === null ? 'no limit' : `${exactMoney(key.limit)}, reset ${RESETS[key.limit_reset ?? '']}`}
      />
      <Field label="Limit in dollars" hint="Left open: no limit.">
        <input
          value={limit}
          onChange={(event) => form.change({ limit: event.target.value })}
          inputMode="decimal"
          autoFocus
          autoComplete="off"
        />
      </Field>
      <Field label="Resets">
        <select value={reset} onChange={(event) => form.change({ reset: event.target.value as keyof typeof RESETS })}>
          {Object.entries(RESETS).map(([interval, words]) => (
            <option key={interval} value={interval}>
              {words}
            </option>
          ))}
        </select>
      </Field>
    </Confirm>
  )
}

const RESETS = { '': 'never', daily: 'every day', weekly: 'every week', monthly: 'every month' } as const

const formOf = ({ limit, limit_reset: reset }: Key): { limit: string; reset: keyof typeof RESETS } => ({
  limit: limit === null ? '' : writeNumber(limit),
  reset: reset ?? '',
})
