/** How long requests of a model usually take, so that a client that must wait can be given a time. */
export interface Durations {
  /** The median of the last requests; a guess for a model that has not been used yet. */
  expectedMs(model: string): number
  add(model: string, durationMs: number): void
}

const KEPT = 32
const MODELS_MAX = 1000
const UNKNOWN_MS = 10_000

export const createDurations = (): Durations => {
  const recent = new Map<string, number[]>()
  return {
    expectedMs(model) {
      const sorted = recent.get(model)?.toSorted((a, b) => a - b)
      return sorted?.[Math.floor(sorted.length / 2)] ?? UNKNOWN_MS
    },
    add(model, durationMs) {
      const known = recent.get(model) ?? []
      // The model used last is last in the map, so the first one is the one to drop.
      recent.delete(model)
      recent.set(model, [...known.slice(1 - KEPT), durationMs])
      if (recent.size > MODELS_MAX) recent.delete(recent.keys().next().value ?? '')
    },
  }
}
