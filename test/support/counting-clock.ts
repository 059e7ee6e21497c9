import type { Clock } from '../../src/lib/clock.ts'

export interface CountingClock {
  readonly clock: Clock
  turns(): number
}

/** Time passes with each read of the clock, so that every point where the work may yield is counted as a turn. */
export const createCountingClock = (): CountingClock => {
  let now = 0
  let turns = 0
  return {
    clock: {
      now: () => 0,
      monotonicMs: () => (now += 1000),
      after(ms, task) {
        if (ms > 0) return () => undefined
        turns += 1
        setImmediate(task)
        return () => undefined
      },
    },
    turns: () => turns,
  }
}
