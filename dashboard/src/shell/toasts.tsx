/** A note of what just happened, said for a while, with a way back where there is one. */
import { createStore, useStore } from '../store.ts'
import { useKeys } from './keyboard.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | null
}

const SHOWN_MS = 10_000
/** So often a note that is held is looked at again. */
const HELD_MS = 1000

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

export const toast = (text: string, undo: (() => void) | null = null): void => {
  const id = ++lastId
  toasts.set([...toasts.get(), { id, text, undo }])
  setTimeout(() => expire(id), SHOWN_MS)
}

/** None goes while somebody points at one or has the focus in one: they may be about to press it (WCAG 2.2.1). */
const expire = (id: number): void => {
  if (document.querySelector('.toasts:is(:hover, :focus-within)') === null) remove(id)
  else setTimeout(() => expire(id), HELD_MS)
}

const remove = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id))

export const Toasts = () => {
  const shown = useStore(toasts)
  const undoNewest = (): unknown => {
    const newest = shown.findLast(({ undo }) => undo !== null)
    if (newest === undefined) return false
    newest.undo?.()
    return remove(newest.id)
  }
  useKeys({ z: undoNewest })
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, undo }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          {undo === null ? null : (
            <button
              type="button"
              className="link-button"
              onClick={() => {
                undo()
                remove(id)
              }}
            >
              Undo <kbd aria-hidden="true">z</kbd>
            </button>
          )}
          <button type="button" className="link-button" aria-label="Dismiss" onClick={() => remove(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
