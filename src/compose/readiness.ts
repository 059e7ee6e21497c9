/** Decides if this process can take requests, for `/health/ready`. */
import type { Clock } from '../lib/clock.ts'

export interface Readiness {
  /** Resolves to null if the process is ready, otherwise to the reason. Never waits long. */
  ready(): Promise<string | null>
  /** Like `ready`, for storage alone; it also works while the process stops. */
  storage(): Promise<string | null>
  /** From now on balancers are told to leave; requests are taken as before. */
  leave(): void
  readonly leaving: boolean
  /** From now on no new inference is accepted, and the process ends within this time. */
  drain(withinMs: number): void
  readonly draining: boolean
  /** Aborted when half of that time is over: the other half is for models to answer without the missing tool results. */
  readonly toolsEnd: AbortSignal
}

/** Storage that does not answer within this time counts as away. */
const PATIENCE_MS = 1000

export const createReadiness = (clock: Clock, storageState: () => Promise<string | null>): Readiness => {
  let leaving = false
  let draining = false
  const tools = new AbortController()
  const storage = (): Promise<string | null> => {
    let cancel = (): void => undefined
    const late = new Promise<string>((resolve) => {
      cancel = clock.after(PATIENCE_MS, () => resolve('storage'))
    })
    return Promise.race([late, storageState()]).finally(cancel)
  }
  return {
    ready: async () => (leaving ? 'draining' : storage()),
    storage,
    leave() {
      leaving = true
    },
    get leaving() {
      return leaving
    },
    drain(withinMs) {
      leaving = true
      draining = true
      clock.after(withinMs / 2, () => tools.abort())
    },
    toolsEnd: tools.signal,
    get draining() {
      return draining
    },
  }
}
