import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { decimalNumber, movedDecimal, scaledDecimal } from './decimal.ts'

test('a decimal is scaled by its digits, never by a binary fraction', () => {
  expect(scaledDecimal('1.25e-06', 15)).toBe(1_250_000_000)
  expect(scaledDecimal('0.00000015', 15)).toBe(150_000_000)
  expect(scaledDecimal('-1', 9)).toBe(-1_000_000_000)
  expect(scaledDecimal('0.0000000000000005', 15)).toBe(1)
  expect(scaledDecimal('1e60', 15)).toBeNull()
  for (const text of ['', 'free', '1,25', '0x10', 'NaN', 'Infinity', '1e9999', '.5', `0.${'1'.repeat(100)}`])
    expect(scaledDecimal(text, 9)).toBeNull()
})

test('a number is written without an exponent', () => {
  expect(movedDecimal(1.25, -6)).toBe('0.00000125')
  expect(movedDecimal(0, -6)).toBe('0')
  expect(movedDecimal(15, -6)).toBe('0.000015')
  expect(movedDecimal(0.0000001, 0)).toBe('0.0000001')
  expect(movedDecimal(2.5e-7, 6)).toBe('0.25')
  expect(movedDecimal(3, 2)).toBe('300')
})

test('a price a million tokens comes back exactly from its price a token', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000_000_000_000 }), (nanos) => {
      const price = nanos / 1e9
      expect(scaledDecimal(movedDecimal(price, -6), 15)).toBe(nanos)
    }),
  )
})

test('a number that a person wrote is one in decimals', () => {
  expect(['12.50', '-2.5', '0', '1e3'].map(decimalNumber)).toEqual([12.5, -2.5, 0, 1000])
  expect(['0x10', '', ' ', '1_000', 'Infinity', '1,5', '.5'].map(decimalNumber)).toEqual(Array.from({ length: 7 }, () => null))
})
