/** Bounds how much content may be kept at once for traces or storage. */
export interface ContentRoom {
  /** Returns false if there is not enough room left. */
  take(bytes: number): boolean
  free(bytes: number): void
}

export const createContentRoom = (most: number): ContentRoom => {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > most) return false
      held += bytes
      return true
    },
    free(bytes) {
      held -= bytes
    },
  }
}
