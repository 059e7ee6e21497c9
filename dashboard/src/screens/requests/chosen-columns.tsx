/** The columns that the list of requests shows; kept in this browser. */
import { DropdownMenu } from 'radix-ui'

import { createChoice } from '../../choice.ts'
import { useStore } from '../../store.ts'
import { ALL_COLUMNS, FEW_COLUMNS } from './request-columns.tsx'

const hidden = createChoice<readonly string[]>(
  'patchbay.request-columns-hidden',
  (kept) => (kept ?? '').split(',').filter((title) => title !== ''),
  (titles) => titles.join(','),
)

const ALWAYS: ReadonlySet<string> = new Set(FEW_COLUMNS.map(({ title }) => title))

export const useChosenColumns = (): typeof ALL_COLUMNS => {
  const left = useStore(hidden)
  return ALL_COLUMNS.filter(({ title }) => !left.includes(title))
}

const show = (title: string, isShown: boolean): void => {
  const others = hidden.get().filter((one) => one !== title)
  hidden.set(isShown ? others : [...others, title])
}

export const ColumnChooser = () => {
  const left = useStore(hidden)
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="button plain">Columns</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {ALL_COLUMNS.filter(({ title }) => !ALWAYS.has(title)).map(({ title }) => (
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
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
