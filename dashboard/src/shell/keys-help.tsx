import { COMMAND_KEY } from '../parts/command-key.ts'
import { Dialog } from '../parts/dialog.tsx'
import { createStore, useStore } from '../store.ts'
import { singleKeys } from './keyboard.ts'
import type { Screen } from './navigation.ts'

export const helpOpen = createStore(false)

const KEYS: readonly (readonly [string, string])[] = [
  [`${COMMAND_KEY}K`, 'Search, go anywhere, open a pasted id'],
  ['?', 'This list'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close'],
  ['/', 'Filter'],
  ['f', 'Follow live'],
  ['c', 'Create'],
  ['z', 'Undo, while it is offered'],
  ['x', 'Exact figures, and short ones again'],
  [`${COMMAND_KEY}↵`, 'Run'],
  [`${COMMAND_KEY}S`, 'Save a draft'],
]

export const KeysHelp = ({ screens }: { screens: readonly Screen[] }) => {
  const isOpen = useStore(helpOpen)
  const isOn = useStore(singleKeys)
  if (!isOpen) return null
  return (
    <Dialog title="Keys of the keyboard" onClose={() => helpOpen.set(false)}>
      <dl className="keys-list">
        {[...KEYS, ...screens.map(({ key, title }) => [`g ${key}`, `Go to ${title}`] as const)].map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => singleKeys.set(event.target.checked)} /> Single keys act (those without{' '}
        {COMMAND_KEY.trim()})
      </label>
    </Dialog>
  )
}
