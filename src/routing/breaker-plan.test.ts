import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { attemptOf, newHealth, planOf, priced, reasons, refusalOf, tags } from '../../test/support/plans.ts'

const served = [priced('a', 1), priced('b', 9)]

const withOpenA = () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  attemptOf(health, 'm/one b', {})
  for (let time = 0; time < 5; time += 1) attemptOf(health, 'm/one a', { outcome: 'failure' })
  return { clock, health }
}

test('an endpoint whose breaker is open is not planned, whatever order was asked for', () => {
  const { health } = withOpenA()
  for (const provider of [null, { order: ['a'] }, { sort: 'price' }]) {
    const plan = planOf(served, { provider }, { health })
    expect([tags(plan), reasons(plan.removed)]).toEqual(['b', 'a: circuit breaker open'])
  }
})

test('503 with Retry-After until it is half-open, where nobody else may serve; then it is asked again', () => {
  const { clock, health } = withOpenA()
  const fields = { provider: { only: ['a'] } }
  clock.advance(12_000)
  const refusal = refusalOf(() => planOf(served, fields, { health }))
  expect([refusal.status, refusal.retryAfterSeconds, refusal.message]).toEqual([
    503,
    18,
    'No provider meets the requirements for m/one. Removed: a for m/one (circuit breaker open), b for m/one (provider.only).',
  ])
  clock.advance(18_000)
  expect(tags(planOf(served, fields, { health }))).toBe('a')
  health.begin('m/one a', 'a')
  expect(refusalOf(() => planOf(served, fields, { health })).retryAfterSeconds).toBe(1)
})

test('Retry-After is the time until the first of several is half-open', () => {
  const clock = createFakeClock()
  const health = newHealth(clock)
  for (const tag of ['c', 'd']) attemptOf(health, `m/one ${tag}`, {})
  for (const tag of ['a', 'b']) {
    for (let time = 0; time < 5; time += 1) attemptOf(health, `m/one ${tag}`, { outcome: 'failure' })
    clock.advance(10_000)
  }
  const all = [...served, priced('c', 1), priced('d', 1)]
  expect(refusalOf(() => planOf(all, { provider: { only: ['b', 'a'] } }, { health })).retryAfterSeconds).toBe(10)
})

test('no Retry-After where waiting would not help', () => {
  expect(refusalOf(() => planOf(served, { provider: { only: ['x'] } })).retryAfterSeconds).toBeUndefined()
})

test('the only endpoint of a model is never ejected: a failing one is better than none', () => {
  const health = newHealth()
  for (let time = 0; time < 50; time += 1) attemptOf(health, 'm/one a', { outcome: 'failure' })
  expect(tags(planOf([priced('a', 1)], {}, { health }))).toBe('a')
})
