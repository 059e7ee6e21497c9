/**
 * The half of the session that the page holds. The other half is a cookie that no script can read and that the browser sends to every port
 * of this host; this half is bound to host and port.
 */
import { forgetAllKept } from '../kept-values.ts'
import { forgetNavigation } from '../last-navigation.ts'
import { createStore } from '../store.ts'

const NAME = 'patchbay.csrf'

/** `ended`: the service ended the session while the page was open. The content of the page stays. */
export type SessionState = 'none' | 'held' | 'ended'

export const sessionState = createStore<SessionState>(localStorage.getItem(NAME) === null ? 'none' : 'held')

export const sessionHalf = (): string | null => localStorage.getItem(NAME)

export const holdSession = (half: string): void => {
  localStorage.setItem(NAME, half)
  sessionState.set('held')
}

/** `refused`: the half that the service refused. If this tab or another one has a newer half by now, that one stays. */
export const endSession = (refused: string | null): void => {
  if (sessionHalf() !== refused) return
  localStorage.removeItem(NAME)
  if (sessionState.get() === 'held') sessionState.set('ended')
}

/** Resolves when somebody is signed in: now, or after the next sign-in. */
export const sessionHeld = (): Promise<void> =>
  new Promise((resolve) => {
    if (sessionState.get() === 'held') return resolve()
    const stop = sessionState.subscribe(() => {
      if (sessionState.get() !== 'held') return
      stop()
      resolve()
    })
  })

/** Signs the person out, and forgets everything that the page kept. */
export const forgetSession = (): void => {
  localStorage.removeItem(NAME)
  forgetAllKept()
  forgetNavigation()
  sessionState.set('none')
}

/** Tabs share the cookie, so a sign-in or sign-out in one tab applies to all. The earlier session is over in both cases. */
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== NAME) return
  if (sessionState.get() === 'held') sessionState.set('ended')
  if (newValue !== null) sessionState.set('held')
})
