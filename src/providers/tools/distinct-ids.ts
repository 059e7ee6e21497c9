/**
 * Makes repeated ids distinct by adding a number. Some models number the calls of each answer anew, or give two calls of one answer the
 * same id, which the next server refuses.
 */
export const createDistinctIds = (): ((id: string) => string) => {
  /** By each id that is taken: the number to try next. */
  const numbers = new Map<string, number>()
  return (given) => {
    let id = given
    let number = numbers.get(given) ?? 2
    for (; numbers.has(id); number += 1) id = `${given}_${number}`
    numbers.set(given, number)
    if (id !== given) numbers.set(id, 2)
    return id
  }
}
