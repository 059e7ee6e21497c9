/** Reads the outputs of a command in the format of the Engine API: frames of an eight-byte header and a piece of one output. */
import { KeptOutput } from './kept-output.ts'

export interface Outputs {
  readonly stdout: string
  readonly stderr: string
  /** The signal ended the reading early. */
  readonly isCut: boolean
}

const HEADER_BYTES = 8
const STDERR = 2

/** Keeps the first `bytes` of each output and drops the rest. Rejects if the stream breaks off before the signal. */
export const readOutputs = async (stream: AsyncIterable<Buffer>, bytes: number, signal: AbortSignal): Promise<Outputs> => {
  const stdout = new KeptOutput(bytes)
  const stderr = new KeptOutput(bytes)
  const frames = new Frames((isError, piece) => (isError ? stderr : stdout).add(piece))
  try {
    for await (const piece of stream) frames.push(piece)
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
  return { stdout: stdout.text, stderr: stderr.text, isCut: signal.aborted }
}

class Frames {
  readonly #take: (isError: boolean, piece: Buffer) => void
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  /** The bytes of the current frame that have not arrived yet. */
  #left = 0

  constructor(take: (isError: boolean, piece: Buffer) => void) {
    this.#take = take
  }

  push(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0) {
      if (this.#left === 0) {
        const part = rest.subarray(0, HEADER_BYTES - this.#headerBytes)
        part.copy(this.#header, this.#headerBytes)
        this.#headerBytes += part.length
        rest = rest.subarray(part.length)
        if (this.#headerBytes < HEADER_BYTES) return
        this.#left = this.#header.readUInt32BE(4)
        this.#headerBytes = 0
        continue
      }
      const piece = rest.subarray(0, this.#left)
      this.#take(this.#header[0] === STDERR, piece)
      this.#left -= piece.length
      rest = rest.subarray(piece.length)
    }
  }
}
