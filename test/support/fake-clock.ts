/** A clock that only moves when a test advances it. */
import type { Clock } from '../../src/lib/clock.ts'

export interface FakeClock extends Clock {
  /** Advances the time. Timers run in the order of their due times, each at its own time, including those that are set meanwhile. */
  advance(ms: number): void
  /** Time passes and no timer runs, as while the event loop is blocked. */
  block(ms: number): void
  /** Moves only the wall clock, as an administrator or NTP does. */
  setWall(epochMs: number): void
  /** The number of pending timers. */
  readonly waiting: number
}

export const T0 = Date.UTC(2026, 10, 20, 10)

export const createFakeClock = (wallMs = T0): FakeClock => {
  let elapsedMs = 0
  let epochMs = wallMs
  let tasks: { readonly dueMs: number; readonly task: () => void }[] = []
  return {
    now: () => epochMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    after(delayMs, task) {
      const entry = { dueMs: elapsedMs + Math.max(0, delayMs), task }
      tasks.push(entry)
      return () => {
        tasks = tasks.filter((waiting) => waiting !== entry)
      }
    },
    advance(ms) {
      const endMs = elapsedMs + ms
      for (;;) {
        const next = tasks.filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0]
        if (next === undefined) break
        tasks = tasks.filter((waiting) => waiting !== next)
        elapsedMs = Math.max(elapsedMs, next.dueMs)
        next.task()
      }
      elapsedMs = endMs
    },
    block(ms) {
      elapsedMs += ms
    },
    setWall(to) {
      epochMs = to - elapsedMs
    },
    get waiting() {
      return tasks.length
    },
  }
}

/** Runs everything that waits for no timer: promises, and one turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
