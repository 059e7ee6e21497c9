/** Bounds the time spent waiting for what comes after a complete answer. */
import type { Clock } from '../../lib/clock.ts'

/** The end of a stream usually comes with its last event; a connection on which it does not is not worth waiting for. */
export const BEHIND_END_MS = 1000

interface Patience {
  begin(patienceMs?: number): void
  began(): boolean
  expired(): boolean
  /** Reads without a time limit before `begin`, and within the time that is left after it. */
  during(reader: BytesReader): ReturnType<BytesReader['read']>
}

export interface BytesReader {
  read(): Promise<{ done?: false; value: Uint8Array } | { done: true; value?: undefined }>
}

/** Only time spent waiting counts, so that a slow client loses nothing that the provider still has to send. */
export const createPatience = (clock: Clock, expire: () => void): Patience => {
  let leftMs: number | null = null
  let expired = false
  const bounded = async (reader: BytesReader, limitMs: number): Promise<Awaited<ReturnType<BytesReader['read']>>> => {
    const beganMs = clock.monotonicMs()
    const cancel = clock.after(limitMs, () => {
      expired = true
      expire()
    })
    try {
      return await reader.read()
    } finally {
      cancel()
      leftMs = limitMs - (clock.monotonicMs() - beganMs)
    }
  }
  return {
    begin(patienceMs = BEHIND_END_MS) {
      leftMs ??= patienceMs
    },
    began: () => leftMs !== null,
    expired: () => expired,
    during: (reader) => (leftMs === null ? reader.read() : bounded(reader, leftMs)),
  }
}
