/**
 * Bounds the amount of work that somebody else's input can cause. A step is a few nanoseconds: while it lasts, nobody else is
 * answered.
 */
export interface Work {
  left: number
}

/** There is more to do than is done for anybody. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

export const createWork = (steps: number): Work => ({ left: steps })

/** Throws TooMuchWork. */
export const spend = (work: Work, steps: number): void => {
  work.left -= steps
  if (work.left < 0) throw new TooMuchWork('The work is more than is done for one request.')
}
