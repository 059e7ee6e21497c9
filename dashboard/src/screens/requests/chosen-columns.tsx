/** The columns that the list of requests shows; kept in this browser. */
import { DropdownMenu } from 'radix-ui'
import { useMemo } from 'react'

import { createChoice } from '../../choice.ts'
import { figures } from '../../figures.ts'
import { useStore } from '../../store.ts'
import { COLUMNS, EXACT_WIDTHS } from './request-columns.tsx'

const hidden = createChoice<readonly string[]>(
  'patchbay.request-columns-hidden',
  (kept) => (kept ?? '').split(',').filter((title) => title !== ''),
  (titles) => titles.join(','),
)

export const useChosenColumns = (): typeof COLUMNS => {
  const left = useStore(hidden)
  const isExact = useStore(figures) === 'exact'
  return useMemo(
    () =>
      COLUMNS.filter(({ title }) => !left.includes(title)).map((column) => ({
        ...column,
        width: (isExact ? EXACT_WIDTHS[column.title] : undefined) ?? column.width,
      })),
    [left, isExact],
  )
}

const show = (title: string, isShown: boolean): void => {
  const others = hidden.get().filter((one) => one !== title)
  hidden.set(isShown ? others : [...others, title])
}

export const ColumnChooser = () => {
  const left = useStore(hidden)
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="button plain wide-only">Columns</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {COLUMNS.filter(({ rank }) => rank !== undefined).map(({ title }) => (
            <DropdownMenu.CheckboxItem
              key={title}
              className="menu-item"
              checked={!left.includes(title)}
              onCheckedChange={(isShown) => show(title, isShown)}
              onSelect={(event) => event.preventDefault()}
            >
              <span aria-hidden="true">{left.includes(title) ? '○' : '●'} </span>
              {title}
            </DropdownMenu.CheckboxItem>
          ))}
          <DropdownMenu.Label className="menu-note">A narrow list leaves out those that do not fit.</DropdownMenu.Label>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
