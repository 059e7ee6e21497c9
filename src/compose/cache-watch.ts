/**
 * Sees what other processes change: reads the change counter where the database says that it has moved, and every now and then
 * all the same; where it moved, it lets every cache read again what it knows.
 * While storage is away nothing is refreshed, so that what is known goes on being served; when it is back, all of it is read
 * again, whatever the counter says.
 */
import type { Clock } from '../lib/clock.ts'
import { repeat } from '../lib/repeat.ts'
import type { ChangeCounter } from '../storage/change-counter.ts'

export interface WatchedCache {
  readonly name: string
  /** Called when the facts that it knows may have changed. */
  readonly refresh: () => void | Promise<void>
}

/** Changes by other processes are seen within this time, also where nothing is heard of them. */
const POLL_MS = 500

/** Resolves with what ends the watch. What is read before that is as new as the first reading of the counter. Throws StorageUnavailable. */
export const startCacheWatch = async (parts: {
  readonly clock: Clock
  readonly counter: ChangeCounter
  /** Calls `heard` for each change that it learns of, until stopped. */
  readonly listen: (heard: () => void) => () => void
  /** Refreshed in this order: what others depend on first. */
  readonly caches: readonly WatchedCache[]
  /** Called after all of them were refreshed. */
  readonly onChange: () => Promise<void>
  readonly onError: (thrown: unknown, doing: string) => void
}): Promise<() => void> => {
  const { clock, counter, listen, caches, onChange, onError } = parts
  let seen: number | null = await counter.read()

  const read = async (): Promise<number> => {
    try {
      return await counter.read()
    } catch (thrown) {
      seen = null
      throw thrown
    }
  }

  /** One that fails keeps none of the others from what they must forget. */
  const refreshAll = async (): Promise<boolean> => {
    let isComplete = true
    for (const { name, refresh } of caches) {
      try {
        await refresh()
      } catch (thrown) {
        isComplete = false
        onError(thrown, `${name} not refreshed`)
      }
    }
    return isComplete
  }

  const checkOnce = async (): Promise<void> => {
    const now = await read()
    if (now === seen) return
    // A change counts as seen once every cache was refreshed: what failed is tried again.
    if (!(await refreshAll())) return
    seen = now
    await onChange()
  }

  let checking = false
  let again = false
  /** One at a time. What is heard while one runs may have come too late for it. */
  const check = async (): Promise<void> => {
    again = true
    if (checking) return
    checking = true
    try {
      while (again) {
        again = false
        await checkOnce()
      }
    } finally {
      checking = false
    }
  }

  const failed = (thrown: unknown): void => onError(thrown, 'storage does not answer')
  const stops = [repeat(clock, POLL_MS, check, failed), listen(() => void check().catch(failed))]
  return () => {
    for (const stop of stops) stop()
  }
}
