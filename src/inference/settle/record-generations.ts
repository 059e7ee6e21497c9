/**
 * Writes finished generations to storage: in batches, off the response's path, from a bounded queue. A reader that asks for a record
 * flushes first, so that an answered request can be read at once.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Journal, Segment } from '../../storage/journal.ts'

export interface GenerationRecorder {
  /**
   * Adds an entry: a line of JSON, the same for journal and storage. Never waits, never throws. Entries beyond the bound are dropped and
   * counted.
   */
  add(entry: string): void
  /** Resolves when everything added before is written or has been given up. */
  flush(): Promise<void>
  /**
   * Flushes for the last time, without another try, and returns how many entries are lost: storage does not accept them now, and the
   * journal does not hold them.
   */
  close(): Promise<number>
  readonly dropped: number
}

const FLUSH_MS = 50
const QUEUE_MAX = 100_000
const BATCH_MAX = 1000
const RETRY_MS = 1000
const REPORT_MS = 10_000

interface Queued {
  readonly entry: string
  /** Null if the journal does not hold the entry. */
  segment: Segment | null
}

/** A caller that waits for a flush. */
interface Waiter {
  /** How many of the entries that it waits for are still in the queue. */
  left: number
  readonly resolve: () => void
}

export const createGenerationRecorder = (parts: {
  /** Writes all entries or none; entries that are already written are not written again. */
  write: (batch: readonly string[]) => Promise<void>
  clock: Clock
  onError: (thrown: unknown, waiting: number) => void
  /** Keeps entries until they are written, even if this process dies; without a journal a killed process loses them. */
  journal?: Pick<Journal, 'append' | 'written'>
}): GenerationRecorder => {
  const { write, clock, onError, journal } = parts
  let queue: Queued[] = []
  /** Entries of the queue that have not been given to the journal yet. */
  let added: Queued[] = []
  let scheduled: (() => void) | null = null
  let writing: Promise<void> | null = null
  let waiters: Waiter[] = []
  /** The number of entries at the front of the queue that must be written without a pause. */
  let due = 0
  let dropped = 0
  let closed = false
  /** The size of the next batch; it shrinks after failures until an entry that storage never accepts stands alone. */
  let most = BATCH_MAX
  let failures = 0
  /** A full disk refuses the entries of every request, which is reported at once and then from time to time. */
  let journalReportedMs = -Infinity

  const schedule = (delayMs: number): void => {
    if (closed) return
    scheduled ??= clock.after(delayMs, () => {
      scheduled = null
      writeDue()
    })
  }

  /**
   * Answers that end together are journalled by one write: after everything that is settled in this stage of a cohort, and before any of
   * those answers goes out, since what an answer waits for is resolved later. If the disk does not accept the write, the entries wait in
   * memory only.
   */
  const keepAdded = (): void => {
    if (added.length === 0) return
    const together = added
    added = []
    try {
      const segment = journal?.append(together.map(({ entry }) => entry)) ?? null
      for (const queued of together) queued.segment = segment
      journalReportedMs = -Infinity
    } catch (thrown) {
      if (clock.monotonicMs() - journalReportedMs < REPORT_MS) return
      journalReportedMs = clock.monotonicMs()
      onError(thrown, queue.length)
    }
  }

  /** An entry that could not be removed from the journal is written once more at the next start, which changes nothing. */
  const forget = (segment: Segment): void => {
    try {
      journal?.written(segment)
    } catch (thrown) {
      onError(thrown, queue.length)
    }
  }

  /**
   * Writes one batch; returns true if it is written. A failed batch goes back to the front, because unavailable storage comes back. A
   * single entry that fails alone goes to the end, so that its fault does not keep the others from being charged.
   */
  const writeBatch = async (): Promise<boolean> => {
    const batch = queue.slice(0, most)
    queue = queue.slice(batch.length)
    due -= batch.length
    for (const waiter of waiters) waiter.left -= batch.length
    try {
      await write(batch.map(({ entry }) => entry))
      release((waiter) => waiter.left <= 0)
      for (const { segment } of batch) if (segment !== null) forget(segment)
      most = Math.min(BATCH_MAX, most * 2)
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

  const release = (isOver: (waiter: Waiter) => boolean): void => {
    const before = waiters
    waiters = []
    for (const waiter of before) {
      if (isOver(waiter)) waiter.resolve()
      else waiters.push(waiter)
    }
  }

  /**
   * A batch costs storage about as much as thirty entries, so entries that arrive during a write wait for more of them, unless someone
   * waits for a flush. `writing` is cleared in the same step in which nothing is found due: a flush in between would otherwise miss new
   * entries.
   */
  const drain = async (): Promise<void> => {
    try {
      while (due > 0 && (await writeBatch()));
    } finally {
      writing = null
      release(() => true)
    }
  }

  const writeDue = (): void => {
    if (queue.length === 0 && writing === null) return
    due = queue.length
    writing ??= drain()
  }

  /** Waits for its own entries only: under load there are always others, and the drain does not end. */
  const flush = (): Promise<void> => {
    if (queue.length === 0 && writing === null) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiters.push({ left: queue.length, resolve })
    writeDue()
    return promise
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
      return queue.filter(({ segment }) => segment === null).length
    },
    get dropped() {
      return dropped
    },
  }
}
