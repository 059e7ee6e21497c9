/** Says whether times are shown in the local time zone or in UTC; kept in this browser. */
import { createChoice } from './choice.ts'

export const TIME_ZONES = ['local', 'UTC'] as const
export type TimeZone = (typeof TIME_ZONES)[number]

export const timeZone = createChoice<TimeZone>('patchbay.time-zone', (kept) => TIME_ZONES.find((zone) => zone === kept) ?? 'local', String)
