/** At most so many at once; a few more wait a little, the first in line first (docs/contract/operating.md#admission). */
import type { Clock } from '../lib/clock.ts'

export interface AdmissionQueue {
  /** True when it is let in, and must `leave`; false where the line is full or the wait was too long. */
  enter(): boolean | Promise<boolean>
  leave(): void
  readonly inside: number
  readonly waiting: number
}

export interface QueueSettings {
  /** 0: no bound. */
  readonly most: number
  readonly line: number
  readonly waitMs: number
}

export const createAdmissionQueue = (clock: Clock, settings: () => QueueSettings): AdmissionQueue => {
  /** In the order in which they came. */
  const line = new Set<(admitted: boolean) => void>()
  let inside = 0

  const admitNext = (): void => {
    const { most } = settings()
    for (const admit of line) {
      if (most > 0 && inside >= most) return
      inside += 1
      admit(true)
    }
  }

  return {
    enter() {
      const { most, line: length, waitMs } = settings()
      if (most === 0 || (inside < most && line.size === 0)) {
        inside += 1
        return true
      }
      if (line.size >= length) return false
      return new Promise((resolve) => {
        const decide = (admitted: boolean): void => {
          cancel()
          line.delete(decide)
          resolve(admitted)
        }
        const cancel = clock.after(waitMs, () => decide(false))
        line.add(decide)
      })
    },
    leave() {
      inside -= 1
      admitNext()
    },
    get inside() {
      return inside
    },
    get waiting() {
      return line.size
    },
  }
}
