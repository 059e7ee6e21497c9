import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { percentDecoded } from './percent-text.ts'
import { atOnce } from '../steps.ts'

const wanted = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

test('property: long text is decoded as decodeURIComponent does it, wherever its pieces end', () => {
  const unit = fc.constantFrom('%41', '%E2%82%AC', '%F0%9F%98%80', '%c3%a9', 'a', '\u{1f600}', 'é')
  const odd = fc.constantFrom('', '%', '%4', '%80', '%zz', '%E2%82', '\ud83d')
  fc.assert(
    fc.property(fc.nat(13), unit, fc.nat(4), odd, fc.nat(20), (before, repeated, count, stray, behind) => {
      const text = 'x'.repeat(before) + repeated.repeat(11_000 * count) + stray + repeated.repeat(behind)
      expect(atOnce(percentDecoded(text))).toBe(wanted(text))
    }),
    { numRuns: 200 },
  )
})

test('text of nothing but octets that continue a character is refused after a step or two', () => {
  expect(percentDecoded('%80'.repeat(1_000_000)).next()).toEqual({ done: true, value: null })
})

test('text that is four times as long is decoded in four times as many steps', () => {
  const stepsOf = (length: number): number => [...percentDecoded('%41'.repeat(length))].length
  expect(stepsOf(400_000)).toBe(10)
  expect(stepsOf(1_600_000)).toBe(37)
})
