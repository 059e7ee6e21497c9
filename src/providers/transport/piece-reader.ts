/** Reads the pieces of a body, within a limit of bytes. */
import { GatewayError } from '../../errors.ts'
import type { AnswerSpace } from './answer-room.ts'

export interface PieceReader {
  /**
   * The next piece; null at the end. Throws `provider_unavailable` if the connection breaks and `timeout` on silence; after `complete` both
   * count as the end.
   */
  next(): Promise<Uint8Array | null>
  /** Stops reading: before the end this closes the connection, after the end it does nothing. */
  close(): void
}

/**
 * The same pieces, for a reader that keeps them: throws `provider_unavailable` for more than `maxBytes`, and what `space` refuses with, and
 * stops reading.
 */
export const keptPieces = (pieces: PieceReader, maxBytes: number, space?: AnswerSpace): PieceReader => {
  let bytes = 0
  return {
    async next() {
      const piece = await pieces.next()
      if (piece === null) return null
      bytes += piece.byteLength
      const refusal = bytes > maxBytes ? tooLarge(maxBytes) : (space?.take(piece.byteLength) ?? null)
      if (refusal === null) return piece
      pieces.close()
      throw refusal
    },
    close: pieces.close,
  }
}

/** Throws what `keptPieces` throws. */
export const joinedText = async (source: PieceReader, maxBytes: number, space?: AnswerSpace): Promise<string> => {
  const pieces = keptPieces(source, maxBytes, space)
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) text += decoder.decode(piece, { stream: true })
  } finally {
    pieces.close()
  }
  return text + decoder.decode()
}

const tooLarge = (bytes: number): GatewayError =>
  new GatewayError('provider_unavailable', `The provider's response is larger than ${bytes} bytes.`)
