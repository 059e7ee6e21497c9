import { expect, test } from 'bun:test'

import { forecastOf, monthStart } from '../src/screens/spend/month.ts'

test('the forecast of a month goes on at the pace so far, by months of UTC, whose first day counts whole', () => {
  expect(monthStart(Date.parse('2026-12-31T23:59:59Z'))).toBe('2026-12-01T00:00:00.000Z')
  expect(forecastOf(10, Date.parse('2026-11-11T00:00:00Z'))).toBe(30)
  expect(forecastOf(10, Date.parse('2026-12-31T23:59:59Z'))).toBeCloseTo(10, 3)
  expect(forecastOf(10, Date.parse('2026-11-01T00:10:00Z'))).toBe(300)
  expect(forecastOf(0, Date.parse('2026-11-11T00:00:00Z'))).toBe(0)
})
