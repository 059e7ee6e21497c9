import { duration } from '../../units.ts'

/** Below this length a quarter of the axis is not a whole number of milliseconds, and rounded labels would repeat. */
const TENTHS_BELOW_MS = 10

/** The labels at the quarters of an axis, all different. */
export const axisTicks = (endMs: number): readonly string[] =>
  [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const ms = endMs * share
    return endMs < TENTHS_BELOW_MS ? `${Number(ms.toFixed(1))} ms` : duration(ms)
  })
