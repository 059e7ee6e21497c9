/** Says whether times are shown in the local time zone or in UTC; kept in this browser. */
import { createChoiceOf } from './choice.ts'

export const TIME_ZONES = ['local', 'UTC'] as const

export const timeZone = createChoiceOf('patchbay.time-zone', TIME_ZONES)
