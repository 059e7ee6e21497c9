import { expect, test } from 'bun:test'

import { rangeBefore, rangeOf, readRange, slotsOf } from '../src/range.ts'

const NOW = Date.parse('2026-11-29T09:00:00.000Z')

test.each([
  ['a name that there is not', { range: 'nonsense' }],
  ['a name of every object', { range: 'toString' }],
  ['words', { from: 'yesterday', to: 'today' }],
  ['an end before its beginning', { from: '2026-11-29T09:00:00.000Z', to: '2026-11-28T09:00:00.000Z' }],
  ['no time between its ends', { from: '2026-11-28T09:00:00.000Z', to: '2026-11-28T09:00:00.000Z' }],
  ['half a range', { from: '2026-11-28T09:00:00.000Z' }],
  ['a year that the service does not know', { from: '+275000-01-01T00:00:00.000Z', to: '+275001-01-01T00:00:00.000Z' }],
])('an address with %s shows the usual range of its screen, and says so', (_, search) => {
  expect(readRange(search, '30d')).toEqual({ id: '30d', instants: null, isFaulty: true })
  expect(rangeOf(search, NOW, '7d')).toEqual({
    from: '2026-11-22T09:00:00.000Z',
    to: '2026-11-29T09:00:00.000Z',
    interval: 'hour',
    hasEnd: false,
  })
})

test('an address without a range, or with one that there is, is no fault', () => {
  expect(readRange({}, '30d')).toEqual({ id: '30d', instants: null, isFaulty: false })
  expect(readRange({ range: '1h' }, '30d')).toEqual({ id: '1h', instants: null, isFaulty: false })
  const [from, to] = ['2026-11-28T09:00:00.000Z', '2026-11-28T10:00:00.000Z']
  expect(readRange({ from, to })).toMatchObject({ instants: [Date.parse(from), Date.parse(to)], isFaulty: false })
  expect(rangeOf({ from, to }, NOW)).toEqual({ from, to, interval: 'minute', hasEnd: true })
})

test('a month is one of UTC: this one until now, and the last one as a whole', () => {
  expect(rangeOf({ range: 'month' }, NOW)).toMatchObject({
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-29T09:00:00.000Z',
    hasEnd: false,
  })
  expect(rangeOf({ range: 'month' }, Date.parse('2026-11-30T23:59:30.000Z'))).toMatchObject({
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
  })
  expect(rangeOf({ range: 'month' }, Date.parse('2026-12-01T00:00:00.000Z'))).toMatchObject({
    from: '2026-12-01T00:00:00.000Z',
    to: '2026-12-01T00:01:00.000Z',
  })
  expect(rangeOf({ range: 'last-month' }, Date.parse('2026-11-30T23:59:30.000Z'))).toMatchObject({ from: '2026-10-01T00:00:00.000Z' })
  expect(rangeOf({ range: 'last-month' }, Date.parse('2027-01-31T23:59:00.000Z'))).toMatchObject({
    from: '2026-12-01T00:00:00.000Z',
    to: '2027-01-01T00:00:00.000Z',
    hasEnd: true,
  })
})

test.each([
  ['this month with as much of the last one', { range: 'month' }, '2026-10-01T00:00:00.000Z', '2026-10-29T09:00:00.000Z'],
  ['the last month with the whole one before it', { range: 'last-month' }, '2026-09-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z'],
  [
    'a month between two instants with the whole one before it',
    { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' },
    '2026-02-01T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
  ],
  [
    'days that the shorter month before does not have with all of it',
    { from: '2026-03-01T00:00:00.000Z', to: '2026-03-30T00:00:00.000Z' },
    '2026-02-01T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
  ],
  [
    'a time that begins within an hour with the whole hours before those that are summed',
    { from: '2026-11-28T08:30:00.000Z', to: '2026-11-28T12:30:00.000Z' },
    '2026-11-28T03:00:00.000Z',
    '2026-11-28T08:00:00.000Z',
  ],
  ['a rolling range with one of its length', { range: '7d' }, '2026-11-15T09:00:00.000Z', '2026-11-22T09:00:00.000Z'],
  [
    'minutes with minutes',
    { from: '2026-11-28T08:30:00.000Z', to: '2026-11-28T09:30:00.000Z' },
    '2026-11-28T07:30:00.000Z',
    '2026-11-28T08:30:00.000Z',
  ],
])('sums compare %s', (_, search, from, to) => {
  expect(rangeBefore(search, NOW)).toEqual({ from, to })
})

test('on the first of a month, the last 24 hours are compared with the day before them', () => {
  expect(rangeBefore({ range: '24h' }, Date.parse('2026-11-02T00:30:00.000Z'))).toEqual({
    from: '2026-10-30T23:00:00.000Z',
    to: '2026-11-01T00:00:00.000Z',
  })
})

test.each([
  ['two hours', '2026-11-28T11:00:00.000Z', 'minute'],
  ['a little more', '2026-11-28T11:00:00.001Z', 'hour'],
  ['eight days', '2026-12-06T09:00:00.000Z', 'hour'],
  ['a little more than that', '2026-12-06T09:00:00.001Z', 'day'],
] as const)('the columns of %s: until %s each is a %s', (_, to, interval) => {
  expect(rangeOf({ from: '2026-11-28T09:00:00.000Z', to }, NOW).interval).toBe(interval)
})

test('columns begin at full hours, with the one in which the range begins, and none begins at its end', () => {
  const slots = slotsOf({ from: '2026-11-28T09:30:00.000Z', to: '2026-11-28T12:00:00.000Z', interval: 'hour' })
  expect(slots.map(({ from }) => from)).toEqual(['2026-11-28T09:00:00.000Z', '2026-11-28T10:00:00.000Z', '2026-11-28T11:00:00.000Z'])
  expect(slots.at(-1)?.to).toBe('2026-11-28T12:00:00.000Z')
})
