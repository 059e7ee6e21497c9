/** The browser's own dialog: it traps the focus, closes on Escape, and returns the focus. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'

interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

export const Dialog = ({ title, wide = false, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before anything else can happen: a key that is pressed next is for the dialog.
  useLayoutEffect(() => {
    const element = dialog.current
    const before = openerOf(document.activeElement)
    if (element !== null && !element.open) {
      element.showModal()
      const first = FIRST.map((what) => element.querySelector<HTMLElement>(what)).find((found) => found !== null)
      first?.focus()
    }
    return () => {
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
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

/** The focus starts where the dialog says, in the first field, or on the action. */
const FIRST = ['[data-first]', 'input, select, textarea', '[type="submit"]']

/** The item of a menu goes with its menu; the button that opened the menu stays. */
const openerOf = (element: Element | null): Element | null => {
  const menu = element?.closest('[role="menu"]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : element
}
