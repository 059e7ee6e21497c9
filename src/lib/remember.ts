/** Keeps what was made for a key, the latest `most` of them: for what is dear to make and the same for all who ask. */
export const createMemory = <Value>(most: number): ((key: string, make: () => Value) => Value) => {
  const made = new Map<string, Value>()
  return (key, make) => {
    const value = made.get(key) ?? make()
    // Last in order again: the first one goes.
    made.delete(key)
    if (made.size >= most) made.delete(made.keys().next().value as string)
    made.set(key, value)
    return value
  }
}
