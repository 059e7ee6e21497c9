import type { ReactNode } from 'react'

import { Button } from './button.tsx'

interface DialogActionsProps {
  /** The words of the button that submits the form. */
  readonly action: ReactNode
  readonly onClose: () => void
  readonly kind?: 'primary' | 'danger'
  readonly busy?: boolean
  /** A sentence that says what is wrong with the form as a whole; null if nothing is. */
  readonly fault?: string | null
}

/** The end of a form in a dialog: the fault, the button to leave, and the button that submits it. */
export const DialogActions = ({ action, onClose, kind = 'primary', busy = false, fault = null }: DialogActionsProps) => (
  <>
    {fault === null ? null : (
      <p className="note bad" role="alert">
        {fault}
      </p>
    )}
    <div className="dialog-actions">
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" kind={kind} busy={busy}>
        {action}
      </Button>
    </div>
  </>
)
