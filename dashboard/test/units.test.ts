import { expect, test } from 'bun:test'

import { bytes, duration, price } from '../src/units.ts'

test.each([
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [179_600, '3 min 0 s'],
])('%p milliseconds are shown as %p: none of the units is full', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  [1023, '1023 B'],
  [1024 ** 2 - 100, '1.0 MB'],
  [1.5 * 1024 ** 2, '1.5 MB'],
])('%p bytes are shown as %p', (size, text) => {
  expect(bytes(size)).toBe(text)
})

test.each([
  [2.5, '$2.50'],
  [15, '$15.00'],
  [0.075, '$0.075'],
  [0.00123, '$0.00123'],
])('a price of %p dollars is shown as %p: two decimals at least, and all that it has', (dollars, text) => {
  expect(price(dollars)).toBe(text)
})
