/** Limits the work that untrusted input can cause. A step takes a few nanoseconds, during which nobody else is answered. */
export interface Work {
  left: number
}

/** The input needs more work than is done for anybody. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

export const createWork = (steps: number): Work => ({ left: steps })

/** Throws TooMuchWork. */
export const spend = (work: Work, steps: number): void => {
  work.left -= steps
  if (work.left < 0) throw new TooMuchWork('The work is more than is done for one request.')
}
