/** The body of an upstream's answer in a test: these pieces, and then its end or this failure. */
import type { PieceReader } from '../../src/providers/upstream.ts'

export const piecesOf = (pieces: readonly Uint8Array[], failure: Error | null = null): PieceReader => {
  const left = [...pieces]
  return {
    next() {
      const piece = left.shift() ?? null
      return piece === null && failure !== null ? Promise.reject(failure) : Promise.resolve(piece)
    },
    close: () => {
      left.length = 0
    },
  }
}
