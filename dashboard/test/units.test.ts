import { expect, test } from 'bun:test'

import { axisTicks } from '../src/screens/requests/axis-ticks.ts'
import { bytes, duration, exactMoney, percent } from '../src/units.ts'

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
  [1234.5678912341, '$1,234.567891234'],
  // Ten amounts of a cent, less ten cents.
  [-7e-18, '$0'],
])('%p dollars are exactly %p: two decimals at least, and at most the nine of accounting', (dollars, text) => {
  expect(exactMoney(dollars)).toBe(text)
})

test.each([
  [1, '0, 0.5 ms, 1 ms'],
  [7, '0, 2 ms, 4 ms, 6 ms'],
  [274, '0, 100 ms, 200 ms'],
  [1400, '0, 0.5 s, 1 s'],
  [9000, '0, 5 s'],
  [61_000, '0, 30 s, 1 min'],
  [200_000, '0, 1 min, 2 min, 3 min'],
  [110_000, '0, 30 s, 1 min, 1 min 30 s'],
  [10_800_600, '0, 1 h, 2 h, 3 h'],
  [86_400_000, '0, 6 h, 12 h, 18 h, 24 h'],
  [400_000_000, '0, 48 h, 96 h'],
])('an axis of %p ms has round times at its ticks: %p', (endMs, labels) => {
  const ticks = axisTicks(endMs)
  expect(ticks.map(({ label }) => label).join(', ')).toBe(labels)
  expect(ticks[1]?.share).toBeCloseTo(Number.parseFloat(ticks[1]?.label ?? '') / (endMs / msOf(ticks[1]?.label ?? '')), 5)
})

const msOf = (label: string): number =>
  label.endsWith(' ms') ? 1 : label.endsWith(' h') ? 3_600_000 : label.endsWith(' min') ? 60_000 : 1000

test('a share is written as 100 % only if nothing is missing from it', () => {
  expect([1, 0.9999, 0.995, 0.00001, 0].map(percent)).toEqual(['100 %', '99.9 %', '99.5 %', '0.0 %', '0 %'])
})
