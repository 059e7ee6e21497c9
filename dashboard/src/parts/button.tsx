import type { ComponentProps } from 'react'

import { COMMAND_KEY } from './command-key.ts'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** While busy it cannot be pressed again, but keeps the focus. */
  readonly busy?: boolean
  /** The keyboard shortcut of the button, shown beside its words. */
  readonly keys?: string
}

export const Button = ({ kind = 'plain', busy = false, keys, children, onClick, type = 'button', ...rest }: ButtonProps) => (
  <button
    {...rest}
    type={type}
    className={`button ${kind}`}
    aria-disabled={busy || rest.disabled}
    aria-busy={busy}
    onClick={busy ? (event) => event.preventDefault() : onClick}
  >
    {children}
    {keys === undefined ? null : (
      <kbd aria-hidden="true" className="keys">
        {keys.replace('⌘', COMMAND_KEY)}
      </kbd>
    )}
  </button>
)
