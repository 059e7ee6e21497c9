/** Measures how well this process keeps up: a late timer shows how long everything else waits too. */
import type { Clock } from '../lib/clock.ts'

export interface LoopLag {
  /**
   * In milliseconds: the 99th percentile of each of the last two whole seconds, of which the lower counts, so that a short burst is not an
   * overload.
   */
  readonly p99Ms: number
  /** Starts measuring; the returned function stops it. */
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

/** Takes the lower rank, so that a single pause, for garbage collection or a large body, is not an overload. */
const percentile99 = (samples: readonly number[]): number => samples.toSorted((a, b) => a - b)[Math.floor(0.99 * (samples.length - 1))] ?? 0
