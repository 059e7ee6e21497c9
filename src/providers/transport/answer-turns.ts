/** Large answers of providers are read and passed on a part at a time, so that other requests get their turn between the parts. */
import { partsOfAnswer } from '../../canonical/answer-parts.ts'
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import type { Turn } from '../../lib/steps.ts'
import type { Attempt, ProviderContext } from '../provider.ts'

/** Bytes of a stream that are read in one go: the work on all events in them takes no longer than one step. */
const READ_AT_ONCE = 64 * 1024

/** The turns of one attempt. If the attempt is aborted while it waits for its turn, the reason of the abort is thrown. */
export const turnsOf = ({ turn }: Pick<ProviderContext, 'turn'>, { connection }: Pick<Attempt, 'connection'>): Turn => {
  const { signal } = connection
  const goOn = (): void => {
    if (signal.reason instanceof GatewayError) throw signal.reason
  }
  return () => turn?.()?.then(goOn)
}

/** The rest of a piece after its first READ_AT_ONCE bytes; null if the piece is small enough to be read at once, as nearly always. */
export const leftOf = (piece: Uint8Array): Uint8Array | null => (piece.byteLength > READ_AT_ONCE ? piece.subarray(READ_AT_ONCE) : null)

/** The bytes of the piece before `left`. */
export const beginningOf = (piece: Uint8Array, left: Uint8Array | null): Uint8Array =>
  left === null ? piece : piece.subarray(0, READ_AT_ONCE)

/**
 * Passes on a large event or answer part by part. Frames in the client's own dialect stay whole, since their text is passed on unchanged.
 */
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
