/** Telephone numbers, social security numbers, payment cards and IP addresses: runs of digits with a meaning. */
import { parseIpv4, parseIpv6 } from '../lib/ip-address.ts'
import { detector, type Part, wholeIf } from './detector.ts'

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

/** No number that people write is longer, including separators. */
const WRITTEN_MAX = 40

/**
 * Returns the longest range from the beginning of a group of digits to the end of the match that passes the test, because numbers
 * may stand next to each other. A number that ends earlier was a match of its own.
 */
const lastNumber =
  (test: (text: string) => boolean) =>
  (match: string): readonly Part[] => {
    const from = Math.max(match.length - WRITTEN_MAX, 0)
    for (const { index } of match.slice(from).matchAll(GROUP)) {
      const start = from + index
      if (start > 0 && isDigit(match.charAt(start - 1))) continue
      if (test(match.slice(start))) return [[start, match.length]]
    }
    return []
  }

const GROUP = /\+?\(?\d+/g

const isDigit = (character: string): boolean => character >= '0' && character <= '9'

/** Luhn check, ISO/IEC 7812-1, annex B. */
export const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let place = 0; place < digits.length; place += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    sum += place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum % 10 === 0
}

/** Checks the ranges that card networks issue: 2221-2720, 3, 4, 50-69. */
const isCard = (digits: string): boolean =>
  digits.length >= 13 && digits.length <= 19 && /^(?:2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|[34]|5|6)/.test(digits) && passesLuhn(digits)

/** Between the groups that are printed on a card, more separates than between single digits. */
const BETWEEN = String.raw`[ \t.\-_/]{1,3}`
const IN_GROUPS = String.raw`(?:\d{4}${BETWEEN}\d{4}${BETWEEN}\d{4}${BETWEEN}\d{4}|\d{4}${BETWEEN}\d{6}${BETWEEN}\d{5})`

export const CREDIT_CARD = detector(String.raw`(?<![\d.])(?:\d(?:[ \-]?\d){12,}|${IN_GROUPS})(?!\d)`, {
  partsOf: lastNumber((text) => isCard(digitsOf(text))),
})

/** Excludes numbers that are never issued: area 000, 666 and 900-999, group 00, serial 0000. */
const isSsn = (text: string): boolean => !/^(?:000|666|9)|^...[ .-]00|0000$/.test(text) && text[3] === text[6]

export const SSN = detector(String.raw`(?<![\d\-.])\d{3}[ .\-]\d{2}[ .\-]\d{4}(?![\d])`, { partsOf: wholeIf(isSsn) })

/**
 * Accepts international numbers with a plus, North American ones with or without separators, and others that begin with a zero and
 * are written in groups. Other bare runs of digits are too often something else.
 */
const isPhone = (text: string): boolean => {
  if (DATE.test(text)) return false
  const digits = digitsOf(text)
  if (text.startsWith('+')) return digits.length >= 8 && digits.length <= 15
  if (/^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits)) return digits.length === 10 || /\D/.test(text)
  return /^\(?0\d{1,4}\)?[ .\-/]/.test(text) && digits.length >= 9 && digits.length <= 12 && !/^0\d[./]\d\d[./]/.test(text)
}

/** A date before a time of day has as many digits as a telephone number. */
const DATE = /^(?:(?:19|20)\d\d([./ -])[01]?\d\1[0-3]?\d|[0-3]?\d([./-])[0-3]?\d\2(?:19|20)\d\d)(?!\d)/

export const PHONE = detector(String.raw`(?<![\w.+\-])\+?\(?\d(?:[ .\-/()]{0,2}\d){6,14}(?![\w])`, { partsOf: lastNumber(isPhone) })

const isIpv6 = (text: string): boolean => /[0-9A-Fa-f]/.test(text) && parseIpv6(text) !== null

export const IP_ADDRESS = detector(
  String.raw`(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w])|(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?![\w:])`,
  {
    partsOf(match) {
      // A full stop at the end of a sentence is not part of the address.
      const text = match.length > 1 && match.endsWith('.') ? match.slice(0, -1) : match
      return parseIpv4(text) !== null || isIpv6(text) ? [[0, text.length]] : []
    },
  },
)
