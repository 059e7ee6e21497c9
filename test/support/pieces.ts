/** The body of an upstream's response in a test: these pieces, each when it has arrived, then the end or this failure. */
import type { PieceReader } from '../../src/providers/transport/piece-reader.ts'

export const piecesOf = (pieces: readonly Uint8Array[], failure: Error | null = null, arrival?: () => Promise<void>): PieceReader => {
  const left = [...pieces]
  return {
    async next() {
      await arrival?.()
      const piece = left.shift() ?? null
      if (piece === null && failure !== null) throw failure
      return piece
    },
    close: () => {
      left.length = 0
    },
  }
}
