import { expect, test } from 'bun:test'

import { bytes, duration } from '../src/units.ts'

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
