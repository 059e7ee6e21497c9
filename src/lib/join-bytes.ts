import type { Steps } from './steps.ts'

/**
 * Joins the pieces of a body. The memory of a large body is allocated as it is filled, which costs more
 * than the copy itself, so the work is done in steps.
 */
export function* joinBytes(pieces: readonly Uint8Array[]): Steps<Uint8Array<ArrayBuffer>> {
  const size = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (size <= COPIED_AT_ONCE) return Buffer.concat(pieces)
  const whole = Buffer.allocUnsafeSlow(size)
  let at = 0
  let since = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.byteLength; from += COPIED_AT_ONCE) {
      const part = piece.subarray(from, from + COPIED_AT_ONCE)
      whole.set(part, at)
      at += part.byteLength
      since += part.byteLength
      if (since < COPIED_AT_ONCE) continue
      since = 0
      yield
    }
  }
  return whole
}

const COPIED_AT_ONCE = 4 * 1024 * 1024
