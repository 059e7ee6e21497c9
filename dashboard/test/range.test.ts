import { expect, test } from 'bun:test'

import { rangeOf, readRange } from '../src/range.ts'

const NOW = Date.parse('2026-11-29T09:00:00.000Z')

test.each([
  ['a name that there is not', { range: 'nonsense' }],
  ['a name of every object', { range: 'toString' }],
  ['words', { from: 'yesterday', to: 'today' }],
  ['an end before its beginning', { from: '2026-11-29T09:00:00.000Z', to: '2026-11-28T09:00:00.000Z' }],
  ['half a range', { from: '2026-11-28T09:00:00.000Z' }],
  ['a year that the service does not know', { from: '+275000-01-01T00:00:00.000Z', to: '+275001-01-01T00:00:00.000Z' }],
])('an address with %s shows the usual range of its screen, and says so', (_, search) => {
  expect(readRange(search, '30d')).toEqual({ id: '30d', instants: null, isFaulty: true })
  expect(rangeOf(search, NOW, '7d')).toEqual({ from: '2026-11-22T09:00:00.000Z', to: '2026-11-29T09:00:00.000Z', interval: 'hour' })
})

test('an address without a range, or with one that there is, is no fault', () => {
  expect(readRange({}, '30d')).toEqual({ id: '30d', instants: null, isFaulty: false })
  expect(readRange({ range: '1h' }, '30d')).toEqual({ id: '1h', instants: null, isFaulty: false })
  const [from, to] = ['2026-11-28T09:00:00.000Z', '2026-11-28T10:00:00.000Z']
  expect(readRange({ from, to })).toMatchObject({ instants: [Date.parse(from), Date.parse(to)], isFaulty: false })
  expect(rangeOf({ from, to }, NOW)).toEqual({ from, to, interval: 'minute' })
})
