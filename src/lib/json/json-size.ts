/** Limits how much a request may grow by copies of values that are written out in it repeatedly. */
export interface Growth {
  /** Returns true, and takes the room, if there is room for one more copy of the value. */
  take(value: unknown): boolean
}

export const createGrowth = (mostCharacters: number): Growth => {
  const sizeOf = createSizes()
  let left = mostCharacters
  return {
    take(value) {
      const size = sizeOf(value)
      if (size > left) return false
      left -= size
      return true
    },
  }
}

/** The approximate length of a value's JSON text. The size of each object is measured once. */
const createSizes = (): ((value: unknown) => number) => {
  const known = new WeakMap<object, number>()
  const sizeOf = (value: unknown): number => {
    if (typeof value === 'string') return value.length + 2
    if (typeof value !== 'object' || value === null) return SCALAR_SIZE
    const before = known.get(value)
    if (before !== undefined) return before
    let size = 2
    if (Array.isArray(value)) for (const element of value as readonly unknown[]) size += sizeOf(element) + 1
    else for (const [name, member] of Object.entries(value)) size += name.length + sizeOf(member) + 4
    known.set(value, size)
    return size
  }
  return sizeOf
}

const SCALAR_SIZE = 4
