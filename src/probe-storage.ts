import type { Clock } from './lib/clock.ts'
import type { Database } from './storage/database.ts'
import { DatabaseFileLost, StorageConflict } from './storage/storage-errors.ts'

/** The minimum interval of probes in milliseconds, however many requests ask for the health of the database. */
const PROBE_MS = 1000

/** Returns null if storage answers and accepts writes; otherwise the problem, in words for `/health/ready`. */
export const probeStorage = (database: Database, clock: Clock, onError: (thrown: unknown) => void): (() => Promise<string | null>) => {
  let last: Promise<string | null> | null = null
  let endsMs = 0
  const probe = async (): Promise<string | null> => {
    try {
      await database.ping()
    } catch {
      // The poll of the change counter logs it.
      return 'storage'
    }
    try {
      await database.probe()
      return null
    } catch (thrown) {
      // Another process is writing, so writes are possible.
      if (thrown instanceof StorageConflict) return null
      onError(thrown)
      return thrown instanceof DatabaseFileLost ? 'the database file was deleted or replaced' : 'storage takes no writes'
    }
  }
  return () => {
    const nowMs = clock.monotonicMs()
    if (last !== null && nowMs < endsMs) return last
    endsMs = nowMs + PROBE_MS
    last = probe()
    return last
  }
}
