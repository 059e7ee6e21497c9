/**
 * Lines on their way to a descriptor: gathered in memory and written in the background, a few large writes a second. A
 * reader that does not keep up never holds up a request: beyond a bound, lines are dropped and counted.
 */
import { write } from 'node:fs'
import { promisify } from 'node:util'

import { type Clock, pause } from '../lib/clock.ts'

export interface LineBuffer {
  write(line: string): void
  /** Before the process ends: resolves when all lines are written, or when their reader did not take them in time. */
  flush(): Promise<void>
  readonly dropped: number
}

const FLUSH_MS = 200
const WAITING_MAX = 8 * 1024 * 1024
/** Time for a reader to take the last lines. One that has stopped reading must not keep the service from stopping. */
const LAST_LINES_MS = 1000

/** A pipe without a reader, or a terminal that was closed: the service shuts down as if the lines had been read. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO'])

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code

const writeTo = promisify(write)

export const createLineBuffer = (descriptor: number, clock: Clock): LineBuffer => {
  let waiting: string[] = []
  let waitingLength = 0
  let scheduled = false
  let writing = false
  /** Ends when the write that is under way ends, well or not. */
  let written = Promise.resolve()
  let dropped = 0

  const take = (): Buffer => {
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    waitingLength = 0
    return bytes
  }

  const writeAll = async (bytes: Buffer): Promise<void> => {
    let rest = bytes
    while (rest.byteLength > 0) {
      try {
        rest = rest.subarray((await writeTo(descriptor, rest)).bytesWritten)
      } catch (thrown) {
        if (codeOf(thrown) !== 'EAGAIN') throw thrown
        // The pipe is full, and does not wait by itself.
        await pause(clock, FLUSH_MS)
      }
    }
  }

  const schedule = (): void => {
    if (scheduled || writing) return
    scheduled = true
    clock.after(FLUSH_MS, () => {
      scheduled = false
      if (!writing && waiting.length > 0) written = writeInBackground()
    })
  }

  const writeInBackground = async (): Promise<void> => {
    writing = true
    try {
      await writeAll(take())
    } catch {
      // A descriptor that is closed or broken takes no lines: there is nowhere left to report it.
    }
    writing = false
    if (waiting.length > 0) schedule()
  }

  const writeLast = async (): Promise<void> => {
    await written
    try {
      await writeAll(take())
    } catch (thrown) {
      if (!READER_GONE.has(codeOf(thrown))) throw thrown
    }
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
    async flush() {
      const late = Promise.withResolvers<void>()
      const cancel = clock.after(LAST_LINES_MS, late.resolve)
      try {
        await Promise.race([writeLast(), late.promise])
      } finally {
        cancel()
      }
    },
    get dropped() {
      return dropped
    },
  }
}
