import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { seeded } from '../../test/support/seeded.ts'
import { DEFAULT_HALT, type HaltRule } from '../contract/halt-rule.ts'
import { fisher, checkForHalt, type HaltCheck, type Sample } from './halt-rule.ts'

const sample = (version: number, requests: number, errors: number, costs: readonly number[] = []): Sample => ({
  version,
  requests,
  errors,
  costSum: costs.reduce((sum, cost) => sum + cost, 0),
  costSquares: costs.reduce((sum, cost) => sum + cost * cost, 0),
})

/**
 * Simulates a rollout that draws each request and checks the rule after each one; returns the candidate's number of requests when it
 * halted, or null if it never did.
 */
const simulate = (
  random: () => number,
  rule: HaltRule,
  { share, most, fails, costs }: { share: number; most: number; fails: readonly [number, number]; costs: readonly [number, number] },
): number | null => {
  const of = [sample(1, 0, 0), sample(2, 0, 0)].map((one) => ({ ...one }))
  let looks: HaltCheck['looks'] = {}
  for (let request = 0; request < most; request += 1) {
    const which = random() < share ? 1 : 0
    const one = of[which]!
    // Realistic costs are skewed: a few are many times the usual one.
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const cost = costs[which] * 1e6 * Math.exp(normal)
    Object.assign(one, {
      requests: one.requests + 1,
      errors: one.errors + (random() < fails[which] ? 1 : 0),
      costSum: one.costSum + cost,
      costSquares: one.costSquares + cost * cost,
    })
    const checked = checkForHalt(rule, of[0]!, [of[1]!], looks)
    if (checked === null) continue
    looks = checked.looks
    if (checked.reason !== null) return of[1]!.requests
  }
  return null
}

describe('the test of failures', () => {
  test('gives the tail of the hypergeometric distribution', () => {
    // 3 failures of 10 against 0 of 10: 10·9·8 / 20·19·18.
    expect(fisher(3, 10, 0, 10)).toBeCloseTo((10 * 9 * 8) / (20 * 19 * 18), 9)
    expect(fisher(0, 10, 5, 10)).toBeCloseTo(1, 9)
    expect(fisher(0, 50, 0, 50)).toBeCloseTo(1, 9)
    expect(fisher(50, 50, 0, 450)).toBeLessThan(1e-50)
    expect(fisher(10_000, 100_000, 90_000, 900_000)).toBeGreaterThan(0.4)
  })

  test('is exact, as counted in whole numbers', () => {
    const side = fc.integer({ min: 1, max: 60 }).chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)))
    fc.assert(
      fc.property(side, side, ([k, n], [otherK, otherN]) => {
        const failures = k + otherK
        let ways = 0n
        for (let at = k; at <= Math.min(failures, n); at += 1) ways += choose(n, at) * choose(otherN, failures - at)
        const exact = Number((ways * 10n ** 15n) / choose(n + otherN, failures)) / 1e15
        expect(Math.abs(fisher(k, n, otherK, otherN) - exact)).toBeLessThan(1e-10)
      }),
    )
  })
})

const choose = (of: number, some: number): bigint => {
  let ways = 1n
  for (let at = 1; at <= some; at += 1) ways = (ways * BigInt(of - some + at)) / BigInt(at)
  return ways
}

