/** Formats figures for people. */
import { timeZone } from './time-zone.ts'
import { exactMoney } from './units.ts'

const dollars = (digits: number, least = digits): Intl.NumberFormat =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: least, maximumFractionDigits: digits })

const WHOLE = dollars(2)
const CENTS = dollars(4, 2)
const TINY = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumSignificantDigits: 1,
  maximumSignificantDigits: 2,
})

/** Less takes more digits than a column has room for, and a cut number looks like a smaller one. */
const LEAST = 0.000001

/** Never `$0.00` for a cost above zero: `$0.00041`, and `<$0.000001` for less than that. */
export const money = (amount: number | null | undefined): string => {
  if (amount === null || amount === undefined) return '–'
  if (amount === 0) return '$0'
  if (amount > 0 && amount < LEAST) return `<${TINY.format(LEAST)}`
  const size = Math.abs(amount)
  return (size >= 1 ? WHOLE : size >= 0.01 ? CENTS : TINY).format(amount)
}

/** `+$0.29`, `−$1.20`, `same`; `new` where there was nothing before, and `–` where that is not known. */
export const change = (now: number, before: number | null): string => changeIn(now, before, money)
export const exactChange = (now: number, before: number | null): string => changeIn(now, before, exactMoney)

const changeIn = (now: number, before: number | null, written: (amount: number) => string): string => {
  if (before === null) return '–'
  if (before === 0) return now === 0 ? 'same' : 'new'
  if (written(now) === written(before)) return 'same'
  return `${now > before ? '+' : '−'}${written(Math.abs(now - before))}`
}

const COUNT = new Intl.NumberFormat('en-US')
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

export const count = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : COUNT.format(value))
/** `1 key`, `2,000 keys`. */
export const numbered = (value: number, word: string): string => `${COUNT.format(value)} ${word}${value === 1 ? '' : 's'}`
export const compact = (value: number): string => (Math.abs(value) < 10_000 ? COUNT.format(value) : COMPACT.format(value))

/** `03:36:06`, with the day if it is not today. */
export const clockTime = (iso: string, nowMs: number): string => {
  const { time, day } = formats()
  const date = new Date(iso)
  const dayOfIt = day.format(date)
  return dayOfIt === day.format(nowMs) ? time.format(date) : `${dayOfIt} ${time.format(date)}`
}

export const instant = (iso: string): string => formats().instant.format(new Date(iso))

/** `Sun 29 Nov, 01:00 UTC`. */
export const hourOfDay = (iso: string): string => formats().hour.format(new Date(iso))

/** `29 Nov UTC`. */
export const dayOfUtc = (iso: string): string => `${UTC.day.format(new Date(iso))} UTC`

const formatsIn = (zone: { readonly timeZone?: 'UTC' }) => ({
  time: new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', ...zone }),
  day: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone }),
  hour: new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...zone,
  }),
  instant: new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    // The month by its name, since 01/12 is read differently in different countries.
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...zone,
  }),
})

/** Created once: creating a format takes longer than drawing the row that uses it. */
const HERE = formatsIn({})
const UTC = formatsIn({ timeZone: 'UTC' })

const formats = (): typeof HERE => (timeZone.get() === 'UTC' ? UTC : HERE)

/** A word with a capital, as the head of a column. */
export const asHead = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
