/** Large answers of providers are read and handed on a part at a time, between which others get their turn. */
import { partsOfAnswer } from '../canonical/answer-parts.ts'
import type { Frame, TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { Turn } from '../lib/steps.ts'
import type { Attempt, ProviderContext } from './provider.ts'

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

/** The bytes that are left of a piece once its beginning is read; null where all of it is read at once, as nearly always. */
export const leftOf = (piece: Uint8Array): Uint8Array | null => (piece.byteLength > READ_AT_ONCE ? piece.subarray(READ_AT_ONCE) : null)

/** The bytes of the piece before those. */
export const beginningOf = (piece: Uint8Array, left: Uint8Array | null): Uint8Array =>
  left === null ? piece : piece.subarray(0, READ_AT_ONCE)

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
