/**
 * The next visit in the document that the page has (decisions/0244). Nothing of the visit before it is left: the person signs out, by which
 * the dashboard forgets everything that it kept, and signs in again. A document in which anything else has changed is not used again.
 */
import type { Page } from 'playwright-core'

/** From now on each document of the page notes in itself what it is like when it is loaded. */
export const noteDocuments = async (page: Page): Promise<void> => void (await page.addInitScript(NOTE))

/**
 * Leaves what the page shows. Returns true if a visit may go on from the sign-in page that it then shows, and false if the next address must
 * be loaded, as where a test has stopped the service, or is loading something itself.
 */
export const leave = (page: Page): Promise<boolean> => page.evaluate(LEAVE).catch(() => false)

/** After `leave`: comes to the address as the person with this key. */
export const enter = (page: Page, address: string, key: string): Promise<void> => page.evaluate(ENTER, { address, key })

/** Opens another screen in the document that is there, as a link leads to it. */
export const open = (page: Page, path: string): Promise<void> => page.evaluate(OPEN, path)

/** These functions run in the page. The state of an entry of the history is as the router makes it. */

const NOTE = (): void => {
  /** Everything that a test may replace: the values of the global names, and of the browser's objects that the dashboard uses. */
  const state = (): readonly unknown[] => {
    const owners = [
      window,
      Date,
      history,
      navigator,
      performance,
      ...[History, Document, Node, Element, Storage].map((one) => one.prototype),
    ]
    // The checks of accessibility add globals, and some change by themselves.
    const passedOver = /^(?:axe|__core-js_shared__|\d+|event|status)$/
    const values = owners.flatMap((owner) =>
      Object.entries(Object.getOwnPropertyDescriptors(owner)).flatMap(([name, { value, get, set }]) =>
        passedOver.test(name) ? [] : [name, value as unknown, get, set],
      ),
    )
    const attributes = [...document.documentElement.attributes].map(({ name, value }) => `${name}=${value}`)
    return [...values, ...attributes]
  }
  // By then the scripts of the page have run.
  addEventListener('DOMContentLoaded', () => {
    Object.defineProperty(window, Symbol.for('as loaded'), { value: { state, loaded: state() } })
  })
}

const LEAVE = async (): Promise<boolean> => {
  const noted = Reflect.get(window, Symbol.for('as loaded')) as { state(): readonly unknown[]; loaded: readonly unknown[] } | undefined
  if (noted === undefined) return false
  const isAsLoaded = (): boolean => {
    const now = noted.state()
    return now.length === noted.loaded.length && now.every((value, index) => Object.is(value, noted.loaded[index]))
  }
  const LIMIT_MS = 10_000
  /** Null if it is not found in time. */
  const shown = <Found>(find: () => Found | null | undefined | false): Promise<Found | null> =>
    new Promise((resolve) => {
      const end = (found: Found | null): void => {
        observer.disconnect()
        clearTimeout(timer)
        resolve(found)
      }
      const look = (): void => {
        const found = find()
        if (found) end(found)
      }
      const observer = new MutationObserver(look)
      const timer = setTimeout(() => end(null), LIMIT_MS)
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
      look()
    })
  const one = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(selector)
  const you = one('.side-foot button')
  if (you === null || one('.connection-bar') !== null) return false
  // A screen that asks for nothing, with nothing open on it.
  const id = crypto.randomUUID()
  history.pushState({ __TSR_index: 0, key: id, __TSR_key: id }, '', location.pathname.replace(/\/dashboard(?:\/.*)?$/, '/dashboard/left'))
  await shown(() => document.querySelector('h1')?.textContent === 'Not found')
  if (one('dialog, [role=dialog], [role=menu]') !== null || !isAsLoaded()) return false
  for (const button of document.querySelectorAll<HTMLElement>('.toast [aria-label="Dismiss"]')) button.click()
  if ((await shown(() => one('.toasts')?.textContent === '')) === null) return false
  you.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  const signOut = await shown(() =>
    [...document.querySelectorAll<HTMLElement>('[role=menuitem]')].find(({ textContent }) => textContent === 'Sign out'),
  )
  signOut?.click()
  // A dialog says that the session had ended before.
  if (!(await shown(() => one('.sign-in form, dialog')))?.matches('.sign-in form')) return false
  // Drafts are read from the storage alone; choices are in the document, too.
  if (Object.keys(localStorage).some((name) => !name.startsWith('patchbay.draft.')) || !isAsLoaded()) return false
  localStorage.clear()
  sessionStorage.clear()
  return true
}

const ENTER = ({ address, key }: { readonly address: string; readonly key: string }): void => {
  const id = crypto.randomUUID()
  history.pushState({ __TSR_index: 0, key: id, __TSR_key: id }, '', address)
  const proof = document.querySelector<HTMLInputElement>('.sign-in input')
  if (proof !== null) proof.value = key
  proof?.form?.requestSubmit()
}

const OPEN = (path: string): void => {
  const id = crypto.randomUUID()
  const { __TSR_index: index } = history.state as { readonly __TSR_index: number }
  const address = location.pathname.replace(/\/dashboard(?:\/.*)?$/, '/dashboard') + path
  history.pushState({ __TSR_index: index + 1, key: id, __TSR_key: id }, '', address)
}
