/**
 * Lines on their way to a descriptor: gathered in memory and written in the background, a few large writes a second. A
 * reader that does not keep up never holds up a request: beyond a bound, lines are dropped and counted.
 */
import { write, writeSync } from 'node:fs'

import type { Clock } from '../lib/clock.ts'

export interface LineBuffer {
  write(line: string): void
  /** Writes what waits, now: before the process ends. */
  flushSync(): void
  readonly dropped: number
}

const FLUSH_MS = 200
const WAITING_MAX = 8 * 1024 * 1024

/** A pipe without a reader, or a terminal that was closed: the service shuts down as if the lines had been read. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO'])

export const createLineBuffer = (descriptor: number, clock: Clock): LineBuffer => {
  let waiting: string[] = []
  let waitingLength = 0
  let writing = false
  let scheduled = false
  let dropped = 0

  const take = (): Buffer => {
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    waitingLength = 0
    return bytes
  }

  const schedule = (): void => {
    if (scheduled || writing) return
    scheduled = true
    clock.after(FLUSH_MS, () => {
      scheduled = false
      if (waiting.length > 0) send(take())
    })
  }

  const send = (bytes: Buffer): void => {
    writing = true
    write(descriptor, bytes, (error, written) => {
      // A descriptor that is closed or broken takes no lines: there is nobody left to tell.
      const rest = error === null ? bytes.subarray(written) : error.code === 'EAGAIN' ? bytes : null
      writing = false
      if (rest !== null && rest.byteLength > 0) send(rest)
      else if (waiting.length > 0) schedule()
    })
  }

  return {
    write(line) {
      if (waitingLength > WAITING_MAX) {
        dropped += 1
        return
      }
      waiting.push(line)
      waitingLength += line.length
      schedule()
    },
    flushSync() {
      if (waiting.length === 0) return
      try {
        writeSync(descriptor, take())
      } catch (thrown) {
        if (!READER_GONE.has((thrown as NodeJS.ErrnoException).code)) throw thrown
      }
    },
    get dropped() {
      return dropped
    },
  }
}
