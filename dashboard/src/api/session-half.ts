/**
 * The half of the session that the page holds. The other is a cookie that no script sees, and that the browser sends to every port of
 * this host; this one is bound to host and port.
 */
import { forgetAllKept } from '../kept-values.ts'
import { createStore } from '../store.ts'

const NAME = 'patchbay.csrf'

/** `ended`: the service said so while the page was open. What is on it stays. */
export type SessionState = 'none' | 'held' | 'ended'

export const sessionState = createStore<SessionState>(localStorage.getItem(NAME) === null ? 'none' : 'held')

export const sessionHalf = (): string | null => localStorage.getItem(NAME)

export const holdSession = (half: string): void => {
  localStorage.setItem(NAME, half)
  sessionState.set('held')
}

/** `refused`: the half that the service did not take. A newer one, of this tab or of another, stays. */
export const endSession = (refused: string | null): void => {
  if (sessionHalf() !== refused) return
  localStorage.removeItem(NAME)
  if (sessionState.get() === 'held') sessionState.set('ended')
}

/** By the person: nothing of the page stays. */
export const forgetSession = (): void => {
  localStorage.removeItem(NAME)
  forgetAllKept()
  sessionState.set('none')
}

/** Who signs in or out in one tab does so in all of them: they share the cookie. The session of before is over in both cases. */
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== NAME) return
  if (sessionState.get() === 'held') sessionState.set('ended')
  if (newValue !== null) sessionState.set('held')
})
