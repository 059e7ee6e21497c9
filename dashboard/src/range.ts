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
  /** False if it ends now, so that what comes in next is part of it. */
  readonly hasEnd: boolean
}

export const RANGES = [
  { id: '1h', title: 'Last hour', lengthMs: HOUR_MS },
  { id: '24h', title: 'Last 24 hours', lengthMs: DAY_MS },
  { id: '7d', title: 'Last 7 days', lengthMs: 7 * DAY_MS },
  { id: '30d', title: 'Last 30 days', lengthMs: 30 * DAY_MS },
] as const

/** As budgets and bills count them. */
export const MONTHS = [
  { id: 'month', title: 'This month, UTC', ago: 0 },
  { id: 'last-month', title: 'Last month, UTC', ago: 1 },
] as const

export type RangeId = (typeof RANGES)[number]['id'] | (typeof MONTHS)[number]['id']

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
  const id = [...RANGES, ...MONTHS].find((one) => one.id === range)?.id
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

/** The shortest usual range that has the instant, for an address; the day that ends with it if all of them are too short. */
export const rangeAround = (iso: string, nowMs: number): Search => {
  const at = Date.parse(iso)
  const usual = RANGES.find(({ lengthMs }) => at > nowMs - lengthMs)
  if (usual !== undefined) return { range: usual.id, from: undefined, to: undefined }
  return { range: undefined, from: new Date(at - DAY_MS).toISOString(), to: new Date(at + MINUTE_MS).toISOString() }
}

/** Rounded to the minute, so that the queries stay the same when the page is rendered again. */
export const rangeOf = (search: Search, nowMs: number, usual?: RangeId): TimeRange => {
  const { id, instants } = readRange(search, usual)
  if (instants !== null) return span(...instants, true)
  const now = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS
  const month = MONTHS.find((one) => one.id === id)
  if (month !== undefined) {
    const start = monthOf(nowMs, month.ago)
    // In its first moment it has a minute, since a range is not empty.
    return month.ago === 0 ? span(start, Math.max(now, start + MINUTE_MS), false) : span(start, monthOf(nowMs, month.ago - 1), true)
  }
  const { lengthMs } = RANGES.find((one) => one.id === id) ?? RANGES[1]
  return span(now - lengthMs, now, false)
}

/**
 * The time before the range, with which its sums are compared: a month has the month before it, as far as it has come itself, and any other
 * range one of its length. Sums are of whole hours or minutes, so it ends where the sums of the range begin.
 */
export const rangeBefore = (search: Search, nowMs: number, usual?: RangeId): Pick<TimeRange, 'from' | 'to'> => {
  const { id, instants } = readRange(search, usual)
  const { from, to, interval } = rangeOf(search, nowMs, usual)
  const step = interval === 'minute' ? MINUTE_MS : HOUR_MS
  const [first, last] = [Math.floor(Date.parse(from) / step) * step, Math.ceil(Date.parse(to) / step) * step]
  const isChosen = instants !== null || MONTHS.some((month) => month.id === id)
  const isMonth = isChosen && first === monthOf(first, 0) && last <= monthOf(first, -1)
  const start = isMonth ? monthOf(first, 1) : first - (last - first)
  const end = isMonth && last === monthOf(first, -1) ? first : Math.min(start + last - first, first)
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() }
}

/** The beginning of a month of UTC, so many months before that of the instant. */
const monthOf = (ms: number, ago: number): number => {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago)
}

const span = (fromMs: number, toMs: number, hasEnd: boolean): TimeRange => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  interval: toMs - fromMs <= 2 * HOUR_MS ? 'minute' : toMs - fromMs <= 8 * DAY_MS ? 'hour' : 'day',
  hasEnd,
})

const LENGTHS: Readonly<Record<Interval, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

/** All columns, including those with no requests. Columns begin at full minutes, hours and days of UTC. */
export const slotsOf = ({ from, to, interval }: Omit<TimeRange, 'hasEnd'>): readonly { readonly from: string; readonly to: string }[] => {
  const length = LENGTHS[interval]
  const first = Math.floor(Date.parse(from) / length) * length
  const slots: { from: string; to: string }[] = []
  for (let at = first; at < Date.parse(to); at += length) {
    slots.push({ from: new Date(at).toISOString(), to: new Date(at + length).toISOString() })
  }
  return slots
}
