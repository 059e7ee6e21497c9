/**
 * Makes repeated ids distinct by adding a number. Some models number the calls of each answer anew, or give two calls of one answer the
 * same id, which the next server refuses.
 */
export const createDistinctIds = (): ((id: string) => string) => {
  const taken = new Set<string>()
  /** By each repeated id: the number to try next. */
  const numbers = new Map<string, number>()
  return (given) => {
    let id = given
    let number = numbers.get(given) ?? 2
    for (; taken.has(id); number += 1) id = `${given}_${number}`
    if (id !== given) numbers.set(given, number)
    taken.add(id)
    return id
  }
}
