/** Gives up an answer if its client reads nothing of it for too long. */
import type { Clock } from '../../lib/clock.ts'

export interface UnreadWatch {
  /** Call it when the client has read something. */
  taken(): void
  stop(): void
}

/** One timer for each silence instead of one for each piece. */
export const watchUnread = (clock: Clock, unreadMs: number, giveUp: () => void): UnreadWatch => {
  let takenMs = clock.monotonicMs()
  let cancelTimer = (): void => undefined
  const look = (): void => {
    const leftMs = takenMs + unreadMs - clock.monotonicMs()
    if (leftMs <= 0) giveUp()
    else cancelTimer = clock.after(leftMs, look)
  }
  look()
  return {
    taken: () => void (takenMs = clock.monotonicMs()),
    stop: () => cancelTimer(),
  }
}
