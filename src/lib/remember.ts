/** Caches the latest `most` values by key, for values that are expensive to make and the same for every caller. */
export const createMemory = <Value>(most: number): ((key: string, make: () => Value) => Value) => {
  const made = new Map<string, Value>()
  return (key, make) => {
    const value = made.get(key) ?? make()
    // Inserted again as the last entry, since the first one is dropped.
    made.delete(key)
    if (made.size >= most) made.delete(made.keys().next().value as string)
    made.set(key, value)
    return value
  }
}
