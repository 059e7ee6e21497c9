import { type ComponentProps, type MouseEvent, useState } from 'react'

import { COMMAND_KEY } from './command-key.ts'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** The button is busy until the promise settles. The page says why one is rejected, as it does wherever nothing handles that. */
  readonly onClick?: (event: MouseEvent) => void | Promise<unknown>
  /** While busy it cannot be pressed again, but keeps the focus. */
  readonly busy?: boolean
  /** The keyboard shortcut of the button, shown beside its words. */
  readonly keys?: string
}

export const Button = ({ kind = 'plain', busy = false, keys, children, onClick, type = 'button', ...rest }: ButtonProps) => {
  const [acting, setActing] = useState(false)
  const isBusy = busy || acting
  const press = (event: MouseEvent): void => {
    if (isBusy) {
      event.preventDefault()
      return
    }
    const done = onClick?.(event)
    if (!(done instanceof Promise)) return
    setActing(true)
    void done.finally(() => setActing(false))
  }
  return (
    <button {...rest} type={type} className={`button ${kind}`} aria-disabled={isBusy || rest.disabled} aria-busy={isBusy} onClick={press}>
      {children}
      {keys === undefined ? null : (
        <kbd aria-hidden="true" className="keys">
          {keys.replace('⌘', COMMAND_KEY)}
        </kbd>
      )}
    </button>
  )
}
