/** Gives an answer up whose client takes nothing of it for too long. */
import type { Clock } from '../lib/clock.ts'

export interface UnreadWatch {
  /** The client has taken something. */
  taken(): void
  stop(): void
}

/** One timer for each silence, not for each piece. */
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
