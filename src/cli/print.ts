import { writeSync } from 'node:fs'

import { systemFault } from '../lib/system-fault.ts'

/** Prints one line of a command's result, for programs and people. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

const STDOUT = 1

/** Nobody can read the output: the disk is full, the pipe has no reader, or the output is closed. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
}

/** Prints what is shown only once. Throws OutputLost. */
export const printWhole = (text: string): void => {
  let rest = Buffer.from(text)
  try {
    while (rest.byteLength > 0) rest = rest.subarray(writeSync(STDOUT, rest))
  } catch (cause) {
    throw new OutputLost(`the output cannot be written (${systemFault(cause)}).`, { cause })
  }
}
