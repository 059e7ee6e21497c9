/** Telephone numbers, social security numbers, payment cards and IP addresses: runs of digits with a meaning. */
import { parseIpv4, parseIpv6 } from '../lib/network/ip-address.ts'
import { detector, type Part, wholeIf } from './detector.ts'

/** No number that people write is longer, including separators. */
const WRITTEN_MAX = 40

/** A number that ends with a match. */
interface Tail {
  readonly text: string
  /** How many digits it has. */
  readonly digits: number
  /** The digit at this place, counted from the last one. */
  digitAt(place: number): number
  /** The sum of the Luhn check. */
  readonly luhn: number
}

/**
 * Returns the longest range from the beginning of a group of digits to the end of the match that passes the test, because numbers
 * may stand next to each other. A number that ends earlier was a match of its own. It reads back from the end, and no further than
 * `digitsMax` digits, because in a run of digits and separators nearly every place is the end of a match.
 */
const lastNumber = (digitsMin: number, digitsMax: number, test: (tail: Tail) => boolean): ((match: string) => readonly Part[]) => {
  const written = new Uint8Array(digitsMax)
  let read = ''
  let start = 0
  let digits = 0
  let luhn = 0
  const tail: Tail = {
    get text() {
      return read.slice(start)
    },
    get digits() {
      return digits
    },
    digitAt: (place) => written[place] ?? 0,
    get luhn() {
      return luhn
    },
  }
  return (match) => {
    // One character more tells whether the first group begins earlier.
    read = match.slice(-WRITTEN_MAX - 1)
    const from = Math.max(read.length - WRITTEN_MAX, 0)
    let longest = 0
    digits = 0
    luhn = 0
    for (let at = read.length - 1; at >= from; at -= 1) {
      const digit = read.charCodeAt(at) - ZERO
      if (digit < 0 || digit > 9) continue
      if (digits === digitsMax) break
      luhn += digits % 2 === 0 ? digit : doubled(digit)
      written[digits] = digit
      digits += 1
      if (digits < digitsMin) continue
      start = groupStart(read, at, from)
      if (!isDigitAt(read, start - 1) && test(tail)) longest = read.length - start
    }
    return longest === 0 ? [] : [[match.length - longest, match.length]]
  }
}

/** A parenthesis and a plus before the first digit belong to its group. */
const groupStart = (text: string, digitAt: number, from: number): number => {
  const inside = digitAt > from && text.charCodeAt(digitAt - 1) === OPENING ? digitAt - 1 : digitAt
  return inside > from && text.charCodeAt(inside - 1) === PLUS ? inside - 1 : inside
}

const OPENING = 40
const PLUS = 43
const ZERO = 48

const isDigitAt = (text: string, at: number): boolean => {
  const digit = text.charCodeAt(at) - ZERO
  return digit >= 0 && digit <= 9
}

/** Returns what a digit counts in the Luhn check (ISO/IEC 7812-1, annex B) at every second place from the last but one. */
const doubled = (digit: number): number => digit * 2 - (digit > 4 ? 9 : 0)

/** Checks the ranges that card networks issue, by the first four digits: 2221-2720, 3, 4, 50-69. */
const isCard = ({ digits, digitAt, luhn }: Tail): boolean => {
  if (luhn % 10 !== 0) return false
  const first = [1, 2, 3, 4].reduce((number, place) => number * 10 + digitAt(digits - place), 0)
  return (first >= 2221 && first <= 2720) || (first >= 3000 && first < 7000)
}

/** Between the groups that are printed on a card, more separates than between single digits. */
const BETWEEN = String.raw`[ \t.\-_/]{1,3}`
const CARD_GROUPS = String.raw`(?:\d{4}${BETWEEN}\d{4}${BETWEEN}\d{4}${BETWEEN}\d{4}|\d{4}${BETWEEN}\d{6}${BETWEEN}\d{5})`

/**
 * A card in groups may be broken by one line end, as in text that was wrapped. Numbers of which each has a line of its own are a column of a
 * table, where one in 25 sequences would pass for a card.
 */
const BROKEN = String.raw`[ \-]?\r?\n[ \t>]{0,4}`
const BROKEN_GROUPS = [
  ['4', BROKEN, '4', '[ -]', '4', '[ -]', '4'],
  ['4', '[ -]', '4', BROKEN, '4', '[ -]', '4'],
  ['4', '[ -]', '4', '[ -]', '4', BROKEN, '4'],
  ['4', BROKEN, '6', '[ -]', '5'],
  ['4', '[ -]', '6', BROKEN, '5'],
]
  .map((parts) => parts.map((part) => (part.length === 1 ? String.raw`\d{${part}}` : part)).join(''))
  .join('|')

export const CREDIT_CARD = detector(String.raw`(?<![\d.])(?:\d(?:[ \-]?\d){12,}|${CARD_GROUPS}|${BROKEN_GROUPS})(?!\d)`, {
  partsOf: lastNumber(13, 19, isCard),
})

/** Excludes numbers that are never issued: area 000, 666 and 900-999, group 00, serial 0000. */
const isSsn = (text: string): boolean => !/^(?:000|666|9)|^...[ .-]00|0000$/.test(text) && text[3] === text[6]

export const SSN = detector(String.raw`(?<![\d\-.])\d{3}[ .\-]\d{2}[ .\-]\d{4}(?![\d])`, { partsOf: wholeIf(isSsn) })

/**
 * Accepts international numbers with a plus, North American ones with or without separators, and others that begin with a zero and
 * are written in groups. Other bare runs of digits are too often something else.
 */
const isPhone = (tail: Tail): boolean => {
  const { text, digits } = tail
  if (text.startsWith('+')) return true
  if (tail.digitAt(digits - 1) > 0) return isNorthAmerican(tail) && !DATE.test(text)
  return digits >= 9 && digits <= 12 && IN_GROUPS.test(text) && !DATE.test(text)
}

/** A number that begins with a zero, and no date. */
const IN_GROUPS = /^(?!0\d[./]\d\d[./])\(?0\d{1,4}\)?[ .\-/]/

const isNorthAmerican = ({ text, digits, digitAt }: Tail): boolean => {
  if (digits < 10 || digits > 11 || digitAt(9) < 2 || digitAt(6) < 2) return false
  return digits === 10 || (digitAt(10) === 1 && text.length > digits)
}

/** A date before a time of day has as many digits as a telephone number. */
const DATE = /^(?:(?:19|20)\d\d([./ -])[01]?\d\1[0-3]?\d|[0-3]?\d([./-])[0-3]?\d\2(?:19|20)\d\d)(?!\d)/

export const PHONE = detector(String.raw`(?<![\w.+\-])\+?\(?\d(?:[ .\-/()]{0,2}\d){6,14}(?![\w])`, { partsOf: lastNumber(8, 15, isPhone) })

/** The longest spelling of an IPv6 address. */
const ADDRESS_MAX = '0000:0000:0000:0000:0000:0000:255.255.255.255'.length

const isIpv6 = (text: string): boolean => /[0-9A-Fa-f]/.test(text) && parseIpv6(text) !== null

export const IP_ADDRESS = detector(
  String.raw`(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w])|(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?![\w:])`,
  {
    partsOf(match) {
      // A full stop at the end of a sentence is not part of the address.
      const text = match.length > 1 && match.endsWith('.') ? match.slice(0, -1) : match
      if (text.length > ADDRESS_MAX) return []
      return parseIpv4(text) !== null || isIpv6(text) ? [[0, text.length]] : []
    },
  },
)
