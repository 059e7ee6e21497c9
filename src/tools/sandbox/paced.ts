/** Reads a command's output without delaying other work: very large output is read slowly, which makes the command wait. */
import { type Clock, pause } from '../../lib/clock.ts'

export async function* paced(output: AsyncIterable<Buffer>, clock: Pick<Clock, 'after'>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const piece of output) {
    yield piece
    bytes += piece.length
    if (bytes > AT_ONCE_BYTES) await pause(clock, PAUSE_MS)
  }
}

const AT_ONCE_BYTES = 8 * 1024 * 1024
const PAUSE_MS = 20
