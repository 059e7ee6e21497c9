/**
 * Buffers lines for a descriptor: they are collected in memory and written in the background, in a few large writes a second. A slow
 * reader never delays a request: above a limit, lines are dropped and counted.
 */
import { write } from 'node:fs'
import { promisify } from 'node:util'

import { type Clock, pause } from '../lib/clock.ts'

export interface LineBuffer {
  write(line: string): void
  /** Call it before the process ends: resolves when all lines are written, or when their reader did not take them in time. */
  flush(): Promise<void>
  readonly dropped: number
}

const FLUSH_MS = 200
const WAITING_MAX = 8 * 1024 * 1024
/** Time for a reader to take the last lines. A reader that has stopped must not keep the service from stopping. */
const LAST_LINES_MS = 1000

/** The errors of a pipe without a reader and of a closed terminal: the service shuts down as if the lines had been read. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO'])

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code

const writeTo = promisify(write)

export const createLineBuffer = (descriptor: number, clock: Clock): LineBuffer => {
  let waiting: string[] = []
  let waitingLength = 0
  let scheduled = false
  let writing = false
  /** Settles when the current write ends, successfully or not. */
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
        // The pipe is full, and the write does not wait by itself.
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
      // A closed or broken descriptor takes no lines, and there is nowhere left to report it.
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
