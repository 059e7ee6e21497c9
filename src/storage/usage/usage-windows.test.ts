import { expect, test } from 'bun:test'

import { usageWindowsAt } from './usage-windows.ts'

test.each([
  ['2026-11-16T00:00:00.000Z', '2026-11-16', '2026-11-16', '2026-11-01'], // Monday, its first instant
  ['2026-11-22T23:59:59.999Z', '2026-11-22', '2026-11-16', '2026-11-01'], // Sunday, its last
  ['2027-01-01T12:00:00.000Z', '2027-01-01', '2026-12-28', '2027-01-01'], // a week over the year's end
  ['2028-02-29T12:00:00.000Z', '2028-02-29', '2028-02-28', '2028-02-01'],
])('at %s the day began on %s, the week on %s, the month on %s', (now, day, week, month) => {
  expect(usageWindowsAt(now)).toEqual({ day, week, month })
})
