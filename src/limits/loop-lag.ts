/** Says whether this process keeps up: how late timers fire shows how long everything else waits too. */
import type { Clock } from '../lib/clock.ts'

export interface LoopLag {
  /** The 99th percentile of the last two whole seconds, of the better one: a burst that passes is no overload. In milliseconds. */
  readonly p99Ms: number
  /** Begins to watch; the answer ends it. */
  start(): () => void
}

const TICK_MS = 20
const WINDOW_MS = 1000

export const createLoopLag = (clock: Clock): LoopLag => {
  let samples: number[] = []
  let windowStartMs = 0
  let last = 0
  let p99Ms = 0
  let dueMs = 0
  let cancel: () => void

  const tick = (): void => {
    const nowMs = clock.monotonicMs()
    samples.push(Math.max(0, nowMs - dueMs))
    if (nowMs - windowStartMs >= WINDOW_MS) {
      const current = percentile99(samples)
      p99Ms = Math.min(last, current)
      last = current
      samples = []
      windowStartMs = nowMs
    }
    dueMs = nowMs + TICK_MS
    cancel = clock.after(TICK_MS, tick)
  }

  return {
    get p99Ms() {
      return p99Ms
    },
    start() {
      windowStartMs = clock.monotonicMs()
      dueMs = windowStartMs + TICK_MS
      cancel = clock.after(TICK_MS, tick)
      return () => cancel()
    },
  }
}

/** By the lower rank, so that a single pause, of a collection of garbage or a large body, is no overload. */
const percentile99 = (samples: readonly number[]): number => samples.toSorted((a, b) => a - b)[Math.floor(0.99 * (samples.length - 1))] ?? 0