describe('a rollout', () => {
  test('is not looked at before both versions have their requests, and then each time that a quarter more came', () => {
    expect(checkForHalt(DEFAULT_HALT, sample(1, 1000, 0), [sample(2, 49, 49)], {})).toBeNull()
    expect(checkForHalt(DEFAULT_HALT, sample(1, 49, 0), [sample(2, 1000, 1000)], {})).toBeNull()
    const first = checkForHalt(DEFAULT_HALT, sample(1, 500, 0), [sample(2, 50, 0)], {})
    expect(first).toEqual({ looks: { 2: 1 }, reason: null })
    expect(checkForHalt(DEFAULT_HALT, sample(1, 600, 0), [sample(2, 62, 0)], { 2: 1 })).toBeNull()
    expect(checkForHalt(DEFAULT_HALT, sample(1, 600, 0), [sample(2, 63, 0)], { 2: 1 })?.looks).toEqual({ 2: 2 })
  })

  test('needs a rarer chance to halt at each further look, and for each further version, so that looking often is no risk', () => {
    const live = sample(1, 500, 5)
    const halts = (errors: number, looks: number, versions = 1): boolean => {
      const others = Array.from({ length: versions - 1 }, (_, at) => sample(at + 3, 500, 0))
      return checkForHalt(DEFAULT_HALT, live, [sample(2, 500, errors), ...others], { 2: looks })?.reason !== null
    }
    const least = (looks: number, versions?: number): number => {
      let errors = 0
      while (!halts(errors, looks, versions)) errors += 1
      return errors
    }
    const chance = (errors: number): number => fisher(errors, 500, 5, 500)
    const bound = (1 - DEFAULT_HALT.confidence) / 2
    for (const [looks, versions, part] of [
      [0, 1, 2],
      [4, 1, 30],
      [0, 5, 10],
    ] as const) {
      const errors = least(looks, versions)
      expect(chance(errors)).toBeLessThan(bound / part)
      expect(chance(errors - 1)).toBeGreaterThanOrEqual(bound / part)
    }
  })

  test('compares the mean cost with that of the live version and the allowed increase, by how much both vary', () => {
    const costing = (version: number, cost: number): Sample =>
      sample(
        version,
        1000,
        0,
        Array.from({ length: 1000 }, (_, at) => cost + (at % 2 === 0 ? 1e6 : -1e6)),
      )
    const rule = { ...DEFAULT_HALT, errors: false, cost_increase: 1 }
    const halts = (cost: number): boolean => checkForHalt(rule, costing(1, 2e6), [costing(2, cost)], {})?.reason !== null
    // At the first look the chance must be below 0.0025, which is 2.81 standard errors; the error of twice the live mean counts twice.
    const error = 1e6 * Math.sqrt((1 + 4) / 999)
    expect([halts(4e6 + 2.7 * error), halts(4e6 + 2.9 * error)]).toEqual([false, true])
  })

  test('halts at the first look where a version fails far more often, and says what it saw', () => {
    const checked = checkForHalt(DEFAULT_HALT, sample(1, 450, 3), [sample(2, 50, 20)], {})
    expect(checked?.reason).toContain('Version 2 failed in 20 of 50 requests, version 1 in 3 of 450')
  })

  test('heeds what the rule leaves out', () => {
    const dear = sample(
      2,
      200,
      0,
      Array.from({ length: 200 }, (_, at) => 5e6 + at),
    )
    const live = sample(
      1,
      200,
      0,
      Array.from({ length: 200 }, (_, at) => 1e6 + at),
    )
    expect(checkForHalt(DEFAULT_HALT, live, [dear], {})?.reason).toContain('costs $')
    expect(checkForHalt({ ...DEFAULT_HALT, cost_increase: null }, live, [dear], {})?.reason).toBeNull()
    expect(checkForHalt({ ...DEFAULT_HALT, cost_increase: 5 }, live, [dear], {})?.reason).toBeNull()
    expect(checkForHalt({ ...DEFAULT_HALT, errors: false }, sample(1, 450, 0), [sample(2, 50, 50)], {})?.reason).toBeNull()
  })

  test('compares costs from a hundred on, also where all are the same; and each version is looked at by itself', () => {
    const of = (version: number, requests: number, cost: number): Sample =>
      sample(
        version,
        requests,
        0,
        Array.from({ length: requests }, () => cost),
      )
    const reason = (live: Sample, candidate: Sample) => checkForHalt(DEFAULT_HALT, live, [candidate], {})?.reason
    expect(reason(of(1, 100, 1e6), of(2, 100, 5e6))).toContain('costs $0.005, one of version 1 $0.001')
    expect(reason(of(1, 99, 1e6), of(2, 100, 5e6))).toBeNull()
    expect(reason(of(1, 100, 1e6), of(2, 99, 5e6))).toBeNull()
    expect(reason(of(1, 100, 5e6), of(2, 100, 5e6))).toBeNull()
    const two = checkForHalt(DEFAULT_HALT, sample(1, 500, 0), [sample(2, 500, 0), sample(3, 49, 0)], { 2: 1, 3: 4 })
    expect(two).toEqual({ looks: { 2: 2, 3: 4 }, reason: null })
  })

  test('of a version that fails no more often than the live one never halts, however many requests there were', () => {
    const requests = fc.integer({ min: 50, max: 10_000_000 })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(requests, requests, share, share, (live, its, liveShare, part) => {
        const failed = Math.ceil(live * liveShare)
        const itsFailed = Math.floor(its * (failed / live) * part)
        expect(checkForHalt(DEFAULT_HALT, sample(1, live, failed), [sample(2, its, itsFailed)], {})?.reason).toBeNull()
      }),
    )
  })

  test('of versions that are alike halts in at most 1 of 100, however often it is looked at', () => {
    const random = seeded(20_261_122)
    const rule = { ...DEFAULT_HALT, min_requests: 20 }
    const runs = 300
    const halted = Array.from({ length: runs }, () =>
      simulate(random, rule, { share: 0.3, most: 3000, fails: [0.05, 0.05], costs: [1, 1] }),
    )
    expect(halted.filter((at) => at !== null).length / runs).toBeLessThanOrEqual(0.01)
  })

  test('of a version that fails three times as often, or costs twice as much, halts nearly always', () => {
    const random = seeded(7)
    const worse = { share: 0.5, most: 4000, fails: [0.03, 0.09], costs: [1, 1] } as const
    const dearer = { share: 0.5, most: 4000, fails: [0.03, 0.03], costs: [1, 2] } as const
    for (const scenario of [worse, dearer]) {
      const halted = Array.from({ length: 50 }, () => simulate(random, DEFAULT_HALT, scenario))
      expect(halted.filter((at) => at !== null).length).toBeGreaterThanOrEqual(48)
    }
  })
})
