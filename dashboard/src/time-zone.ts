/** Says whether times are shown in the local time zone or in UTC; kept in this browser. */
import { createStore } from './store.ts'

export const TIME_ZONES = ['local', 'UTC'] as const
export type TimeZone = (typeof TIME_ZONES)[number]

const NAME = 'patchbay.time-zone'

export const timeZone = createStore<TimeZone>(TIME_ZONES.find((zone) => zone === localStorage.getItem(NAME)) ?? 'local')

export const chooseTimeZone = (chosen: TimeZone): void => {
  localStorage.setItem(NAME, chosen)
  timeZone.set(chosen)
}
