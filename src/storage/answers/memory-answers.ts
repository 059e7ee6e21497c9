/** Cached answers in this process: above `maxBytes`, the least recently used ones are dropped. */
import type { Clock } from '../../lib/clock.ts'
import type { AnswerStore } from './answer-store.ts'

interface Entry {
  readonly sealed: string
  readonly bytes: number
  /** On the monotonic clock. */
  readonly untilMs: number
}

export interface MemoryAnswers extends AnswerStore {
  find(name: string): string | null
  readonly bytes: number
}

/** The bytes that an entry takes in addition to its texts. */
const ENTRY_BYTES = 200

export const createMemoryAnswers = (maxBytes: number, clock: Pick<Clock, 'monotonicMs'>): MemoryAnswers => {
  /** In order of use: the most recently used entry is the last. */
  const entries = new Map<string, Entry>()
  let held = 0

  const drop = (name: string): void => {
    held -= entries.get(name)?.bytes ?? 0
    entries.delete(name)
  }

  return {
    find(name) {
      const entry = entries.get(name)
      if (entry === undefined) return null
      entries.delete(name)
      if (clock.monotonicMs() >= entry.untilMs) {
        held -= entry.bytes
        return null
      }
      entries.set(name, entry)
      return entry.sealed
    },
    keep(name, sealed, ttlMs) {
      drop(name)
      const bytes = name.length + sealed.length + ENTRY_BYTES
      if (bytes > maxBytes) return
      entries.set(name, { sealed, bytes, untilMs: clock.monotonicMs() + ttlMs })
      held += bytes
      for (const oldest of entries.keys()) {
        if (held <= maxBytes) break
        drop(oldest)
      }
    },
    drop,
    connect: () => Promise.resolve(),
    close() {
      entries.clear()
      held = 0
    },
    get bytes() {
      return held
    },
  }
}
