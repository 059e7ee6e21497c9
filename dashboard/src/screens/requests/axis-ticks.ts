const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Steps between the ticks of an axis in time, in milliseconds: round in the unit in which they are read. */
const STEPS_MS: readonly number[] = [
  ...[0.1, 1, 10, 100, 1000].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 6, 12].map((hours) => hours * HOUR_MS),
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
  const step = STEPS_MS.find((one) => endMs / one <= STEPS_MAX) ?? Math.ceil(endMs / STEPS_MAX / DAY_MS) * DAY_MS
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => ({
    share: (index * step) / endMs,
    label: labelOf(index * step, endMs),
  }))
}

const labelOf = (ms: number, endMs: number): string => {
  if (ms === 0) return '0'
  if (endMs < 1000) return `${Number(ms.toFixed(1))} ms`
  if (ms < MINUTE_MS) return `${Number((ms / 1000).toFixed(1))} s`
  const seconds = Math.round(ms / 1000)
  const parts = [`${Math.floor(seconds / 3600)} h`, `${Math.floor(seconds / 60) % 60} min`, `${seconds % 60} s`]
  return parts.filter((part) => !part.startsWith('0 ')).join(' ')
}
