/**
 * Reads of people that may take long: they never stand before an inference, and nobody keeps storage busy by asking
 * often. Each caller has one read of a route at a time; the next one waits for it, and is refused where it waits too long.
 */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { createTurns, type Turns } from '../storage/turns.ts'
import { asksAs, type Route, type RouteRequest } from './route.ts'

export interface PacedReads {
  /** Throws 503 with the reason `busy`. */
  run<T>(request: RouteRequest, operation: Route['operation'], read: () => Promise<T>): Promise<T>
}

const READ_MS = 2000
/** More of one caller and route do not even wait. */
const WAITING_MAX = 8

export const createPacedReads = (clock: Clock): PacedReads => {
  const lanes = new Map<string, { readonly turns: Turns; waiting: number }>()
  return {
    async run(request, operation, read) {
      const name = `${asksAs(request)} ${operation}`
      const lane = lanes.get(name) ?? { turns: createTurns(), waiting: 0 }
      if (lane.waiting >= WAITING_MAX) throw busy()
      lanes.set(name, lane)
      lane.waiting += 1
      let isLate = false
      const late = Promise.withResolvers<never>()
      const cancel = clock.after(READ_MS, () => {
        isLate = true
        late.reject(busy())
      })
      // A request that has begun keeps its turn until it has ended, whoever still waits for it.
      const work = lane.turns
        .run(async () => {
          if (isLate || request.signal.aborted) throw busy()
          return read()
        })
        .finally(() => {
          lane.waiting -= 1
          if (lane.waiting === 0) lanes.delete(name)
        })
      try {
        return await Promise.race([work, late.promise])
      } finally {
        cancel()
        work.catch(() => {}) // it was answered already
      }
    },
  }
}

const busy = (): GatewayError =>
  new GatewayError('provider_overloaded', 'Storage is busy with other reads of yours. Ask again shortly.', {
    metadata: { reason: 'busy' },
    retryAfterSeconds: 1,
  })
