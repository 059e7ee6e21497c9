/** Creates a key. Most need three fields; the key itself is shown once, with a snippet that uses it. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { createKey, type NewKey } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogActions } from '../../parts/dialog-actions.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { noAmount, readCount, readNumber } from '../../typed-number.ts'
import { KeyMade } from './key-made.tsx'

export const NewKeyDialog = ({ onClose }: { onClose: () => void }) => {
  const [made, setMade] = useState<{ key: string; name: string } | null>(null)
  return made === null ? (
    <NewKeyForm onMade={setMade} onClose={onClose} />
  ) : (
    <KeyMade title={`${made.name} is ready`} apiKey={made.key} onClose={onClose} />
  )
}

const NewKeyForm = ({ onMade, onClose }: { onMade: (made: { key: string; name: string }) => void; onClose: () => void }) => {
  const session = useQuery(currentSession)
  const { workspace } = useSearch({ strict: false })
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const asked = newKeyOf(form, session.data?.user_id)
    if (typeof asked === 'string') {
      setFault(asked)
      return
    }
    setBusy(true)
    createKey({ ...asked, ...(workspace === undefined ? {} : { workspace_id: workspace }) })
      .then(({ key }) => onMade({ key, name: asked.name }))
      .catch((thrown: unknown) => {
        setFault(messageOf(thrown))
        setBusy(false)
      })
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name" hint="Who or what uses it: people find it by this name.">
          <input name="name" required maxLength={200} autoComplete="off" />
        </Field>
        <div className="row fields">
          <Field label="Limit in dollars">
            <input name="limit" inputMode="decimal" placeholder="no limit" autoComplete="off" className="short" />
          </Field>
          <Field label="Resets">
            <select name="limit_reset" defaultValue="monthly">
              <option value="daily">every day</option>
              <option value="weekly">every week</option>
              <option value="monthly">every month</option>
              <option value="">never</option>
            </select>
          </Field>
        </div>
        <details>
          <summary>More</summary>
          <div className="stack">
            <Field label="Person" hint="Whose key this is; yours where it is left open.">
              <input name="creator_user_id" autoComplete="off" />
            </Field>
            <Field label="Ends on">
              <input name="expires_at" type="date" />
            </Field>
            <Field label="Requests a minute">
              <input name="rpm_limit" inputMode="numeric" autoComplete="off" className="short" />
            </Field>
            <Field label="Kind" hint="A management key changes settings and calls no model.">
              <select name="kind" defaultValue="inference">
                <option value="inference">calls models</option>
                <option value="management">manages</option>
              </select>
            </Field>
          </div>
        </details>
        <DialogActions action="Create" onClose={onClose} busy={busy} fault={fault} />
      </form>
    </Dialog>
  )
}

/** The values of the form, or a sentence that says what is wrong with it. */
const newKeyOf = (form: FormData, self: string | undefined): NewKey | string => {
  const text = (name: string): string => {
    const value = form.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const limit = text('limit') === '' ? null : readNumber(text('limit'))
  if (limit === null && text('limit') !== '') return `Limit: ${noAmount(text('limit'))}`
  const rpm = readCount(text('rpm_limit'))
  if (rpm === null && text('rpm_limit') !== '') return 'Requests a minute: write a whole number above 0, or leave it open.'
  const person = text('creator_user_id') || self
  return {
    name: text('name'),
    limit,
    limit_reset: limit === null ? null : text('limit_reset') || null,
    ...(person === undefined ? {} : { creator_user_id: person }),
    ...(text('expires_at') === '' ? {} : { expires_at: `${text('expires_at')}T23:59:59Z` }),
    ...(rpm === null ? {} : { rpm_limit: rpm }),
    ...(text('kind') === 'management' ? { kind: 'management' as const } : {}),
  }
}
