/**
 * At most so many at once, and of them no key more than its share; a few more wait a little, the first in line first
 * (docs/contract/operating.md#admission).
 */
import { createFairPlaces, type FairPlaces, type PlacesElsewhere } from '../lib/fair-places.ts'
import type { Clock } from '../lib/clock.ts'

/** Let in; or not: there is no room for anybody, or none for this key. */
export type Entry = 'inside' | 'full' | 'share'

export interface AdmissionQueue {
  /** Who is inside must `leave`. */
  enter(key: string): Entry | Promise<Entry>
  leave(key: string): void
  /** Lets in who fits now, where more than a request that left may have made room. */
  admitWaiting(): void
  readonly inside: number
  readonly held: FairPlaces['held']
  readonly waiting: number
}

export interface QueueSettings {
  /** 0: no bound. */
  readonly most: number
  readonly line: number
  readonly waitMs: number
  /** The part of `most`, and of the line, that one key alone may take; 0: all of it. */
  readonly keyShare: number
}

interface Waiting {
  readonly key: string
  decide(entry: Entry): void
}

/** `elsewhere`: the places of other nodes, which a key's share counts too. A line is of one node, and so are shares of it. */
export const createAdmissionQueue = (clock: Clock, settings: () => QueueSettings, elsewhere?: PlacesElsewhere): AdmissionQueue => {
  const shareOf = ({ keyShare }: QueueSettings): number => keyShare || 1
  const places = createFairPlaces(
    () => ({ most: settings().most || Number.POSITIVE_INFINITY, share: shareOf(settings()), always: 1 }),
    elsewhere,
  )
  const lineUp = createFairPlaces(() => ({ most: settings().line, share: shareOf(settings()), always: 1 }))
  /** In the order in which they came. */
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
      // This passes by no request in line: those that wait there do not fit.
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
