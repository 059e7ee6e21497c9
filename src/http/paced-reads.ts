/**
 * Paces the reads of people that may take long: they never delay an inference, and no caller keeps storage busy by asking often. Each
 * caller has one read of a route at a time; the next one waits for it, and is refused if storage takes too long. A page that asks for
 * several things at once is not refused, because they are read one after the other.
 */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { createTurns, type Turns } from '../lib/turns.ts'
import { asksAs, type Route, type RouteRequest } from './route.ts'

export interface PacedReads {
  /** Throws 503 with the reason `busy`. */
  run<T>(request: RouteRequest, operation: Route['operation'], read: () => Promise<T>): Promise<T>
}

/** The time that storage may take for one read. */
const READ_MS = 2000
/** Reads of one caller and route that may wait; further ones are refused at once. */
const WAITING_MAX = 8

interface Lane {
  readonly turns: Turns
  waiting: number
  /** On the monotonic clock. */
  lastBegunMs: number
}

/** `readMs` is longer than usual for reads that end by themselves, and would otherwise be refused before they do. */
export const createPacedReads = (clock: Clock, readMs = READ_MS): PacedReads => {
  const lanes = new Map<string, Lane>()
  return {
    async run(request, operation, read) {
      const name = `${asksAs(request)} ${operation}`
      const lane: Lane = lanes.get(name) ?? { turns: createTurns(), waiting: 0, lastBegunMs: clock.monotonicMs() }
      if (lane.waiting >= WAITING_MAX) throw busy()
      lanes.set(name, lane)
      lane.waiting += 1
      let isLate = false
      const late = withoutProgress(clock, lane, readMs, () => (isLate = true))
      // A read that has begun keeps its turn until it ends, even if its caller no longer waits.
      const work = lane.turns
        .run(async () => {
          if (isLate) throw busy()
          if (request.signal.aborted) throw left()
          lane.lastBegunMs = clock.monotonicMs()
          return read()
        })
        .finally(() => {
          lane.waiting -= 1
          if (lane.waiting === 0) lanes.delete(name)
        })
      try {
        return await Promise.race([work, late.promise])
      } finally {
        late.cancel()
        work.catch(() => {}) // the caller was answered already
      }
    },
  }
}

/** Rejects once none of the lane's reads has begun for this long. */
const withoutProgress = (
  clock: Clock,
  lane: Lane,
  readMs: number,
  onLate: () => void,
): { readonly promise: Promise<never>; cancel(): void } => {
  const askedMs = clock.monotonicMs()
  const { promise, reject } = Promise.withResolvers<never>()
  const look = (): (() => void) => {
    const leftMs = Math.max(askedMs, lane.lastBegunMs) + readMs - clock.monotonicMs()
    if (leftMs > 0) return clock.after(leftMs, () => (cancel = look()))
    onLate()
    reject(busy())
    return () => undefined
  }
  let cancel = look()
  return { promise, cancel: () => cancel() }
}

const busy = (): GatewayError =>
  new GatewayError('provider_overloaded', 'Storage is busy with your other reads. Ask again shortly.', {
    metadata: { reason: 'busy' },
    retryAfterSeconds: 1,
  })

/** The client does not read this error: it is for the log, where a client that leaves is not a fault of storage. */
const left = (): GatewayError => new GatewayError('invalid_request', 'The client left before its turn to read.')
