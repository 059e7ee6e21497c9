/** The window of a scope at an instant. Boundaries are UTC (docs/contract/budgets.md#windows). */
import type { Span } from '../storage/tables/ledger-tables.ts'
import type { WindowKey } from '../storage/ledger/scope-windows.ts'
import { usageWindowsAt, utcDay, windowEnd } from '../storage/usage/usage-windows.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { spanOf, subjectOf, type Interval, type Scope, type Spender } from './scope.ts'

export const windowOf = (scope: Pick<Scope, 'kind' | 'interval'>, spender: Spender, atMs: number): WindowKey => {
  const span = spanOf(scope.interval)
  return { subject: subjectOf(scope.kind, spender), span, ...bounds(span, scope.interval, atMs) }
}

type Bounds = Pick<WindowKey, 'start' | 'end'>

/** Every request of a day is in the same windows. */
const bounds = (span: Span, interval: Interval, atMs: number): Bounds => {
  const day = utcDay(isoTimestamp(atMs))
  if (day !== lastDay) lastBounds.clear()
  lastDay = day
  const found = lastBounds.get(span) ?? boundsAt(span, interval, atMs)
  lastBounds.set(span, found)
  return found
}

let lastDay = ''
const lastBounds = new Map<Span, Bounds>()

const boundsAt = (span: Span, interval: Interval, atMs: number): Bounds => {
  if (span === 'lifetime') return { start: '', end: null }
  const { day, week, month } = usageWindowsAt(isoTimestamp(atMs))
  const end = windowEnd(interval, atMs)
  return { start: { daily: day, weekly: week, monthly: month }[span], end: end === null ? null : utcDay(end) }
}
