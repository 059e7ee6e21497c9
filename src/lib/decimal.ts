/** Arithmetic on the digits of decimal numbers: binary fractions would add digits that were never written. */

/** `digits × 10^exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

/**
 * The number times `10^places` as a whole number, with halves rounded up. Null if the text is not
 * a decimal number or the result is beyond 2^53.
 */
export const scaledDecimal = (text: string, places: number): number | null => {
  const decimal = parseDecimal(text)
  if (decimal === null) return null
  const { digits, exponent } = decimal
  const shift = exponent + places
  if (shift >= 0) return safeNumber(digits * 10n ** BigInt(shift))
  const divisor = 10n ** BigInt(-shift)
  const half = digits < 0n ? -divisor / 2n : divisor / 2n
  return safeNumber((digits + half) / divisor)
}

/**
 * The number times `10^places`, written without an exponent: `1.25` moved by -6 is `0.00000125`. Throws
 * RangeError for a value that is not a decimal number.
 */
export const movedDecimal = (value: number, places: number): string => {
  const decimal = parseDecimal(String(value))
  if (decimal === null) throw new RangeError(`${value} is not a decimal number.`)
  const { digits, exponent } = decimal
  const shift = exponent + places
  const sign = digits < 0n ? '-' : ''
  const figures = String(digits < 0n ? -digits : digits)
  if (shift >= 0) return `${sign}${digits === 0n ? '0' : figures + '0'.repeat(shift)}`
  const padded = figures.padStart(1 - shift, '0')
  const fraction = padded.slice(shift).replace(/0+$/, '')
  return `${sign}${padded.slice(0, shift)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The number that the text writes in decimal; null for anything else, such as `0x10`. */
export const decimalNumber = (text: string): number | null => (parseDecimal(text) === null ? null : Number(text))

const parseDecimal = (text: string): Decimal | null => {
  const match = DECIMAL.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', power = '0'] = match
  const exponent = Number(power)
  if (whole.length + fraction.length > FIGURES_MAX || Math.abs(exponent) > EXPONENT_MAX) return null
  return { digits: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), exponent: exponent - fraction.length }
}

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** More than any price has, and still cheap to compute with. */
const FIGURES_MAX = 60
const EXPONENT_MAX = 60

const safeNumber = (whole: bigint): number | null => {
  const number = Number(whole)
  return Number.isSafeInteger(number) ? number : null
}
