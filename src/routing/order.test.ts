/** The order of candidates, and the reason that a plan gives for it (docs/contract/routing.md#default-order). */
import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { attemptOf, endpoint, newHealth, planOf, priced, tags } from '../../test/support/plans.ts'
import { seeded } from '../../test/support/seeded.ts'

interface Facts {
  readonly tag: string
  readonly cools: boolean
  readonly fails: boolean
  readonly isSlow: boolean
  readonly isSmall: boolean
  readonly price: number
  readonly tokensPerSecond: number
}

const anyFacts = (tag: string): fc.Arbitrary<Facts> =>
  fc.record({
    tag: fc.constant(tag),
    cools: fc.boolean(),
    fails: fc.boolean(),
    isSlow: fc.boolean(),
    isSmall: fc.boolean(),
    price: fc.constantFrom(1, 2, 3),
    tokensPerSecond: fc.constantFrom(10, 40, 160),
  })

const anyServed = fc.shuffledSubarray(['a', 'b', 'c', 'p/priority'], { minLength: 2 }).chain((names) => fc.tuple(...names.map(anyFacts)))

const anyWish = fc.record({
  order: fc.shuffledSubarray(['a', 'b', 'p/priority', 'p']),
  sort: fc.constantFrom('price', 'throughput', null),
  tier: fc.constantFrom('priority', null),
})

test('the reasons of the order count one after the other: pause, provider.order, tier, room, outage, cutoff, sort, list', () => {
  fc.assert(
    fc.property(anyServed, anyWish, fc.integer(), (served, { order, sort, tier }, seed) => {
      const health = newHealth()
      for (const { tag, cools, fails, isSlow, tokensPerSecond } of served) {
        attemptOf(health, `m/one ${tag}`, { firstTokenMs: isSlow ? 3000 : 100, tokensPerSecond })
        for (let time = 0; fails && time < 3; time += 1) attemptOf(health, `m/one ${tag}`, { outcome: 'failure' })
        if (cools) attemptOf(health, `m/one ${tag}`, { outcome: 'rate-limited' })
      }
      const endpoints = served.map(({ tag, price, isSmall }) =>
        priced(tag, price, { contextLength: isSmall ? 10 : 100_000, serviceTier: tag === 'p/priority' ? 'priority' : null }),
      )
      const fields = { user: 'x'.repeat(200), service_tier: tier, provider: { order, sort, preferred_max_latency: 1 } }
      const plan = planOf(endpoints, fields, { health, random: seeded(seed) })
      const isOfTier = ({ tag }: Facts): boolean => tag === 'p/priority'
      const kept = served.filter((each) => !isOfTier(each) || tier !== null || order.includes('p/priority'))
      const sorts = sort ?? (tier !== null && kept.some(isOfTier) ? 'throughput' : null)
      const isBalanced = sorts === null && order.length === 0
      // The endpoint of the tier goes by its own name, or by that of its provider.
      const namedAt = (each: Facts): number => {
        const [own, byProvider] = [order.indexOf(each.tag), isOfTier(each) ? order.indexOf('p') : -1]
        return own >= 0 ? own : byProvider >= 0 ? byProvider : order.length
      }
      const reasonsOf = (each: Facts): number[] => [
        Number(each.cools),
        namedAt(each),
        tier === null || isOfTier(each) ? 0 : 1,
        Number(each.isSmall),
        Number(isBalanced && each.fails),
        Number(each.isSlow),
      ]
      const measureOf = (each: Facts): number =>
        sorts === 'throughput' ? -each.tokensPerSecond : sorts === 'price' || isBalanced ? each.price : 0
      const firstDifference = (one: readonly number[], other: readonly number[]): number =>
        one.map((value, at) => value - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
      const expected = kept.toSorted((one, other) =>
        firstDifference([...reasonsOf(one), measureOf(one)], [...reasonsOf(other), measureOf(other)]),
      )
      const planned = plan.attempts.map(({ endpoint: { tag } }) => tag)
      const drawn = expected.find(({ tag }) => tag === planned[0])
      if (isBalanced && expected[0] !== undefined && drawn !== undefined) {
        // The lot decides among those alone against which no reason speaks.
        expect(reasonsOf(drawn)).toEqual(reasonsOf(expected[0]))
        expect(planned).toEqual([drawn, ...expected.filter((each) => each !== drawn)].map(({ tag }) => tag))
      } else expect(planned).toEqual(expected.map(({ tag }) => tag))
    }),
    { numRuns: 200 },
  )
})

test.each<[string, Record<string, unknown>, string]>([
  ['the only one left', { provider: { only: ['a'] } }, 'only candidate'],
  ['the lot', {}, 'price-weighted'],
  ['the order of the request', { provider: { order: ['b'], sort: 'price' } }, 'provider.order'],
  ['its sort', { provider: { sort: 'latency' } }, 'sort:latency'],
  ['the ending of a name', { model: 'm/one:exacto' }, 'sort:exacto'],
  ['the longest context', { model: 'm/one:extended' }, ':extended'],
  ['a tier that no endpoint has changes nothing', { service_tier: 'priority' }, 'price-weighted'],
])('a plan names the reason of its order: %s', (_, fields, expected) => {
  expect(planOf([priced('a', 1), priced('b', 2)], fields).order).toBe(expected)
})

test('an ending asks for the longest context, whatever it costs', () => {
  const served = [priced('short', 1, { contextLength: 1000 }), priced('untold', 1), priced('long', 9, { contextLength: 2000 })]
  expect(tags(planOf(served, { model: 'm/one:extended' }))).toBe('long short untold')
})

test('exacto: of equally exact endpoints the one that failed less comes first, and one of which nothing is known last', () => {
  const health = newHealth()
  for (const outcome of ['ok', 'failure'] as const) attemptOf(health, 'm/one a', { outcome })
  attemptOf(health, 'm/one b', {})
  const exact = { quantization: 'fp8' } as const
  const served = [endpoint('c', exact), endpoint('a', exact), endpoint('untold'), endpoint('b', exact)]
  expect(tags(planOf(served, { provider: { sort: 'exacto' } }, { health }))).toBe('b a c untold')
})

test('a remembered endpoint that is in trouble or was rate-limited leads neither a sort nor a plan in which all are', () => {
  const served = [priced('a', 1), priced('b', 2)]
  const sticky = (): string => 'm/one b'
  const troubled = newHealth()
  for (let time = 0; time < 3; time += 1) attemptOf(troubled, 'm/one b', { outcome: 'failure' })
  const asked = { session_id: 's', provider: { sort: 'price' } }
  expect(tags(planOf(served, asked, { sticky }))).toBe('b a')
  expect(tags(planOf(served, asked, { sticky, health: troubled }))).toBe('a b')
  const cooling = newHealth()
  for (const tag of ['a', 'b']) attemptOf(cooling, `m/one ${tag}`, { outcome: 'rate-limited' })
  expect(tags(planOf(served, { session_id: 's' }, { sticky, health: cooling }))).toBe('a b')
})
