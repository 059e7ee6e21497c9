/**
 * Makes repeated ids distinct by adding a number, and gives an empty one a name. Some models number the calls of each answer anew, or give
 * two calls of one answer the same id, and some servers send none; the next server refuses both.
 */
export const createDistinctIds = (): ((id: string) => string) => {
  /** By each id that is taken: the number to try next. */
  const numbers = new Map<string, number>()
  return (sent) => {
    const given = sent === '' ? 'call' : sent
    let id = given
    let number = numbers.get(given) ?? 2
    for (; numbers.has(id); number += 1) id = `${given}_${number}`
    numbers.set(given, number)
    if (id !== given) numbers.set(id, 2)
    return id
  }
}
