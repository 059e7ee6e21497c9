/** The browser's own dialog: it keeps the focus inside, closes on Escape, and gives the focus back. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

import { keepFocus } from './keep-focus.ts'

interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

export const Dialog = ({ title, wide = false, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    if (element !== null && !element.open) {
      element.showModal()
      // Where there is something to write, a person begins there; else with the action.
      const first = element.querySelector<HTMLElement>('input, select, textarea') ?? element.querySelector<HTMLElement>('[type="submit"]')
      first?.focus()
    }
    return () => {
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      // The button that opened it may be gone with what was done.
      keepFocus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div className="dialog-body">
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
