/** Notices a provider that sends nothing for too long. */
import type { Clock } from '../../lib/clock.ts'

/** A timer later than this was not kept by other work alone: the process was stopped, or its container paused. */
const STOOD_STILL_MS = 2000

interface Silence {
  /** Starts counting: from now on the provider is waited for. */
  listen(): void
  /** Stops counting: a piece came, and the time that its consumer takes is not the provider's silence. */
  pause(): void
  stop(): void
}

/**
 * Calls `expire` once the provider has been waited for `idleMs`. One timer per stream, set again when it fires and not for each piece. If it
 * fires late, this process stood still and has not read what came meanwhile, so the provider gets the time once more.
 */
export const watchSilence = (clock: Clock, idleMs: number, expire: () => void): Silence => {
  let sinceMs: number | null = null
  const checkIn = (ms: number): (() => void) => {
    const dueMs = clock.monotonicMs() + ms
    return clock.after(ms, () => {
      const nowMs = clock.monotonicMs()
      if (sinceMs !== null && nowMs - dueMs > STOOD_STILL_MS) sinceMs = nowMs
      const leftMs = sinceMs === null ? idleMs : sinceMs + idleMs - nowMs
      if (leftMs <= 0) expire()
      else cancel = checkIn(leftMs)
    })
  }
  let cancel = checkIn(idleMs)
  return {
    listen() {
      sinceMs = clock.monotonicMs()
    },
    pause() {
      sinceMs = null
    },
    stop: () => cancel(),
  }
}
