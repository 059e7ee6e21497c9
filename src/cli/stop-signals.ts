/**
 * The meaning of SIGTERM and SIGINT: the first signal asks to stop, and a later one says that the sender will wait no longer. The end of
 * npx stands for the first one.
 */
import type { Environment } from '../config.ts'
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

/** True below npx if it was to run this program: whatever else it runs leaves the variables to all that is started from there, with `&` too. */
export const isRunByNpx = (env: Environment): boolean =>
  env['npm_command'] === 'exec' && /^\W*patchbay\b/.test(env['npm_lifecycle_script'] ?? '')

const LOOK_MS = 250

/**
 * Between npx and the program stands a shell. It passes no signal on: one that is sent to npx ends npx and the shell alone, which counts as
 * the first signal, but never as a later one. A hang-up that ends them stops nothing, as without npx: npx heeds no `nohup`.
 */
export const stopWithShell = (
  signals: StopSignals,
  { clock, parent, hangUps }: { clock: Pick<Clock, 'after'>; parent: () => number; hangUps: () => number },
): void => {
  const shell = parent()
  let earlier = hangUps()
  let last = hangUps()
  let cancel = (): void => {}
  const look = (): void => {
    // The event of a hang-up may come after the look that finds the shell gone, or have come before one that still found it.
    if (parent() !== shell) cancel = clock.after(LOOK_MS, () => (hangUps() === earlier ? signals.signalled() : undefined))
    else {
      ;[earlier, last] = [last, hangUps()]
      cancel = clock.after(LOOK_MS, look)
    }
  }
  look()
  void signals.asked.then(() => cancel())
}
