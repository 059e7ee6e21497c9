/**
 * Keeps what somebody wrote and has not saved, so that it survives a reload of the tab. It may be confidential, so no other tab has it, and
 * it is deleted when the tab closes or the person signs out.
 */
import { storeWhatFits } from './store-what-fits.ts'

const PREFIX = 'patchbay.kept.'

const kept = new Map<string, unknown>()

/** Returns undefined if nothing is kept under the name. */
export const readKept = (name: string): unknown => kept.get(name)

export const keepValue = (name: string, value: unknown): void => void kept.set(name, value)

export const forgetValue = (name: string): void => void kept.delete(name)

export const forgetAllKept = (): void => kept.clear()

const takeFromStorage = (): void => {
  for (const name of Object.keys(sessionStorage).filter((one) => one.startsWith(PREFIX))) {
    kept.set(name.slice(PREFIX.length), JSON.parse(sessionStorage.getItem(name) ?? 'null'))
    sessionStorage.removeItem(name)
  }
}

/** Called only when the page is left: writing a long text at each keystroke would slow down typing. */
const putIntoStorage = (): void => {
  // A value that is too large for the browser does not affect the others.
  for (const [name, value] of kept) storeWhatFits(sessionStorage, PREFIX + name, JSON.stringify(value))
}

takeFromStorage()
window.addEventListener('pagehide', putIntoStorage)
// A page restored from the browser's cache takes the values back, and writes them again when it is left.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) takeFromStorage()
})
