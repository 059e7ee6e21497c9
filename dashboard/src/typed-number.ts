/** Numbers as people type them into a field, and as a field shows them. */

/**
 * With commas only between groups of three digits, as the page writes them, so that `12,50` is never taken for 1250. A grouped number
 * does not begin with zero: `0,125` is a decimal fraction.
 */
const NUMBER = /^\$?\s*((?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d*)?|\.\d+)$/

/** `20`, `$12.50`, `1,250`; null if the text is nothing like that. */
export const readNumber = (text: string): number | null => {
  const digits = NUMBER.exec(text.trim())?.[1]
  return digits === undefined ? null : Number(digits.replaceAll(',', ''))
}

/** A whole number above 0, or null. */
export const readCount = (text: string): number | null => {
  const value = readNumber(text)
  return value !== null && Number.isInteger(value) && value > 0 ? value : null
}

export const noAmount = (text: string): string => `"${text}" is no amount. Write it as 20 or 12.50.`

const PLAIN = new Intl.NumberFormat('en-US', { useGrouping: false, maximumSignificantDigits: 15 })

/** Writes a number so that `readNumber` reads it: without an exponent, and without the digits of binary fractions, as 0.07 * 100 has. */
export const writeNumber = (value: number): string => PLAIN.format(value)
