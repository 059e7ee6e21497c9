/** Whether the service answers. Whoever asks it says so here; while it does not, it is asked again until it does. */
import { createStore } from '../store.ts'
import { PAGE_BASE } from '../page.ts'

export type Connection = 'reached' | 'unreached'

export const connection = createStore<Connection>('reached')

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 15_000

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

const askAgain = async (): Promise<void> => {
  waiting = null
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  const isThere = await fetch(`${PAGE_BASE.replace(/\/dashboard$/, '')}/health/live`).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isThere) markReached()
  else markUnreached()
}
