/**
 * Places that many holders share. The places that one holder may take are bounded by a fixed multiple of the places that
 * are still free. So one holder cannot take all of them, a new holder always finds room, and a few holders together may
 * still use nearly all of them.
 */
export interface PlaceSettings {
  /** All there are; `Number.POSITIVE_INFINITY`: no bound. */
  readonly most: number
  /** The part of all of them that one holder alone may take, above 0 and up to 1; 1: every one. */
  readonly share: number
  /** The number of places that a holder may always have while they are free, whatever its share. */
  readonly always: number
}

/** Places of the same kind that others give away. */
export interface PlacesElsewhere {
  readonly free: number
  heldBy(holder: string): number
}

export interface FairPlaces {
  /** The reason that keeps this holder from so many more: there are no more, or they are for others. Null: nothing. */
  obstacle(holder: string, amount: number): 'full' | 'share' | null
  /** Takes them whether they fit or not; a negative amount gives back. */
  take(holder: string, amount: number): void
  readonly taken: number
  /** By holder; those who hold none are not in it. */
  readonly held: ReadonlyMap<string, number>
}

/** `settings`: read each time, since they may be reloaded. A share holds for these places, and for these and those elsewhere together. */
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
      // With the share s, a holder alone stops where it has s of all; n of them where each has s / (1 - s + n s).
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
