/**
 * Confirms a change that cannot be undone, with its effect in words. To revoke or delete something for ever, a person must type its name.
 */
import { type FormEvent, type ReactNode, useState } from 'react'

import { asSeen } from '../diff/unseen.ts'
import { Dialog } from './dialog.tsx'
import { DialogActions } from './dialog-actions.tsx'
import { messageOf } from './error-note.tsx'
import { Field } from './field.tsx'

interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  /** A verb and its object: `Revoke checkout`. */
  readonly action: string
  readonly isDanger?: boolean
  /** The name that must be typed before confirming. */
  readonly name?: string
  readonly wide?: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

export const Confirm = ({ title, children, action, isDanger = false, name, wide = false, onConfirm, onClose }: ConfirmProps) => {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (name !== undefined && asSeen(typed) !== asSeen(name)) {
      setFault(`Type ${asSeen(name)} to go on.`)
      return
    }
    setBusy(true)
    setFault(null)
    onConfirm()
      .then(onClose)
      .catch((thrown: unknown) => {
        setFault(messageOf(thrown))
        setBusy(false)
      })
  }
  return (
    <Dialog title={asSeen(title)} wide={wide} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {children}
        {name === undefined ? (
          fault === null ? null : (
            <p className="note bad" role="alert">
              {fault}
            </p>
          )
        ) : (
          <Field label={`Type ${asSeen(name)} to confirm`} fault={fault}>
            <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} />
          </Field>
        )}
        <DialogActions action={asSeen(action)} onClose={onClose} kind={isDanger ? 'danger' : 'primary'} busy={busy} />
      </form>
    </Dialog>
  )
}
