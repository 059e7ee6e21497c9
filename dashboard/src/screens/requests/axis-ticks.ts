/** Steps between the ticks of an axis in time, in milliseconds: round in the unit in which they are read. */
const STEPS_MS: readonly number[] = [
  ...[0.1, 1, 10, 100, 1000].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
]

/** As many labels of this width fit beside each other on a phone. */
const STEPS_MAX = 4

interface Tick {
  /** The place on the axis, from 0 to 1. */
  readonly share: number
  readonly label: string
}

/** The ticks of an axis from 0 to `endMs`, which need not be round itself. */
export const axisTicks = (endMs: number): readonly Tick[] => {
  const step = STEPS_MS.find((one) => endMs / one <= STEPS_MAX) ?? endMs / 2
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => ({
    share: (index * step) / endMs,
    label: labelOf(index * step, endMs),
  }))
}

const labelOf = (ms: number, endMs: number): string => {
  if (ms === 0) return '0'
  if (endMs < 1000) return `${Number(ms.toFixed(1))} ms`
  const seconds = Number((ms / 1000).toFixed(1))
  if (seconds < 60) return `${seconds} s`
  const rest = seconds % 60
  return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${Math.round(rest)} s`}`
}
