import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createRateMeter, type Rate } from './gcra.ts'

const MINUTE = 60_000
const rate = (limit: number): Rate => ({ limit, perMs: MINUTE })

describe('a rate', () => {
  test('all of it at once, then one at a time, and all of it again after a minute without', () => {
    const meter = createRateMeter(100)
    const take = (nowMs: number) => meter.take('k', 1, rate(6), nowMs)
    expect(Array.from({ length: 6 }, () => take(0).remaining)).toEqual([5, 4, 3, 2, 1, 0])
    expect(take(0)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 10_000, resetMs: MINUTE })
    expect(take(9_999).allowed).toBe(false)
    expect(take(10_000)).toMatchObject({ allowed: true, remaining: 0 })
    expect(take(10_000).allowed).toBe(false)
    expect(take(10_000 + MINUTE)).toMatchObject({ allowed: true, remaining: 5 })
  })

  test('counts down by one, whatever the limit', () => {
    for (let limit = 1; limit <= 300; limit += 1) {
      const meter = createRateMeter(100)
      const left = Array.from({ length: limit }, () => meter.take('k', 1, rate(limit), 12_345.678).remaining)
      expect(left).toEqual(Array.from({ length: limit }, (_, taken) => limit - taken - 1))
    }
  })

  test('is not saved up: after an hour without, or at the first use, no more than all of it comes at once', () => {
    const meter = createRateMeter(100)
    meter.take('k', 1, rate(6), 0)
    for (const name of ['k', 'new']) {
      const taken = Array.from({ length: 7 }, () => meter.take(name, 1, rate(6), 60 * MINUTE))
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, true, false])
      expect(taken[0]).toEqual({ allowed: true, remaining: 5, retryAfterMs: 0, resetMs: MINUTE / 6 })
      expect(taken[5]).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0, resetMs: MINUTE })
    }
  })

  test('counts what becomes known after an hour without from then on, and has nothing left where that is more than all of it', () => {
    const meter = createRateMeter(100)
    meter.take('k', 1, rate(6), 0)
    meter.settle('k', 9, rate(6), 60 * MINUTE)
    expect(meter.take('k', 1, rate(6), 60 * MINUTE)).toEqual({ allowed: false, remaining: 0, retryAfterMs: 40_000, resetMs: 1.5 * MINUTE })
  })

  test('of which nothing is used is not remembered', () => {
    const meter = createRateMeter(100)
    meter.take('k', 2, rate(6), 0)
    meter.settle('k', -2, rate(6), 0)
    expect(meter.size).toBe(0)
  })

  test('each name has its own', () => {
    const meter = createRateMeter(100)
    expect(meter.take('a', 1, rate(1), 0).allowed).toBe(true)
    expect(meter.take('a', 1, rate(1), 0).allowed).toBe(false)
    expect(meter.take('b', 1, rate(1), 0).allowed).toBe(true)
  })

  test('of tokens: what is larger than the limit fits when nothing is used, and what was estimated too low is owed', () => {
    const meter = createRateMeter(100)
    expect(meter.take('k', 5000, rate(1000), 0).allowed).toBe(true)
    meter.settle('k', 500, rate(1000), 0)
    expect(meter.take('k', 1, rate(1000), MINUTE / 2).retryAfterMs).toBeCloseTo(60, 6)
    expect(meter.take('k', 1, rate(1000), MINUTE / 2 + 60).allowed).toBe(true)
    const other = createRateMeter(100)
    other.take('k', 1000, rate(1000), 0)
    other.settle('k', -900, rate(1000), 0)
    expect(other.take('k', 900, rate(1000), 0).allowed).toBe(true)
    expect(other.take('k', 1, rate(1000), 0).allowed).toBe(false)
  })

  test('in any minute, whenever it begins, at most twice the limit passes; over a long time, the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 300 }),
        (limit, gaps) => {
          const meter = createRateMeter(10)
          let nowMs = 0
          const passed: number[] = []
          for (const gap of gaps) {
            nowMs += gap
            if (meter.take('k', 1, rate(limit), nowMs).allowed) passed.push(nowMs)
          }
          for (const from of passed) {
            expect(passed.filter((at) => at >= from && at < from + MINUTE).length).toBeLessThanOrEqual(2 * limit)
          }
          expect(passed.length).toBeLessThanOrEqual(limit + (nowMs / MINUTE) * limit + 1)
        },
      ),
    )
  })

  test('a caller that waits as long as it was told is admitted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 50 }), (limit, amounts) => {
        const meter = createRateMeter(10)
        let nowMs = 0
        for (const amount of amounts) {
          const verdict = meter.take('k', amount, rate(limit), nowMs)
          if (verdict.allowed) continue
          nowMs += Math.ceil(verdict.retryAfterMs)
          expect(meter.take('k', amount, rate(limit), nowMs).allowed).toBe(true)
        }
      }),
    )
  })
})

test('a flood of names does not fill the memory, and those in use are not the first to go', () => {
  const meter = createRateMeter(1000)
  for (let name = 0; name < 50_000; name += 1) {
    meter.take('busy', 1, rate(6000), name)
    meter.take(`name-${name}`, 1, rate(60), name)
  }
  expect(meter.size).toBeLessThanOrEqual(1000)
  expect(meter.take('busy', 1, rate(6000), 50_000).resetMs).toBeGreaterThan(50_000)
})

test('where every name is in use, a new one takes the place of one', () => {
  const meter = createRateMeter(1000)
  for (let name = 0; name < 1001; name += 1) meter.take(`name-${name}`, 1, rate(60), 0)
  expect(meter.size).toBe(1000)
})
