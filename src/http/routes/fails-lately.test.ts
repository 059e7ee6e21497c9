import { describe, expect, test } from 'bun:test'

import { isoTimestamp } from '../../lib/clock.ts'
import { failsLately } from './fails-lately.ts'

const NOW = Date.parse('2026-11-29T03:40:00.000Z')
const minutesAgo = (minutes: number): string => isoTimestamp(NOW - minutes * 60_000)

/** The answer for an endpoint that last failed and last answered so many minutes ago, with its half hours. */
const fails = (failedAgo: number, answeredAgo: number, ...strip: readonly (readonly [ok: number, failed: number])[]): boolean =>
  failsLately(
    {
      slots: new Map(),
      okAt: minutesAgo(answeredAgo),
      lastError: { at: minutesAgo(failedAgo), type: 'rate_limit_exceeded', status: 429, message: 'Slow down.' },
    },
    strip.map(([ok, failed]) => ({ ok, failed })),
    NOW,
  )

describe('an endpoint fails lately', () => {
  test('for ten minutes after a failure that no answer has followed', () => {
    expect(fails(9.9, 11, [1, 1])).toBe(true)
    expect(fails(10, 11, [1, 1])).toBe(false)
  })

  test('for five minutes after its last failure if it failed often, whether or not it answers in between', () => {
    expect(fails(0.1, 0, [60, 40])).toBe(true)
    expect(fails(4.9, 0, [60, 40])).toBe(true)
    expect(fails(5, 0, [60, 40])).toBe(false)
  })

  test('no longer once it answers again, if its failures were few in number or in share', () => {
    expect(fails(0.1, 0, [1, 2])).toBe(false)
    expect(fails(0.1, 0, [91, 9])).toBe(false)
    expect(fails(0.1, 0, [90, 10])).toBe(true)
  })

  test('as before when a half hour begins, and with no earlier one than that', () => {
    expect(fails(0.1, 0, [60, 40], [1, 0])).toBe(true)
    expect(fails(0.1, 0, [60, 40], [1, 0], [1, 0])).toBe(false)
  })
})
