/** The time range of a screen, as its address has it: `range=24h`, or `from` and `to`. */
import { dayOfUtc, hourOfDay } from './format.ts'
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

export const DEFAULT_RANGE = '24h'

/** The range of this address, for a link to a screen that shows the same time. */
export const rangeIn = ({ range, from, to }: Search): Search => ({ range, from, to })

/** Rounded to the minute, so that the queries stay the same when the page is rendered again. */
export const rangeOf = ({ from, to, range }: Search, nowMs: number): TimeRange => {
  const now = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS
  const [first, last] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  if (!Number.isNaN(first) && !Number.isNaN(last) && first < last) return span(first, last)
  const { lengthMs } = RANGES.find(({ id }) => id === range) ?? RANGES[1]
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

/** Names the zone, since columns of a day are days of UTC in every zone, and in autumn an hour of the local time comes twice. */
export const slotLabel = (from: string, interval: Interval): string => (interval === 'day' ? dayOfUtc(from) : hourOfDay(from))
