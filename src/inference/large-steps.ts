/** Turns for the steps of the work on large bodies: one in each round of the event loop, whosever it is, so that others get theirs between two. */
import type { Clock } from '../lib/clock.ts'

/** Resolves when the next step may run. */
type LargeStep = () => Promise<void>

export const createLargeSteps = (clock: Clock): LargeStep => {
  let last = Promise.resolve()
  return () => {
    // Timers that end together run in one round: each is set when the step before it has begun.
    last = last.then(() => new Promise((resolve) => void clock.after(0, resolve)))
    return last
  }
}
