/** Schedules the steps of the work on large bodies: one step in each round of the event loop, so that other work runs between two steps. */
import { type Clock, turnOf } from '../lib/clock.ts'
import type { Turn } from '../lib/steps.ts'

/** Resolves when the next step may run. */
export type LargeStep = () => Promise<void>

/** Create one per process: two of them would let two large steps run in one round. */
export const createLargeSteps = (clock: Clock): LargeStep => {
  let last = Promise.resolve()
  return () => {
    // Timers that end together run in one round, so each is set only when the step before it has begun.
    last = last.then(() => turnOf(clock))
    return last
  }
}

/** The maximum time in milliseconds that other work waits for these steps. */
const STEP_MS = 5

/** Yields to other work once small steps have taken this long together. */
export const createTurn = (clock: Clock, step: LargeStep): Turn => {
  let sinceMs = clock.monotonicMs()
  const begin = (): void => void (sinceMs = clock.monotonicMs())
  return () => (clock.monotonicMs() - sinceMs < STEP_MS ? undefined : step().then(begin))
}
