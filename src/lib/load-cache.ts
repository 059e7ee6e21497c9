/**
 * Values that are loaded once and kept. After a refresh, each value is loaded again when it is next requested. A value that cannot be
 * reloaded, or not soon, is served as last known: readers of storage keep working while storage is away or hangs. Concurrent loads of one
 * key share a promise. A value from a load that began before a refresh counts only as last known (a slow query must not bring back a
 * revoked key); if something was forgotten meanwhile, it is discarded.
 */
import type { Clock } from './clock.ts'

export interface LoadCache<Key, Value> {
  /**
   * Returns the value at once if it is known, otherwise a promise. `load` resolves to null for a value that does not
   * exist. Rejects as `load` does if no older value is known.
   */
  get(key: Key, load: (key: Key) => Promise<Value | null>): Value | null | Promise<Value | null>
  /** Loads the value now, whatever is known of it. */
  reload(key: Key, load: (key: Key) => Promise<Value | null>): Promise<Value | null>
  /** Something may have changed and can be read again: every value is reloaded when it is next requested. */
  refresh(): void
  /**
   * The matching values have changed and must never be served as they were; without `matches`, this holds for all. The rest is refreshed.
   */
  forget(matches?: (value: Value, key: Key) => boolean): void
}

interface Entry<Value> {
  readonly value: Value | null
  /** The number of the refresh after which it was loaded; an entry of an earlier one is only the last known value. */
  readonly age: number
}

interface Load<Value> {
  readonly ended: Promise<Value | null>
  /** Resolves if the load takes longer than a caller with an older value waits. */
  readonly late: Promise<void>
}

/** A load that takes longer counts as failed until it ends. */
const PATIENCE_MS = 250

/** Above `maxEntries` the oldest entries are dropped: a flood of unknown keys must not fill the memory. */
export const createLoadCache = <Key, Value>(maxEntries: number, clock: Pick<Clock, 'after'>): LoadCache<Key, Value> => {
  const entries = new Map<Key, Entry<Value>>()
  let loading = new Map<Key, Load<Value>>()
  let age = 0
  /** How often something was forgotten. */
  let forgets = 0
  /** A load has failed or is late, and none has succeeded since: callers with an older value do not wait for the next load. */
  let failing = false

  const start = (key: Key, load: (key: Key) => Promise<Value | null>): Load<Value> => {
    const queue = loading
    const began = age
    const forgotten = forgets
    const late = Promise.withResolvers<void>()
    const cancel = clock.after(PATIENCE_MS, () => {
      if (began === age) failing = true
      late.resolve()
    })
    const ended = load(key)
      .then(
        (value) => {
          failing = false
          if (forgotten === forgets && began >= (entries.get(key)?.age ?? 0)) store(key, { value, age: began })
          return value
        },
        (thrown: unknown) => {
          if (began === age) failing = true
          throw thrown
        },
      )
      .finally(() => {
        cancel()
        queue.delete(key)
      })
    const started = { ended, late: late.promise }
    queue.set(key, started)
    return started
  }

  const store = (key: Key, entry: Entry<Value>): void => {
    // Deleted first, so that the map stays in the order in which values were loaded.
    if (!entries.delete(key) && entries.size >= maxEntries) entries.delete(entries.keys().next().value as Key)
    entries.set(key, entry)
  }

  /** A cached absence counts as unknown: the value may have been created since. */
  const lastKnown = (key: Key): Value | null => entries.get(key)?.value ?? null

  const refresh = (): void => {
    age += 1
    loading = new Map()
    failing = false
  }

  return {
    get(key, load) {
      const entry = entries.get(key)
      if (entry?.age === age) return entry.value
      const { ended, late } = loading.get(key) ?? start(key, load)
      const known = lastKnown(key)
      if (known === null) return ended
      const orLast = ended.catch((thrown: unknown) => {
        // The value may have been forgotten meanwhile.
        const last = lastKnown(key)
        if (last === null) throw thrown
        return last
      })
      if (!failing) return Promise.race([orLast, late.then(() => lastKnown(key) ?? orLast)])
      // Avoids an unhandled rejection; callers without an older value get the failure.
      orLast.catch(() => undefined)
      return known
    },
    reload: (key, load) => start(key, load).ended,
    refresh,
    forget(matches) {
      forgets += 1
      refresh()
      if (matches === undefined) entries.clear()
      else for (const [key, { value }] of entries) if (value !== null && matches(value, key)) entries.delete(key)
    },
  }
}
