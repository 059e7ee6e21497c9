/** The meaning of SIGTERM and SIGINT: the first one asks to stop, and a later one says that the sender will wait no longer. */
import type { Clock } from '../lib/clock.ts'

export interface StopSignals {
  /** Called for each signal. */
  signalled(): void
  /** Resolves at the first one. */
  readonly asked: Promise<void>
  /** Streams are no longer waited for. */
  readonly impatient: boolean
}

/** One Ctrl-C arrives more than once within this time: from the terminal, and from npm, which sends on what it got itself. */
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
