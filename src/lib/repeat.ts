import type { Clock } from './clock.ts'

/**
 * Runs `task` first after `firstMs`, then every `intervalMs` after the end of the previous run, until stopped. A failed run is reported, and
 * the runs go on.
 */
export const repeat = (
  clock: Clock,
  intervalMs: number,
  task: () => Promise<void>,
  onError: (thrown: unknown) => void,
  firstMs: number = intervalMs,
): (() => void) => {
  let stopped = false
  let cancel: () => void
  const run = (): void => {
    task()
      .catch(onError)
      .finally(() => {
        if (!stopped) cancel = clock.after(intervalMs, run)
      })
  }
  cancel = clock.after(firstMs, run)
  return () => {
    stopped = true
    cancel()
  }
}
