/** Says whether the service answers. Every request reports its outcome here; after a failure the service is polled until it answers. */
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

/** Polls the service and resolves when it answers. */
export const reachedAgain = (): Promise<void> =>
  new Promise((resolve) => {
    markUnreached()
    const stop = connection.subscribe(() => {
      stop()
      resolve()
    })
  })

export const isServiceThere = (): Promise<boolean> =>
  fetch(`${PAGE_BASE.replace(/\/dashboard$/, '')}/health/live`, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

const askAgain = async (): Promise<void> => {
  waiting = null
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  if (await isServiceThere()) markReached()
  else markUnreached()
}
