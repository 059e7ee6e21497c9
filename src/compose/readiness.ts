/** Says whether this process can take requests, as `/health/ready` says it. */
import type { Clock } from '../lib/clock.ts'

export interface Readiness {
  /** Null: ready; else why not. Never waits long. */
  ready(): Promise<string | null>
  /** The same of storage alone, also while the process stops. */
  storage(): Promise<string | null>
  /** From now on it takes no new inference, and it ends within this time. */
  drain(withinMs: number): void
  readonly draining: boolean
  /** Aborted when half of that time is over: the rest is for models to answer without what their tools would have found. */
  readonly toolsEnd: AbortSignal
}

/** Storage that does not answer within this time is away. */
const PATIENCE_MS = 1000

export const createReadiness = (clock: Clock, storageState: () => Promise<string | null>): Readiness => {
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
    ready: async () => (draining ? 'draining' : storage()),
    storage,
    drain(withinMs) {
      draining = true
      clock.after(withinMs / 2, () => tools.abort())
    },
    toolsEnd: tools.signal,
    get draining() {
      return draining
    },
  }
}
