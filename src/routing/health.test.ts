import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createHealth, type Health } from './health.ts'
import { attemptOf, newHealth } from '../../test/support/plans.ts'
import type { AttemptReport } from './endpoint-health.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

const failing = (health: Health, key: string, times: number): void => {
  for (let time = 0; time < times; time += 1) attemptOf(health, key, { outcome: 'failure' })
}

/** A model with a second endpoint, so that the first may be ejected. */
const withSpare = () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  attemptOf(health, 'm b', {})
  return { clock, health, breaker: () => health.of('m a').breaker }
}

describe('the breaker', () => {
  test('opens at five failures in a row, and no request passes for 30 s', () => {
    const { clock, health, breaker } = withSpare()
    failing(health, 'm a', 4)
    expect(breaker()).toBe('closed')
    failing(health, 'm a', 1)
    expect([breaker(), health.of('m a').retryAfterSeconds, health.begin('m a', 'a')]).toEqual(['open', 30, false])
    clock.advance(29_999)
    expect([breaker(), health.of('m a').retryAfterSeconds]).toEqual(['open', 1])
    clock.advance(1)
    expect([breaker(), health.of('m a').retryAfterSeconds]).toEqual(['half-open', null])
  })

  test('a success, or a fault of the request, between two failures begins the count anew', () => {
    for (const outcome of ['ok', 'fault-of-request'] as const) {
      const { health, breaker } = withSpare()
      failing(health, 'm a', 4)
      attemptOf(health, 'm a', { outcome })
      failing(health, 'm a', 4)
      expect(breaker()).toBe('closed')
    }
  })

  test('opens where more than half of at least 20 attempts in 30 s failed, also when none follow each other', () => {
    const { health, breaker } = withSpare()
    for (let pair = 0; pair < 9; pair += 1) {
      failing(health, 'm a', 1)
      attemptOf(health, 'm a', {})
    }
    failing(health, 'm a', 1)
    expect(breaker()).toBe('closed')
    failing(health, 'm a', 1)
    expect(breaker()).toBe('open')
  })

  test('stays closed where just half of any number of attempts failed', () => {
    const { health, breaker } = withSpare()
    for (let pair = 0; pair < 15; pair += 1) {
      attemptOf(health, 'm a', {})
      failing(health, 'm a', 1)
    }
    expect(breaker()).toBe('closed')
  })

  test('half-open lets exactly one probe through; its success closes, and the next opening is short again', () => {
    const { clock, health, breaker } = withSpare()
    failing(health, 'm a', 5)
    clock.advance(30 * SECOND)
    expect([health.begin('m a', 'a'), health.begin('m a', 'a'), breaker()]).toEqual([true, false, 'open'])
    health.end('m a', 'a', OK)
    expect(breaker()).toBe('closed')
    failing(health, 'm a', 5)
    expect(health.of('m a').retryAfterSeconds).toBe(30)
  })

  test('a probe that fails opens for 30 s more each time, up to 300 s', () => {
    const { clock, health } = withSpare()
    failing(health, 'm a', 5)
    const waits: (number | null)[] = []
    for (let opening = 0; opening < 12; opening += 1) {
      const seconds = health.of('m a').retryAfterSeconds
      waits.push(seconds)
      clock.advance((seconds ?? 0) * SECOND)
      failing(health, 'm a', 1)
    }
    expect(waits).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
  })

  test('a probe that the client gave up lets another one go', () => {
    const { clock, health, breaker } = withSpare()
    failing(health, 'm a', 5)
    clock.advance(30 * SECOND)
    attemptOf(health, 'm a', { outcome: 'cancelled' })
    expect(breaker()).toBe('half-open')
  })

  test('what began before it opened, and fails after, does not keep it open longer', () => {
    const { clock, health, breaker } = withSpare()
    health.begin('m a', 'a')
    failing(health, 'm a', 5)
    clock.advance(20 * SECOND)
    health.end('m a', 'a', { ...OK, outcome: 'failure' })
    clock.advance(10 * SECOND)
    expect(breaker()).toBe('half-open')
  })

  test.each(['ok', 'failure', 'cancelled'] as const)(
    'what began before it opened, and ends as %s while the probe is out, decides nothing',
    (outcome) => {
      const { clock, health, breaker } = withSpare()
      clock.advance(SECOND)
      const startedMs = clock.monotonicMs()
      health.begin('m a', 'a')
      failing(health, 'm a', 5)
      clock.advance(30 * SECOND)
      const probeMs = clock.monotonicMs()
      expect(health.begin('m a', 'a')).toBe(true)
      health.end('m a', 'a', { ...OK, outcome, startedMs })
      expect([breaker(), health.begin('m a', 'a')]).toEqual(['open', false])
      health.end('m a', 'a', { ...OK, startedMs: probeMs })
      expect(breaker()).toBe('closed')
    },
  )

  test('never more than half of the endpoints of a model: of one none, of two one, of four two', () => {
    for (const [count, open] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 2],
    ] as const) {
      const health = newHealth()
      const keys = [...'abcd'].slice(0, count).map((tag) => `m ${tag}`)
      for (const key of keys) attemptOf(health, key, {})
      for (const key of keys) failing(health, key, 30)
      expect(keys.filter((key) => health.of(key).breaker === 'open')).toHaveLength(open)
    }
  })

  test('another model of the same provider is not ejected with it', () => {
    const { health } = withSpare()
    failing(health, 'm a', 5)
    expect(health.of('other a').breaker).toBe('closed')
  })

  test('what fails on purpose is never ejected, and never in trouble', () => {
    const health = createHealth({ clock: createFakeClock(), inFlightMax: () => 9, neverEjected: new Set(['a']) })
    attemptOf(health, 'm b', {})
    failing(health, 'm a', 50)
    attemptOf(health, 'm a', { outcome: 'rate-limited' })
    expect(health.of('m a')).toMatchObject({ breaker: 'closed', troubled: false, cooling: false })
  })
})

