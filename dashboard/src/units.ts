/** Formats durations and sizes for people, each in the largest unit that it fills, shares and exact amounts. */

/** `275 ms`, `1.9 s`, `3 min 20 s`. */
export const duration = (ms: number | null | undefined): string => {
  if (ms === null || ms === undefined) return '–'
  // Rounded first, so that no unit reaches the next one: 59,960 ms are a minute.
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  if (Math.round(ms / 100) < 600) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const bytes = (size: number): string =>
  size < 1024 ? `${size} B` : Math.round(size / 1024) < 1024 ? `${Math.round(size / 1024)} KB` : `${(size / 1024 ** 2).toFixed(1)} MB`

export const percent = (share: number | null | undefined): string => {
  if (share === null || share === undefined || Number.isNaN(share)) return '–'
  const value = share * 100
  // Only what is whole is written so: 100 % says that nothing failed.
  return `${value === 0 || value >= 100 ? value.toFixed(0) : Math.min(value, 99.9).toFixed(1)} %`
}

const NANOS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 9 })

/** To the nano-dollar, the unit of accounting: `$2.50`, `$0.075`. */
export const exactMoney = (amount: number): string => (Math.round(amount * NANOS_PER_DOLLAR) === 0 ? '$0' : NANOS.format(amount))

/** A difference of sums may leave less than one, which would be `-$0.00`. */
const NANOS_PER_DOLLAR = 1e9
