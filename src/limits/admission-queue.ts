/**
 * Bounds how many requests run at once and how many of them one key may have; a few more wait a short time, first come first served
 * (docs/contract/operating.md#admission).
 */
import { createFairPlaces, type FairPlaces, type PlacesElsewhere } from '../lib/fair-places.ts'
import type { Clock } from '../lib/clock.ts'

/** `inside`: admitted. `full`: there is no room for anyone. `share`: there is no room for this key. */
export type Entry = 'inside' | 'full' | 'share'

export interface AdmissionQueue {
  /** The caller must call `leave` after the entry `inside`. */
  enter(key: string): Entry | Promise<Entry>
  leave(key: string): void
  /** Admits waiting requests that now fit; needed if something other than a request that left may have made room. */
  admitWaiting(): void
  readonly inside: number
  readonly held: FairPlaces['held']
  readonly waiting: number
}

export interface QueueSettings {
  /** The maximum number of requests; 0 means no bound. */
  readonly most: number
  readonly line: number
  readonly waitMs: number
  /** The share of `most`, and of the queue, that a single key may use; 0 means all of it. */
  readonly keyShare: number
}

interface Waiting {
  readonly key: string
  decide(entry: Entry): void
}

/** `elsewhere`: the places of other nodes, which also count in a key's share. The waiting line and the shares of it belong to one node. */
export const createAdmissionQueue = (clock: Clock, settings: () => QueueSettings, elsewhere?: PlacesElsewhere): AdmissionQueue => {
  const shareOf = ({ keyShare }: QueueSettings): number => keyShare || 1
  const places = createFairPlaces(
    () => ({ most: settings().most || Number.POSITIVE_INFINITY, share: shareOf(settings()), always: 1 }),
    elsewhere,
  )
  const lineUp = createFairPlaces(() => ({ most: settings().line, share: shareOf(settings()), always: 1 }))
  /** In order of arrival. */
  const line = new Set<Waiting>()

  const admitWaiting = (): void => {
    for (const { key, decide } of line) {
      const obstacle = places.obstacle(key, 1)
      if (obstacle === 'full') return
      if (obstacle === null) decide('inside')
    }
  }

  const wait = (key: string, waitMs: number): Promise<Entry> =>
    new Promise((resolve) => {
      const waiting: Waiting = {
        key,
        decide(entry) {
          cancel()
          line.delete(waiting)
          lineUp.take(key, -1)
          if (entry === 'inside') places.take(key, 1)
          resolve(entry)
        },
      }
      const cancel = clock.after(waitMs, () => waiting.decide(places.obstacle(key, 1) ?? 'inside'))
      line.add(waiting)
      lineUp.take(key, 1)
    })

  return {
    enter(key) {
      const obstacle = places.obstacle(key, 1)
      // This does not overtake a waiting request: those that wait do not fit.
      if (obstacle === null) {
        places.take(key, 1)
        return 'inside'
      }
      return lineUp.obstacle(key, 1) === null ? wait(key, settings().waitMs) : obstacle
    },
    leave(key) {
      places.take(key, -1)
      admitWaiting()
    },
    admitWaiting,
    get inside() {
      return places.taken
    },
    held: places.held,
    get waiting() {
      return line.size
    },
  }
}
