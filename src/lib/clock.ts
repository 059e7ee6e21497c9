/** The only reader of time. Everything else is handed a Clock, so that tests decide what time it is. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps and budget windows. */
  now(): number
  /** Monotonic, milliseconds: for durations and deadlines. */
  monotonicMs(): number
  /** Runs `task` once after `delayMs`; the answer cancels it. */
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

/** Another turn of the event loop, in which others go on. */
export const turnOf = (clock: Clock): Promise<void> => new Promise((resolve) => void clock.after(0, resolve))

/** ISO 8601 in UTC with milliseconds: the form of every stored and answered timestamp; it sorts as text. */
export const isoTimestamp = (epochMs: number): string => {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString()
    lastMs = epochMs
  }
  return lastText
}

/** Several stamps of one request, and of requests that end together, are of the same instant. */
let lastMs = Number.NaN
let lastText = ''
