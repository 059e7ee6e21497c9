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

/** The processor time that this thread has used, in milliseconds; some systems count it in steps of four. */
export const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
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
  const slot = Math.trunc(Math.abs(epochMs)) % RECENT
  const known = RECENT_TEXTS[slot]
  if (known !== undefined && RECENT_MS[slot] === epochMs) return known
  const text = new Date(epochMs).toISOString()
  RECENT_MS[slot] = epochMs
  RECENT_TEXTS[slot] = text
  return text
}

/**
 * Some results are kept: the requests of one millisecond need the same few timestamps, such as when they came and when their holds end.
 * The number is a prime, so that times that differ by a round number do not take each other's place.
 */
const RECENT = 13
const RECENT_MS: number[] = []
const RECENT_TEXTS: string[] = []
