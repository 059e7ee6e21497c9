/** How much of what is said may be kept at once for those who watch. */
export interface ContentRoom {
  /** False where there is none left. */
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
