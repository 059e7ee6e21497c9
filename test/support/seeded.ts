/** Random choices that are the same in every run. */

/** mulberry32: returns numbers in [0, 1). */
export const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Every position inside `length` if there are at most `most`; otherwise that many of them. */
export const positions = (length: number, most: number, seed = length): number[] => {
  if (length - 1 <= most) return Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1)
  const next = seeded(seed)
  const chosen = new Set<number>()
  while (chosen.size < most) chosen.add(1 + Math.floor(next() * (length - 1)))
  return [...chosen].toSorted((a, b) => a - b)
}
