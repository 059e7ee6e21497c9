/** Large answers of providers are read and handed on a part at a time, between which others get their turn. */
import { partsOfAnswer } from '../canonical/answer-parts.ts'
import type { Frame, TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { Turn } from '../lib/steps.ts'
import type { Attempt, ProviderContext } from './provider.ts'
import type { PieceReader } from './upstream.ts'

/** Bytes of a stream that are read at once: all work on the events in them takes no longer than a step does. */
const READ_AT_ONCE = 64 * 1024

/** The turns of one attempt, which others may end meanwhile: its reason is thrown then. */
export const turnsOf = ({ turn }: Pick<ProviderContext, 'turn'>, { connection }: Pick<Attempt, 'connection'>): Turn => {
  const { signal } = connection
  const goOn = (): void => {
    if (signal.reason instanceof GatewayError) throw signal.reason
  }
  return () => turn?.()?.then(goOn)
}

/** The same bytes, the large pieces of them in parts. */
export const piecesInTurns = (pieces: PieceReader, turn: Turn): PieceReader => {
  let rest: Uint8Array | null = null
  return {
    async next() {
      if (rest !== null) await turn()
      const piece = rest ?? (await pieces.next())
      if (piece === null || piece.byteLength <= READ_AT_ONCE) {
        rest = null
        return piece
      }
      rest = piece.subarray(READ_AT_ONCE)
      return piece.subarray(0, READ_AT_ONCE)
    },
    close: pieces.close,
  }
}

/** Hands on the words of a large event, or answer. What the client's own dialect wrote stays whole, since its text is passed on. */
export const takeInTurns = async (frames: readonly Frame[], turn: Turn, take: TakeFrames): Promise<void> => {
  if (frames.some(({ native }) => native !== undefined)) {
    await take(frames)
    return
  }
  for (const part of partsOfAnswer(frames)) {
    await turn()
    await take([part])
  }
}
