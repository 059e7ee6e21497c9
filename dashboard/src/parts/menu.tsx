/** A menu of actions behind a button. */
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

export interface MenuItem {
  readonly label: string
  readonly onSelect: () => void
  readonly isDanger?: boolean
}

interface MenuProps {
  readonly label: string
  /** The words of the button; without them it shows three dots. */
  readonly button?: ReactNode
  readonly kind?: 'plain' | 'primary'
  readonly items: readonly MenuItem[]
}

export const Menu = ({ label, button, kind = 'plain', items }: MenuProps) => (
  <DropdownMenu.Root modal={false}>
    <DropdownMenu.Trigger
      className={button === undefined ? 'icon-button' : `button ${kind}`}
      aria-label={button === undefined ? label : undefined}
    >
      {button ?? '⋯'}
    </DropdownMenu.Trigger>
    <DropdownMenu.Portal>
      <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
        {items.map((item) => (
          <DropdownMenu.Item
            key={item.label}
            className={item.isDanger === true ? 'menu-item danger' : 'menu-item'}
            onSelect={item.onSelect}
          >
            {item.label}
          </DropdownMenu.Item>
        ))}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  </DropdownMenu.Root>
)
