import { expect, test } from 'bun:test'

import { readCount, readNumber, writeNumber } from '../src/typed-number.ts'

test.each([
  ['20', 20],
  [' $12.50 ', 12.5],
  ['1,250', 1250],
  ['$1,250,000.75', 1_250_000.75],
  ['.5', 0.5],
])('%p is the number %p', (text, number) => {
  expect(readNumber(text)).toBe(number)
})

test.each(['12,50', '0,125', '1.250,00', '1,25,000', '0x10', '1e3', 'Infinity', '-5', '60/min', '$', ''])(
  '%p is taken for no number',
  (text) => {
    expect(readNumber(text)).toBeNull()
  },
)

test('a number is written so that it is read as the same number, without an exponent or digits that nobody typed', () => {
  expect([1e-7, 0.07 * 100, 12_500, 20].map(writeNumber)).toEqual(['0.0000001', '7', '12500', '20'])
  expect([1e-7, 7, 12_500, 20].map((number) => readNumber(writeNumber(number)))).toEqual([1e-7, 7, 12_500, 20])
})

test('a count is a whole number above zero', () => {
  expect(['1', '1,250', '0', '2.5', 'one'].map(readCount)).toEqual([1, 1250, null, null, null])
})
