/** Says whether the service answers. Every request reports its outcome here; after a failure the service is polled until it answers. */
import { createStore } from '../store.ts'
import { PAGE_BASE } from '../page.ts'

export type Connection = 'reached' | 'unreached'

export const connection = createStore<Connection>('reached')

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 15_000
/** A network that is cut off answers nothing at all, and a browser waits minutes for it. */
const SILENCE_MS = 5000

let waitMs = FIRST_WAIT_MS
let waiting: ReturnType<typeof setTimeout> | null = null

export const markReached = (): void => {
  waitMs = FIRST_WAIT_MS
  if (waiting !== null) clearTimeout(waiting)
  waiting = null
  connection.set('reached')
}

export const markUnreached = (): void => {
  connection.set('unreached')
  waiting ??= setTimeout(() => void askAgain(), waitMs)
}

/** Polls the service and resolves when it answers. */
export const reachedAgain = (): Promise<void> =>
  new Promise((resolve) => {
    markUnreached()
    const stop = connection.subscribe(() => {
      stop()
      resolve()
    })
  })

export const isServiceThere = (): Promise<boolean> => {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  return fetch(`${PAGE_BASE.replace(/\/dashboard$/, '')}/health/live`, { cache: 'no-store', signal: silence.signal })
    .then(
      ({ ok }) => ok,
      () => false,
    )
    .finally(() => clearTimeout(timer))
}

/** Asks whether the service is there, since something suggests that it is not. Nothing happens if it is. */
export const doubt = async (): Promise<void> => {
  if (connection.get() === 'reached' && !(await isServiceThere())) markUnreached()
}

/** Somebody looks at the page again, or the network is back: both end the wait. */
const askNow = (): void => {
  if (waiting === null || document.visibilityState === 'hidden') return
  clearTimeout(waiting)
  void askAgain()
}
addEventListener('online', askNow)
document.addEventListener('visibilitychange', askNow)
// A service on this machine is there without a network, too.
addEventListener('offline', () => void doubt())

const askAgain = async (): Promise<void> => {
  waiting = null
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  if (await isServiceThere()) markReached()
  else markUnreached()
}
