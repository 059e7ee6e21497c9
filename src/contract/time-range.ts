/** The time range of a list or a series. */
import { z } from 'zod'

import { GatewayError } from '../errors.ts'
import { isoTimestamp } from '../lib/clock.ts'

export const instant = z.iso
  .datetime({ offset: true })
  .or(z.iso.date())
  .meta({ id: 'InstantOrDay', description: 'An instant or a day in ISO 8601.' })

export const timeRangeQuery = {
  from: instant.optional().meta({ description: 'An instant or a day in ISO 8601; 24 hours ago when absent.' }),
  to: instant.optional().meta({ description: 'The end, which is not part of it; now when absent.' }),
}

/** ISO timestamps. */
export interface TimeRange {
  readonly from: string
  /** Null: no end. */
  readonly to: string | null
}

const DAY_MS = 86_400_000

/** `daysMax`: the maximum length in days; null: unlimited. Throws `invalid_request`. */
export const readTimeRange = (
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  { nowMs, daysMax, fromDefaultMs = DAY_MS }: { readonly nowMs: number; readonly daysMax: number | null; readonly fromDefaultMs?: number },
): TimeRange => {
  const endMs = to === undefined ? nowMs : Date.parse(to)
  const startMs = from === undefined ? Math.max(0, endMs - fromDefaultMs) : Date.parse(from)
  if (startMs > endMs)
    throw new GatewayError('invalid_request', 'from: Use a time that is not after to.', issueOf('from', 'Use a time that is not after to.'))
  if (daysMax !== null && endMs - startMs > daysMax * DAY_MS) {
    throw new GatewayError('invalid_request', `from: at most ${daysMax} days at once.`, issueOf('from', `At most ${daysMax} days at once.`))
  }
  return { from: isoTimestamp(startMs), to: to === undefined ? null : isoTimestamp(endMs) }
}

const issueOf = (path: string, message: string) => ({ metadata: { issues: [{ path, message }] } })
