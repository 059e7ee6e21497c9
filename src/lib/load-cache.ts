/**
 * Values loaded once and kept until they are dropped: concurrent loads of one key share a promise, and a load that
 * began before a drop never stores what it read (a revoked key must not come back by a slow query).
 */
export interface LoadCache<Key, Value> {
  /** The value at once when it is known, else a promise. `load` answers null for what does not exist. */
  get(key: Key, load: (key: Key) => Promise<Value | null>): Value | null | Promise<Value | null>
  /** Forgets everything; loads under way answer their callers and store nothing. */
  clear(): void
}

/** Beyond this the oldest entries go: a flood of unknown keys must not fill the memory. */
export const createLoadCache = <Key, Value>(maxEntries: number): LoadCache<Key, Value> => {
  let known = new Map<Key, Value | null>()
  let loading = new Map<Key, Promise<Value | null>>()
  return {
    get(key, load) {
      const value = known.get(key)
      if (value !== undefined) return value
      const underway = loading.get(key)
      if (underway !== undefined) return underway
      const [store, queue] = [known, loading]
      const promise = load(key)
        .then((loaded) => {
          // After a clear, `store` is no longer the one in use.
          if (store.size >= maxEntries) store.delete(store.keys().next().value as Key)
          store.set(key, loaded)
          return loaded
        })
        .finally(() => queue.delete(key))
      queue.set(key, promise)
      return promise
    },
    clear() {
      known = new Map()
      loading = new Map()
    },
  }
}
