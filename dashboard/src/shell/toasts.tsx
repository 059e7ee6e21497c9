/** A short-lived note on what just happened, with an undo action if there is one. */
import { sessionState } from '../api/session-half.ts'
import { SeenText } from '../diff/seen-text.tsx'
import { createStore, useStore } from '../store.ts'
import { useKeys } from './keyboard.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | null
  /** The thing that it is about: a later note about it replaces this one, which is no longer true, and whose undo would revert too much. */
  readonly about: string | null
}

const SHOWN_MS = 10_000
/** How often a note that is kept open is checked again. */
const HELD_MS = 1000

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

export const toast = (text: string, undo: (() => void) | null = null, about: string | null = null): void => {
  const id = ++lastId
  const others = about === null ? toasts.get() : toasts.get().filter((one) => one.about !== about)
  toasts.set([...others, { id, text, undo, about }])
  setTimeout(() => expire(id), SHOWN_MS)
}

/** Takes away the note about a thing that is there no more. */
export const withdraw = (about: string): void => toasts.set(toasts.get().filter((one) => one.about !== about))

// Nobody undoes what the person before them did.
sessionState.subscribe(() => {
  if (sessionState.get() === 'none') toasts.set([])
})

const said = createStore('')

/** Says to those who do not see it what a control shows by itself, such as that a text was copied. */
export const say = (text: string): void => {
  said.set(text)
  setTimeout(() => said.set(''), HELD_MS)
}

/** No note expires while the pointer or the focus is on one, since somebody may be about to press it (WCAG 2.2.1). */
const expire = (id: number): void => {
  if (document.querySelector('.toasts:is(:hover, :focus-within)') === null) remove(id)
  else setTimeout(() => expire(id), HELD_MS)
}

/** The note that was clicked last. */
let clicked = 0

/** True if a double click began on another note, which is gone: this one came under the pointer in its place. */
const isMeantForAnother = (id: number, clicks: number): boolean => {
  const isAnother = clicks > 1 && clicked !== id
  clicked = id
  return isAnother
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
      <span className="hidden-text">{useStore(said)}</span>
      {shown.map(({ id, text, undo }) => (
        <div className="toast" key={id}>
          <span>
            <SeenText text={text} />
          </span>
          {undo === null ? null : (
            <button
              type="button"
              className="link-button"
              onClick={({ detail: clicks }) => {
                if (isMeantForAnother(id, clicks)) return
                undo()
                remove(id)
              }}
            >
              Undo <kbd aria-hidden="true">z</kbd>
            </button>
          )}
          <button
            type="button"
            className="link-button"
            aria-label="Dismiss"
            onClick={({ detail: clicks }) => (isMeantForAnother(id, clicks) ? undefined : remove(id))}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