describe('a rate limit is no failure', () => {
  test('any number of them opens nothing; the endpoint cools for as long as it asked', () => {
    const { clock, health, breaker } = withSpare()
    for (let time = 0; time < 50; time += 1) attemptOf(health, 'm a', { outcome: 'rate-limited', retryAfterSeconds: 7 })
    expect([breaker(), health.of('m a').cooling, health.of('m a').retryAfterSeconds]).toEqual(['closed', true, 7])
    expect(health.of('m a').uptime.last5m).toBeNull()
    clock.advance(5 * SECOND + 1)
    expect(health.of('m a').retryAfterSeconds).toBe(2)
    clock.advance(2 * SECOND - 1)
    expect([health.of('m a').cooling, health.of('m a').retryAfterSeconds]).toEqual([false, null])
  })

  test('five seconds where it did not say, and never more than 300', () => {
    const { health } = withSpare()
    attemptOf(health, 'm a', { outcome: 'rate-limited' })
    expect(health.of('m a').retryAfterSeconds).toBe(5)
    attemptOf(health, 'm a', { outcome: 'rate-limited', retryAfterSeconds: 1e9 })
    expect(health.of('m a').retryAfterSeconds).toBe(300)
  })
})

test('in trouble: three failures in the last 30 s that are more than a fifth of it', () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  failing(health, 'm a', 2)
  expect(health.of('m a').troubled).toBe(false)
  failing(health, 'm a', 1)
  expect(health.of('m a').troubled).toBe(true)
  for (let time = 0; time < 12; time += 1) attemptOf(health, 'm a', {})
  expect(health.of('m a').troubled).toBe(false)
  failing(health, 'm a', 1)
  expect(health.of('m a').troubled).toBe(true)
  clock.advance(31 * SECOND)
  expect(health.of('m a').troubled).toBe(false)
})

