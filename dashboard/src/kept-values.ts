/**
 * Keeps what somebody wrote and has not saved. A reload of the tab finds it again. It may be confidential, so it is in no other tab, is gone
 * with its own, and goes when the person signs out.
 */
import { storeWhatFits } from './store-what-fits.ts'

const PREFIX = 'patchbay.kept.'

const kept = new Map<string, unknown>()

/** Undefined where nothing is kept under the name. */
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

/** Only when the page goes: to write a long text at each of its keys would hold up who types. */
const putIntoStorage = (): void => {
  // One that is too large for the browser takes nothing from the others.
  for (const [name, value] of kept) storeWhatFits(sessionStorage, PREFIX + name, JSON.stringify(value))
}

takeFromStorage()
window.addEventListener('pagehide', putIntoStorage)
// A page that comes back as it was writes anew when it goes again.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) takeFromStorage()
})
