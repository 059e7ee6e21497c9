/**
 * Notices changes by other processes. It reads the change counter when the database notifies it and also at regular intervals; if the
 * counter has moved, every cache is refreshed. While storage is away nothing is refreshed, so that the cached values continue to be
 * served; when it is back, all caches are refreshed, whatever the counter says, since it may be that of another server.
 */
import type { Clock } from '../lib/clock.ts'
import { repeat } from '../lib/repeat.ts'
import type { ChangeCounter } from '../storage/changes/change-counter.ts'
import type { ChangeListener } from '../storage/database.ts'

export interface WatchedCache {
  readonly name: string
  /** Called when the cached facts may have changed. */
  readonly refresh: () => void | Promise<void>
}

/** Changes by other processes are noticed within this time, even if no notification arrives. */
const POLL_MS = 500

/**
 * Resolves with a function that ends the watch. Whatever is read before that is as new as the first
 * reading of the counter. Throws StorageUnavailable.
 */
export const startCacheWatch = async (parts: {
  readonly clock: Clock
  readonly counter: ChangeCounter
  /** Passes on changes by others, until the function that it returns is called. */
  readonly listen: (listener: ChangeListener) => () => void
  /** Refreshed in this order: caches that others depend on come first. */
  readonly caches: readonly WatchedCache[]
  /** Called after all of them were refreshed. */
  readonly onChange: () => Promise<void>
  readonly onError: (thrown: unknown, doing: string) => void
}): Promise<() => void> => {
  const { clock, counter, listen, caches, onChange, onError } = parts
  let seen = await counter.read()
  /** The counter does not tell whether something has changed. */
  let missed = false

  const read = async (): Promise<number> => {
    try {
      return await counter.read()
    } catch (thrown) {
      missed = true
      throw thrown
    }
  }

  /** If one cache fails, the others are refreshed all the same. */
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
    if (now === seen && !missed) return
    missed = false
    // A change counts as seen once every cache was refreshed; a failed refresh is repeated.
    if (!(await refreshAll())) {
      missed = true
      return
    }
    seen = now
    await onChange()
  }

  let checking = false
  let again = false
  /** Runs one check at a time. A notification that arrives during a check may be too late for it, so the check is repeated. */
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
  const heard = (): void => void check().catch(failed)
  const listener = {
    heard,
    missed() {
      missed = true
      heard()
    },
  }
  const stops = [repeat(clock, POLL_MS, check, failed), listen(listener)]
  return () => {
    for (const stop of stops) stop()
  }
}
