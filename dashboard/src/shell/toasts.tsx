/** A note of what just happened, said for a while, with a way back where there is one. */
import { createStore, useStore } from '../store.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | null
}

const SHOWN_MS = 10_000

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

export const toast = (text: string, undo: (() => void) | null = null): void => {
  const id = ++lastId
  toasts.set([...toasts.get(), { id, text, undo }])
  setTimeout(() => remove(id), SHOWN_MS)
}

const remove = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id))

export const Toasts = () => (
  <div className="toasts" role="status" aria-live="polite">
    {useStore(toasts).map(({ id, text, undo }) => (
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
            Undo
          </button>
        )}
        <button type="button" className="link-button" aria-label="Dismiss" onClick={() => remove(id)}>
          ×
        </button>
      </div>
    ))}
  </div>
)
