/**
 * Places that many holders share. The places that one holder may take are bounded by a fixed multiple of the places that
 * are still free. So one holder cannot take all of them, a new holder always finds room, and a few holders together may
 * still use nearly all of them.
 */
export interface PlaceSettings {
  /** The total number; `Number.POSITIVE_INFINITY` means no limit. */
  readonly most: number
  /** The share of all places that a single holder may take, above 0 and up to 1; 1 means all of them. */
  readonly share: number
  /** The number of places that a holder may always take while they are free, whatever its share. */
  readonly always: number
}

/** Places of the same kind that are handed out elsewhere. */
export interface PlacesElsewhere {
  readonly free: number
  heldBy(holder: string): number
}

export interface FairPlaces {
  /**
   * Why the holder may not take `amount` more: there are no more places (`full`), or the rest
   * is kept for others (`share`). Null if it may.
   */
  obstacle(holder: string, amount: number): 'full' | 'share' | null
  /** Takes the places whether they fit or not; a negative amount gives them back. */
  take(holder: string, amount: number): void
  readonly taken: number
  /** Places taken by each holder; holders without any are not included. */
  readonly held: ReadonlyMap<string, number>
}

/**
 * `settings` is read on each call, since it may be reloaded. The share applies to these
 * places, and to these and those elsewhere together.
 */
export const createFairPlaces = (settings: () => PlaceSettings, elsewhere: PlacesElsewhere = NO_PLACES): FairPlaces => {
  const held = new Map<string, number>()
  let taken = 0
  return {
    obstacle(holder, amount) {
      const { most, share, always } = settings()
      const left = most - taken - amount
      if (left < 0) return 'full'
      const wanted = (held.get(holder) ?? 0) + amount
      if (wanted <= always) return null
      // With the share s, a single holder stops at s of all places; n equal holders stop at s / (1 - s + n s) each.
      const fits = (has: number, free: number): boolean => has * (1 - share) <= (free + 1) * share
      return fits(wanted, left) && fits(wanted + elsewhere.heldBy(holder), left + elsewhere.free) ? null : 'share'
    },
    take(holder, amount) {
      taken += amount
      const now = (held.get(holder) ?? 0) + amount
      if (now > 0) held.set(holder, now)
      else held.delete(holder)
    },
    get taken() {
      return taken
    },
    held,
  }
}

const NO_PLACES: PlacesElsewhere = { free: 0, heldBy: () => 0 }
