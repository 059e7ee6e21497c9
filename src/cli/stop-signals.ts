/** The meaning of SIGTERM and SIGINT: the first signal asks to stop, and a later one says that the sender will wait no longer. */
import type { Clock } from '../lib/clock.ts'

export interface StopSignals {
  /** Call it for each signal. */
  signalled(): void
  /** Resolves at the first signal. */
  readonly asked: Promise<void>
  /** True if streams must no longer be waited for. */
  readonly impatient: boolean
}

/** One Ctrl-C may arrive more than once within this time: from the terminal, and from npm, which forwards the signal that it got itself. */
const ECHO_MS = 1000

export const createStopSignals = (clock: Pick<Clock, 'monotonicMs'>): StopSignals => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let firstMs: number | null = null
  let impatient = false
  return {
    signalled() {
      const nowMs = clock.monotonicMs()
      if (firstMs !== null && nowMs - firstMs >= ECHO_MS) impatient = true
      firstMs ??= nowMs
      resolve()
    },
    asked: promise,
    get impatient() {
      return impatient
    },
  }
}
