/** The only reader of time. All other code is passed a Clock, so that tests decide what time it is. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps and budget windows. */
  now(): number
  /** Monotonic, milliseconds: for durations and deadlines. */
  monotonicMs(): number
  /** Runs `task` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, task: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs)
    return () => clearTimeout(timer)
  },
}

export const pause = (clock: Pick<Clock, 'after'>, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))

/** Waits for another turn of the event loop, so that other work can run. */
export const turnOf = (clock: Pick<Clock, 'after'>): Promise<void> => pause(clock, 0)

/** Like `pause`, but rejects with the signal's reason as soon as the signal is aborted. */
export const pauseUnlessAborted = (clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    const stop = (): void => {
      cancel()
      reject(signal.reason as Error)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

/** ISO 8601 in UTC with milliseconds, the form of every stored and sent timestamp; it sorts as text. */
export const isoTimestamp = (epochMs: number): string => {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString()
    lastMs = epochMs
  }
  return lastText
}

/** The last result is cached: one request takes several timestamps in the same millisecond, and so do requests that end together. */
let lastMs = Number.NaN
let lastText = ''
