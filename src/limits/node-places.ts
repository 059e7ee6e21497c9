/**
 * The places of the other nodes, so that a key's share is counted over all nodes (docs/contract/operating.md#several-nodes). No request
 * waits for this: nodes report to one another through the limit store, more often as they fill up, and each decides by the latest reports.
 * While the store is unavailable, a key has its share of each node separately.
 */
import { z } from 'zod'

import type { Clock } from '../lib/clock.ts'
import type { FairPlaces, PlacesElsewhere } from '../lib/fair-places.ts'
import { objectIn } from '../lib/json/json.ts'
import { repeat } from '../lib/repeat.ts'
import type { SharedMeter } from './shared-meter.ts'

export interface NodePlaces extends PlacesElsewhere {
  /** Starts the exchange; the returned function stops it. */
  start(): () => void
}

export interface NodePlacesParts {
  readonly clock: Clock
  readonly consult: SharedMeter['consult']
  /** This node's own places. A `most` of 0 means no bound. */
  readonly own: () => OwnPlaces
  /** Called when the places elsewhere may have changed. */
  readonly onHeard: () => void
}

export interface OwnPlaces {
  readonly most: number
  readonly taken: number
  readonly held: FairPlaces['held']
}

const ROUND_MS = 100
/** A node that has room reports only in every tenth round. */
const IDLE_ROUNDS = 10
/** A node that uses at least this part of its places reports in every round. */
const BUSY_PART = 1 / 8
/** A key with less than this part of a node's places is not reported: it is far from any share, and there may be many such keys. */
const REPORTED_PART = 1 / 100

/** The number used if there is no bound. */
const MOST_PLACES = 1_000_000_000

const count = z.number().int().min(0).max(MOST_PLACES)
const reportSchema = z.object({ most: count, taken: count, held: z.record(z.string(), count) })

export const createNodePlaces = ({ clock, consult, own, onHeard }: NodePlacesParts): NodePlaces => {
  let free = 0
  let held: ReadonlyMap<string, number> = new Map()
  let rounds = 0

  const hear = (others: readonly string[]): void => {
    const sum = new Map<string, number>()
    free = 0
    for (const report of others) {
      const { data } = reportSchema.safeParse(objectIn(report))
      // A node of another version may report in a different format.
      if (data === undefined) continue
      free += Math.max(0, (data.most || MOST_PLACES) - data.taken)
      for (const [key, places] of Object.entries(data.held)) sum.set(key, (sum.get(key) ?? 0) + places)
    }
    held = sum
    onHeard()
  }

  const exchange = async (): Promise<void> => {
    const { most, taken, held: mine } = own()
    rounds += 1
    if (rounds % IDLE_ROUNDS !== 0 && (most === 0 || taken < most * BUSY_PART)) return
    const reported = Object.fromEntries([...mine].filter(([, places]) => most > 0 && places >= most * REPORTED_PART))
    const report = JSON.stringify({ most, taken, held: reported } satisfies z.infer<typeof reportSchema>)
    hear((await consult((store) => store.exchangePlaces(report))) ?? [])
  }

  return {
    get free() {
      return free
    },
    heldBy: (key) => held.get(key) ?? 0,
    start: () => repeat(clock, ROUND_MS, exchange, () => undefined),
  }
}
