/** Sums over time as columns of a chart, including columns without requests. */
import type { Usage } from './api/usage.ts'
import { dayOfUtc, hourOfDay } from './format.ts'
import type { Slot } from './parts/columns-chart.tsx'
import { slotsOf, type TimeRange } from './range.ts'

/** Each column has two values: successful requests, and errors. */
export const usageSlots = (
  { data: points, interval }: Pick<Usage, 'data' | 'interval'>,
  { from: first, to: last }: Pick<TimeRange, 'from' | 'to'>,
): readonly Slot[] => {
  const range = { from: first, to: last, interval }
  const byStart = new Map<number, { requests: number; errors: number }>()
  for (const { time, requests, errors } of points) {
    const sum = byStart.get(Date.parse(time)) ?? { requests: 0, errors: 0 }
    byStart.set(Date.parse(time), { requests: sum.requests + requests, errors: sum.errors + errors })
  }
  return slotsOf(range).map(({ from, to }) => {
    const { requests, errors } = byStart.get(Date.parse(from)) ?? { requests: 0, errors: 0 }
    return { from, to, label: slotLabel(from, range.interval), values: [requests - errors, errors] }
  })
}

/** Names the zone, since columns of a day are days of UTC in every zone, and in autumn an hour of the local time comes twice. */
export const slotLabel = (from: string, interval: TimeRange['interval']): string => (interval === 'day' ? dayOfUtc(from) : hourOfDay(from))

/** Shown beside columns that are wider than the range's usual ones. */
export const TOO_MANY = 'These are too many requests for a column a minute: each column is an hour. A shorter range has minutes.'
