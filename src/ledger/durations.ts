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
  const recent = new Map<string, Recent>()
  return {
    expectedMs(model) {
      const known = recent.get(model)
      if (known === undefined) return UNKNOWN_MS
      known.medianMs ??= known.lastMs.toSorted((a, b) => a - b)[Math.floor(known.lastMs.length / 2)] ?? UNKNOWN_MS
      return known.medianMs
    },
    add(model, durationMs) {
      const { lastMs } = recent.get(model) ?? { lastMs: [] }
      // The model used last is last in the map, so the first one is the one to drop.
      recent.delete(model)
      recent.set(model, { lastMs: [...lastMs.slice(1 - KEPT), durationMs], medianMs: null })
      if (recent.size > MODELS_MAX) recent.delete(recent.keys().next().value ?? '')
    },
  }
}

interface Recent {
  readonly lastMs: readonly number[]
  /** Null until it is needed: the requests of a batch need the same one. */
  medianMs: number | null
}
