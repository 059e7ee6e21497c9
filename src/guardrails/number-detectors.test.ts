import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { Detector } from './detector.ts'
import { CREDIT_CARD, PHONE } from './number-detectors.ts'

/** The same rules, tried on every group of digits in the last forty characters; the longest number counts. */
const longest = (match: string, isNumber: (text: string, digits: string) => boolean): number | null => {
  for (let start = Math.max(match.length - 40, 0); start < match.length; start += 1) {
    if (/\d/.test(match.charAt(start - 1)) || !/^\+?\(?\d/.test(match.slice(start))) continue
    if (start > match.length - 40 && /[+(]/.test(match.charAt(start - 1)) && /^(?:\+\(?|\()\d/.test(match.slice(start - 1))) continue
    if (isNumber(match.slice(start), match.slice(start).replaceAll(/\D/g, ''))) return start
  }
  return null
}

const passesLuhn = (digits: string): boolean =>
  [...digits].toReversed().reduce((sum, digit, place) => {
    const counted = Number(digit) * (1 + (place % 2))
    return sum + (counted > 9 ? counted - 9 : counted)
  }, 0) %
    10 ===
  0

const isCard = (_: string, digits: string): boolean =>
  /^\d{13,19}$/.test(digits) && /^(?:2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|[3456])/.test(digits) && passesLuhn(digits)

const isPhone = (text: string, digits: string): boolean => {
  if (/^(?:(?:19|20)\d\d([./ -])[01]?\d\1[0-3]?\d|[0-3]?\d([./-])[0-3]?\d\2(?:19|20)\d\d)(?!\d)/.test(text)) return false
  if (text.startsWith('+')) return digits.length >= 8 && digits.length <= 15
  if (/^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits)) return digits.length === 10 || /\D/.test(text)
  return /^\(?0\d{1,4}\)?[ .\-/]/.test(text) && digits.length >= 9 && digits.length <= 12 && !/^0\d[./]\d\d[./]/.test(text)
}

const runs = (...units: readonly string[]) => fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 60 })
const cards = fc.oneof(runs(...'0123456789'), runs(...'04 '), runs(...'0123456789 -'), runs('4111', '1111', ' ', '5555 ', '00 '))
const phones = fc.oneof(
  runs(...'0123456789 -.'),
  runs(...'0129 (+)'),
  runs('0', '030 ', '+49 ', '(415) ', '555-', '2671', '2024-11-21 ', '1 '),
)

const cases: readonly [string, Detector, typeof isCard, fc.Arbitrary<string>][] = [
  ['a card', CREDIT_CARD, isCard, cards],
  ['a telephone number', PHONE, isPhone, phones],
]

describe('reading back from the end of a match finds the longest number that ends there:', () => {
  for (const [name, { partsOf }, isNumber, texts] of cases) {
    test(name, () => {
      let found = 0
      fc.assert(
        fc.property(texts, (text) => {
          const match = `${text}1`
          const start = longest(match, isNumber)
          expect(partsOf?.(match)).toEqual(start === null ? [] : [[start, match.length]])
          if (start !== null) found += 1
        }),
        { numRuns: 5000, seed: 1 },
      )
      expect(found).toBeGreaterThan(20)
    })
  }
})
