/** The time: now, in a zone that the client chose. */
import { z } from 'zod'

import { invalidRequest } from '../contract/validate.ts'
import type { Clock } from '../lib/clock.ts'
import type { MakeTool } from './tool.ts'

export const datetimeTool =
  (clock: Pick<Clock, 'now'>): MakeTool =>
  ({ parameters, at }) => {
    const timezone = zone(parameters['timezone'] ?? 'UTC', `${at}.parameters.timezone`)
    return {
      description: `Tells the current date and time in the time zone ${timezone}. Call it whenever an answer depends on the present moment.`,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      run: async () => ({ fault: null, value: { datetime: inZone(clock.now(), timezone), timezone } }),
    }
  }

/** The IANA name as the system knows it. */
const zone = (value: unknown, path: string): string => {
  const name = z.string().max(100).safeParse(value)
  try {
    if (name.success) return new Intl.DateTimeFormat('en-US', { timeZone: name.data }).resolvedOptions().timeZone
  } catch {
    // A name that the system does not know: said below.
  }
  throw invalidRequest([{ path, message: 'Use a time zone of the IANA database, such as Europe/Berlin.' }])
}

/** ISO 8601 with milliseconds and the zone's offset: `2025-07-15T14:30:00.000-04:00`. */
const inZone = (epochMs: number, timeZone: string): string => {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(epochMs)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? ''
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d{2}):(\d{2})/.exec(offset) ?? []
  const shiftMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return `${new Date(epochMs + shiftMs).toISOString().slice(0, -1)}${sign}${hours}:${minutes}`
}
