/**
 * Measures how well this process keeps up: a late timer shows how long everything else waits too. Only what this thread has computed
 * meanwhile counts: where other programs of the machine had the processor, a refusal would make nothing faster (decisions/0276).
 */
import type { Clock } from '../lib/clock.ts'

export interface LoopLag {
  /**
   * In milliseconds: the 99th percentile of each of the last two whole seconds, of which the lower counts, so that a short burst is not an
   * overload. The first question begins the measurement, which ends when nobody has asked for a while: an idle service needs no timer.
   */
  readonly p99Ms: number
  /** Allows the measurement; the returned function stops it for good. */
  start(): () => void
}

const TICK_MS = 20
const WINDOW_MS = 1000
const UNASKED_WINDOWS_MAX = 10

/** `cpuMs` reads the processor time of this thread. */
export const createLoopLag = (clock: Clock, cpuMs: () => number): LoopLag => {
  let samples: number[] = []
  let windowStartMs = 0
  let last = 0
  let p99Ms = 0
  let dueMs = 0
  let usedMs = 0
  let mayRun = false
  let cancel: (() => void) | null = null
  let unaskedWindows = 0

  const wait = (nowMs: number): void => {
    dueMs = nowMs + TICK_MS
    usedMs = cpuMs()
    cancel = clock.after(TICK_MS, tick)
  }

  const tick = (): void => {
    const nowMs = clock.monotonicMs()
    samples.push(Math.max(0, Math.min(nowMs - dueMs, cpuMs() - usedMs)))
    if (nowMs - windowStartMs >= WINDOW_MS) {
      const current = percentile99(samples)
      p99Ms = Math.min(last, current)
      last = current
      samples = []
      windowStartMs = nowMs
      unaskedWindows += 1
    }
    if (unaskedWindows <= UNASKED_WINDOWS_MAX) wait(nowMs)
    else cancel = null
  }

  const begin = (): void => {
    last = 0
    p99Ms = 0
    windowStartMs = clock.monotonicMs()
    wait(windowStartMs)
  }

  return {
    get p99Ms() {
      unaskedWindows = 0
      if (mayRun && cancel === null) begin()
      return p99Ms
    },
    start() {
      mayRun = true
      return () => {
        mayRun = false
        cancel?.()
      }
    },
  }
}

/** Takes the lower rank, so that a single pause, for garbage collection or a large body, is not an overload. */
const percentile99 = (samples: readonly number[]): number => samples.toSorted((a, b) => a - b)[Math.floor(0.99 * (samples.length - 1))] ?? 0
