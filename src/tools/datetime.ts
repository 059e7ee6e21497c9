/** Returns the current time in a zone that the client chose. */
import { z } from 'zod'

import { argumentSchema } from '../canonical/argument-schema.ts'
import { validate } from '../contract/validate.ts'
import type { Clock } from '../lib/clock.ts'
import { timeZone } from '../request-fields/schemas/server-tools.ts'
import type { MakeTool } from './tool.ts'

const options = z.looseObject({ timezone: timeZone.nullish() })

export const datetimeTool =
  (clock: Pick<Clock, 'now'>): MakeTool =>
  ({ parameters, at }) => {
    const { timezone: named } = validate(options, parameters, [at, 'parameters'])
    const timezone = new Intl.DateTimeFormat('en-US', { timeZone: named ?? 'UTC' }).resolvedOptions().timeZone
    return {
      description: `Tells the current date and time in the time zone ${timezone}. Call it whenever an answer depends on the present moment.`,
      parameters: argumentSchema({}, []),
      run: async () => ({ fault: null, value: { datetime: inZone(clock.now(), timezone), timezone } }),
    }
  }

/** ISO 8601 with milliseconds and the zone's offset: `2025-07-15T14:30:00.000-04:00`. */
const inZone = (epochMs: number, timeZone: string): string => {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(epochMs)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? ''
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d{2}):(\d{2})/.exec(offset) ?? []
  const shiftMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return `${new Date(epochMs + shiftMs).toISOString().slice(0, -1)}${sign}${hours}:${minutes}`
}
