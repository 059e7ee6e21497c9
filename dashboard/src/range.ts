/** The time range of a screen, as its address has it: `range=24h`, or `from` and `to`. */
import type { Search } from './search.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export type Interval = 'minute' | 'hour' | 'day'

export interface TimeRange {
  readonly from: string
  readonly to: string
  /** The width of a chart's columns over this range. */
  readonly interval: Interval
}

export const RANGES = [
  { id: '1h', title: 'Last hour', lengthMs: HOUR_MS },
  { id: '24h', title: 'Last 24 hours', lengthMs: DAY_MS },
  { id: '7d', title: 'Last 7 days', lengthMs: 7 * DAY_MS },
  { id: '30d', title: 'Last 30 days', lengthMs: 30 * DAY_MS },
] as const

export type RangeId = (typeof RANGES)[number]['id']

const DEFAULT_RANGE: RangeId = '24h'

interface ReadRange {
  readonly id: RangeId
  /** Milliseconds, if the address names two instants: they count, and `id` does not. */
  readonly instants: readonly [number, number] | null
  /** True if the address names a time that is none, so that the usual range is shown in its place. */
  readonly isFaulty: boolean
}

/** An address may be typed, or cut off where it was pasted. */
export const readRange = ({ from, to, range }: Search, usual: RangeId = DEFAULT_RANGE): ReadRange => {
  const id = RANGES.find((one) => one.id === range)?.id
  const read = { id: id ?? usual, instants: null, isFaulty: id === undefined && range !== undefined }
  if (from === undefined && to === undefined) return read
  const [first, last] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  return first < last && first >= YEAR_0 && last < YEAR_10000
    ? { ...read, instants: [first, last], isFaulty: false }
    : { ...read, isFaulty: true }
}

/** The service knows only years of four digits. */
const YEAR_0 = Date.parse('0000-01-01T00:00:00Z')
const YEAR_10000 = Date.UTC(10_000, 0)

/** The range of this address, for a link to a screen that shows the same time. */
export const rangeIn = ({ range, from, to }: Search): Search => ({ range, from, to })

/** Rounded to the minute, so that the queries stay the same when the page is rendered again. */
export const rangeOf = (search: Search, nowMs: number, usual?: RangeId): TimeRange => {
  const { id, instants } = readRange(search, usual)
  if (instants !== null) return span(...instants)
  const now = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS
  const { lengthMs } = RANGES.find((one) => one.id === id) ?? RANGES[1]
  return span(now - lengthMs, now)
}

const span = (fromMs: number, toMs: number): TimeRange => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  interval: toMs - fromMs <= 2 * HOUR_MS ? 'minute' : toMs - fromMs <= 8 * DAY_MS ? 'hour' : 'day',
})

const LENGTHS: Readonly<Record<Interval, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

/** All columns, including those with no requests. Columns begin at full minutes, hours and days of UTC. */
export const slotsOf = ({ from, to, interval }: TimeRange): readonly { readonly from: string; readonly to: string }[] => {
  const length = LENGTHS[interval]
  const first = Math.floor(Date.parse(from) / length) * length
  const slots: { from: string; to: string }[] = []
  for (let at = first; at < Date.parse(to); at += length) {
    slots.push({ from: new Date(at).toISOString(), to: new Date(at + length).toISOString() })
  }
  return slots
}
