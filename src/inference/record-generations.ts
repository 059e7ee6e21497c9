/**
 * Finished generations on their way to storage: in batches, off the response's path, on a bounded queue. A reader that
 * asks for a record flushes first, so what was answered can be read at once.
 */
import type { Clock } from '../lib/clock.ts'
import type { Journal, Segment } from '../storage/journal.ts'

export interface GenerationRecorder {
  /** An entry is a line of JSON, the same for journal and storage. Never waits, never throws. Beyond the bound it is dropped and counted. */
  add(entry: string): void
  /** Resolves when everything added before is written, or has been given up. */
  flush(): Promise<void>
  /** Flushes for the last time: what storage does not take now is lost, and nothing waits to be tried again. */
  close(): Promise<void>
  readonly dropped: number
}

const FLUSH_MS = 50
const QUEUE_MAX = 100_000
const BATCH_MAX = 1000
const RETRY_MS = 1000

interface Queued {
  readonly entry: string
  /** Null where the journal does not hold it. */
  segment: Segment | null
}

export const createGenerationRecorder = (parts: {
  /** All or nothing; what was written already is not written again. */
  write: (batch: readonly string[]) => Promise<void>
  clock: Clock
  onError: (thrown: unknown, waiting: number) => void
  /** Keeps what is added until it is written, whatever becomes of this process; absent: a process that is killed loses it. */
  journal?: Pick<Journal, 'append' | 'written'>
}): GenerationRecorder => {
  const { write, clock, onError, journal } = parts
  let queue: Queued[] = []
  /** The journal has not been asked to hold these of the queue. */
  let added: Queued[] = []
  let scheduled: (() => void) | null = null
  let writing: Promise<void> | null = null
  /** Entries at the front of the queue that are to be written without a pause. */
  let due = 0
  let dropped = 0
  let closed = false
  /** Entries of the next batch; fewer after failures, until one that storage never takes stands alone. */
  let most = BATCH_MAX
  let failures = 0

  const schedule = (delayMs: number): void => {
    if (closed) return
    scheduled ??= clock.after(delayMs, () => {
      scheduled = null
      void flush()
    })
  }

  /**
   * Answers that end together are kept by one write: behind all that is settled in this stage of a cohort, and before any of those
   * answers goes out, since what an answer waits for is resolved later. Where the disk does not take it, it waits in memory alone.
   */
  const keepAdded = (): void => {
    if (added.length === 0) return
    const together = added
    added = []
    try {
      const segment = journal?.append(together.map(({ entry }) => entry)) ?? null
      for (const queued of together) queued.segment = segment
    } catch (thrown) {
      onError(thrown, queue.length)
    }
  }

  /** An entry that could not be forgotten is written once more at the next start, which changes nothing. */
  const forget = (segment: Segment): void => {
    try {
      journal?.written(segment)
    } catch (thrown) {
      onError(thrown, queue.length)
    }
  }

  /**
   * One batch; true when it is written. A failed one goes back to the front: storage that is away comes back. One entry
   * that fails by itself lets the others pass: what is wrong with it is not to keep them from being charged.
   */
  const writeBatch = async (): Promise<boolean> => {
    keepAdded()
    const batch = queue.slice(0, most)
    queue = queue.slice(batch.length)
    due -= batch.length
    try {
      await write(batch.map(({ entry }) => entry))
      for (const { segment } of batch) if (segment !== null) forget(segment)
      if (failures === 0) most = Math.min(BATCH_MAX, most * 2)
      failures = 0
      return true
    } catch (thrown) {
      failures += 1
      queue = batch.length === 1 ? [...queue, ...batch] : [...batch, ...queue]
      if (failures > 1 || most < BATCH_MAX) most = Math.ceil(batch.length / 2)
      onError(thrown, queue.length)
      schedule(RETRY_MS)
      return false
    }
  }

  /**
   * A batch costs storage about as much as thirty entries, so what comes in while one is written waits for company, unless somebody
   * waits for it. `writing` is forgotten in the same step as nothing is found to be due: a flush between the two would miss what came in.
   */
  const drain = async (): Promise<void> => {
    try {
      while (due > 0 && (await writeBatch()));
    } finally {
      writing = null
      due = 0
      if (queue.length > 0) schedule(FLUSH_MS)
    }
  }

  const flush = (): Promise<void> => {
    if (queue.length === 0 && writing === null) return Promise.resolve()
    due = queue.length
    writing ??= drain()
    return writing
  }

  return {
    add(entry) {
      if (queue.length >= QUEUE_MAX) {
        dropped += 1
        return
      }
      const queued: Queued = { entry, segment: null }
      queue.push(queued)
      if (journal !== undefined) {
        if (added.length === 0) queueMicrotask(keepAdded)
        added.push(queued)
      }
      schedule(FLUSH_MS)
    },
    flush,
    async close() {
      closed = true
      scheduled?.()
      scheduled = null
      await flush()
    },
    get dropped() {
      return dropped
    },
  }
}
