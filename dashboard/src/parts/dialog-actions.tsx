import type { ReactNode } from 'react'

import { Button } from './button.tsx'

interface DialogActionsProps {
  /** On the button that sends the form. */
  readonly action: ReactNode
  readonly onClose: () => void
  readonly kind?: 'primary' | 'danger'
  readonly busy?: boolean
  /** A sentence that says what is wrong with the form as a whole; null: nothing is. */
  readonly fault?: string | null
}

/** The end of a form in a dialog: what is wrong with it, the way back, and the button that sends it. */
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