describe('what was measured', () => {
  test('percentiles of the last five minutes, to within 5 %; and of thirty', () => {
    const clock = createFakeClock()
    const health = newHealth(clock)
    expect(health.of('m a').latencyMs).toBeNull()
    for (let value = 1; value <= 1000; value += 1) attemptOf(health, 'm a', { firstTokenMs: value, tokensPerSecond: value / 10 })
    const near = (value: number) => ({ p50: value * 500, p75: value * 750, p90: value * 900, p99: value * 990 })
    for (const [measured, wanted] of [
      [health.of('m a').latencyMs, near(1)],
      [health.of('m a').tokensPerSecond, near(0.1)],
    ] as const) {
      for (const name of ['p50', 'p75', 'p90', 'p99'] as const) {
        expect(Math.abs((measured?.[name] ?? 0) / wanted[name] - 1)).toBeLessThan(0.05)
      }
    }
    clock.advance(4.5 * MINUTE - 1)
    expect(health.of('m a').latencyMs).not.toBeNull()
    clock.advance(0.5 * MINUTE + 1)
    expect(health.of('m a').latencyMs).toBeNull()
    expect(health.of('m a').last30m.latencyMs).not.toBeNull()
    clock.advance(25 * MINUTE)
    expect(health.of('m a').last30m.latencyMs).toBeNull()
  })

  test('uptime over five minutes, half an hour and a day; null without an attempt', () => {
    const clock = createFakeClock()
    const health = newHealth(clock)
    expect(health.of('m a').uptime).toEqual({ last5m: null, last30m: null, last1d: null })
    failing(health, 'm a', 1)
    clock.advance(10 * MINUTE)
    for (let time = 0; time < 3; time += 1) attemptOf(health, 'm a', {})
    expect(health.of('m a').uptime).toEqual({ last5m: 1, last30m: 0.75, last1d: 0.75 })
    clock.advance(40 * MINUTE)
    expect(health.of('m a').uptime).toEqual({ last5m: null, last30m: null, last1d: 0.75 })
    clock.advance(25 * 60 * MINUTE)
    expect(health.of('m a').uptime.last1d).toBeNull()
  })
})

describe('what one provider has to bear', () => {
  test('no more attempts at once than its limit, over all its models', () => {
    const health = createHealth({ clock: createFakeClock(), inFlightMax: () => 2, neverEjected: new Set() })
    expect([health.begin('m a', 'a'), health.begin('n a', 'a'), health.begin('m a', 'a'), health.begin('m b', 'b')]).toEqual([
      true,
      true,
      false,
      true,
    ])
    health.end('n a', 'a', OK)
    expect(health.begin('m a', 'a')).toBe(true)
  })

  test('retries: three at once, or a fifth of the attempts that run', () => {
    const health = newHealth()
    for (let time = 0; time < 3; time += 1) {
      expect(health.mayRetry('a')).toBe(true)
      health.begin('m a', 'a', true)
    }
    health.begin('m a', 'a')
    health.end('m a', 'a', OK)
    expect([health.mayRetry('a'), health.mayRetry('b')]).toEqual([false, true])
    for (let time = 0; time < 17; time += 1) health.begin('m a', 'a')
    expect(health.mayRetry('a')).toBe(true)
    health.begin('m a', 'a', true)
    expect(health.mayRetry('a')).toBe(false)
    health.end('m a', 'a', { ...OK, retry: true })
    expect(health.mayRetry('a')).toBe(true)
  })
})

test('the obstacle to an attempt is a provider that is full, or else a breaker that is open; a half-open one is none', () => {
  const clock = createFakeClock()
  const health = createHealth({ clock, inFlightMax: () => 1, neverEjected: new Set() })
  attemptOf(health, 'm b', {})
  expect(health.obstacle('m a', 'a')).toBeNull()
  failing(health, 'm a', 5)
  expect([health.obstacle('m a', 'a'), health.obstacle('m b', 'b')]).toEqual(['broken', null])
  health.begin('n a', 'a')
  expect(health.obstacle('m a', 'a')).toBe('full')
  health.end('n a', 'a', OK)
  clock.advance(30 * SECOND)
  expect(health.obstacle('m a', 'a')).toBeNull()
})

test('an endpoint that was never tried is in no trouble, and one that was forgotten is no spare for another', () => {
  const health = newHealth()
  expect(health.of('m a')).toMatchObject({ breaker: 'closed', troubled: false, cooling: false, retryAfterSeconds: null })
  for (const key of ['m a', 'm b']) attemptOf(health, key, {})
  for (let name = 0; name < 1000; name += 1) attemptOf(health, `name-${name} local`, {})
  failing(health, 'm a', 5)
  expect(health.of('m a').breaker).toBe('closed')
})

test('any number of model names takes a fixed room, and the endpoints that run or are open stay known', () => {
  const { health, breaker } = withSpare()
  failing(health, 'm a', 5)
  health.begin('running c', 'c')
  for (let name = 0; name < 3000; name += 1) attemptOf(health, `name-${name} local`, {})
  expect(breaker()).toBe('open')
  expect(health.of('name-0 local').uptime.last5m).toBeNull()
  expect(health.of('name-2999 local').uptime.last5m).toBe(1)
  health.end('running c', 'c', OK)
  expect(health.of('running c').uptime.last5m).toBe(1)
})

const OK: AttemptReport = { outcome: 'ok', firstTokenMs: null, tokensPerSecond: null, retryAfterSeconds: null }
