import { writeSync } from 'node:fs'

import { pause, systemClock } from '../lib/clock.ts'
import { systemFault } from '../lib/system-fault.ts'

/** Prints one line of a command's result, for programs and people. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

const STDOUT = 1

/** Nobody can read the output: the disk is full, the pipe has no reader, or the output is closed. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
}

const READER_PAUSE_MS = 10

/** Prints what is shown only once, or what a command must not go on without. Resolves when it is written; rejects with OutputLost. */
export const printWhole = async (text: string): Promise<void> => {
  for (let rest = Buffer.from(text); rest.byteLength > 0;) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest))
    } catch (cause) {
      const fault = systemFault(cause)
      // A pipe is full until its reader goes on.
      if (fault !== 'EAGAIN') throw new OutputLost(`the output cannot be written (${fault}).`, { cause })
      await pause(systemClock, READER_PAUSE_MS)
    }
  }
}
