/** A menu of actions behind a button. */
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

export interface MenuItem {
  readonly label: string
  readonly onSelect: () => void
  readonly isDanger?: boolean
}

export const Menu = ({ label, button, items }: { label: string; button?: ReactNode; items: readonly MenuItem[] }) => (
  <DropdownMenu.Root modal={false}>
    <DropdownMenu.Trigger
      className={button === undefined ? 'icon-button' : 'button plain'}
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
