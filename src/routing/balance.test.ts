/**
 * Default balancing, by seeded simulation (docs/contract/routing.md#default-order): each provider's share, and the handling of a provider
 * that fails.
 */
import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { seeded } from '../../test/support/seeded.ts'
import { attemptOf, endpoint, newHealth, planOf, priced, tags } from '../../test/support/plans.ts'

const REQUESTS = 10_000

const sharesOf = (firsts: readonly string[]): Record<string, number> => {
  const shares: Record<string, number> = {}
  for (const tag of firsts) shares[tag] = (shares[tag] ?? 0) + 1 / firsts.length
  return shares
}

describe('the share of each provider', () => {
  test.each<[string, readonly number[]]>([
    ['1 and 3 dollars', [1, 3]],
    ['the same price', [2, 2]],
    ['three prices', [1, 1.5, 4]],
    ['one far dearer', [0.1, 20]],
  ])('follows 1/price², within 2 %: %s', (_, prices) => {
    const random = seeded(7)
    const served = prices.map((price, index) => priced('abc'.charAt(index), price))
    const shares = sharesOf(Array.from({ length: REQUESTS }, () => planOf(served, {}, { random }).attempts[0]?.endpoint.tag ?? ''))
    const total = prices.reduce((sum, price) => sum + 1 / price ** 2, 0)
    for (const [index, price] of prices.entries()) {
      expect(Math.abs((shares['abc'.charAt(index)] ?? 0) - 1 / price ** 2 / total)).toBeLessThan(0.02)
    }
  })

  test('free ones share among themselves, and leave nothing for those that cost', () => {
    const random = seeded(7)
    const served = [priced('paid', 1), priced('a', 0), priced('b', 0)]
    const shares = sharesOf(Array.from({ length: REQUESTS }, () => planOf(served, {}, { random }).attempts[0]?.endpoint.tag ?? ''))
    expect(shares['paid']).toBeUndefined()
    expect(Math.abs((shares['a'] ?? 0) - 0.5)).toBeLessThan(0.02)
  })
})

test('the others follow as fallbacks, the cheapest first', () => {
  const served = [priced('a', 1), priced('b', 3), priced('c', 2)]
  expect([0, 0.75, 0.999].map((random) => tags(planOf(served, {}, { random: () => random })))).toEqual(['a c b', 'c a b', 'b a c'])
})

test('if no price is known, the order of the list holds; unknown prices come after known ones', () => {
  expect(tags(planOf([endpoint('c'), endpoint('a')], {}, { random: () => 0.999 }))).toBe('c a')
  expect(tags(planOf([endpoint('c'), priced('a', 5)], {}, { random: () => 0.999 }))).toBe('a c')
})

test('one that was rate-limited stands last until its time is over, whatever the order', () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  const served = [priced('a', 1), priced('b', 9)]
  attemptOf(health, 'm/one a', { outcome: 'rate-limited', retryAfterSeconds: 20 })
  expect(tags(planOf(served, {}, { health }))).toBe('b a')
  expect(tags(planOf(served, { provider: { sort: 'price' } }, { health }))).toBe('b a')
  clock.advance(20_000)
  expect(tags(planOf(served, {}, { health }))).toBe('a b')
})

test('a provider that fails is avoided for 30 s and comes back; no request goes to an open breaker', () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  const random = seeded(11)
  const served = [priced('a', 1), priced('b', 2), priced('c', 2)]
  const DOWN_MS = [60_000, 120_000] as const
  const isDown = (): boolean => clock.monotonicMs() >= DOWN_MS[0] && clock.monotonicMs() < DOWN_MS[1]
  const asked: { readonly atMs: number; readonly tag: string; readonly first: boolean }[] = []
  let unserved = 0
  for (let request = 0; request < REQUESTS; request += 1) {
    clock.advance(30)
    const { attempts } = planOf(served, {}, { health, random })
    const answered = attempts.some(({ key, endpoint: { tag } }, index) => {
      const { breaker } = health.of(key)
      const failed = tag === 'a' && isDown()
      const admitted = attemptOf(health, key, { outcome: failed ? 'failure' : 'ok' })
      expect(admitted && breaker === 'open').toBe(false)
      if (admitted) asked.push({ atMs: clock.monotonicMs(), tag, first: index === 0 })
      return admitted && !failed
    })
    if (!answered) unserved += 1
  }
  const shareOfA = (fromMs: number, toMs: number): number => {
    const within = asked.filter(({ atMs, first }) => first && atMs >= fromMs && atMs < toMs)
    return within.filter(({ tag }) => tag === 'a').length / within.length
  }
  expect(unserved).toBe(0)
  // A weight of 1/1 against two weights of 1/4.
  expect(Math.abs(shareOfA(0, DOWN_MS[0]) - 2 / 3)).toBeLessThan(0.05)
  // Only the requests that it took to notice the outage, and one probe each time the breaker is half-open.
  const whileDown = asked.filter(({ atMs, tag }) => tag === 'a' && atMs >= DOWN_MS[0] && atMs < DOWN_MS[1])
  expect(whileDown.length).toBeLessThan(60)
  const firstFailure = whileDown[0]?.atMs ?? 0
  expect(asked.filter(({ atMs, tag }) => tag === 'a' && atMs > firstFailure + 5000 && atMs < firstFailure + 30_000)).toEqual([])
  expect(Math.abs(shareOfA(DOWN_MS[1] + 40_000, 30 * REQUESTS) - 2 / 3)).toBeLessThan(0.05)
})
