import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { endpoint, model, planOf } from '../../../test/support/plans.ts'
import { createTestRouting } from '../../../test/support/test-routing.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { createModels } from '../../models/models.ts'
import { createAttemptOrder } from './attempt-order.ts'

/** The tags of the endpoints that are asked if each fails with this error. */
const asked = (type: ErrorType, contexts: readonly (number | null)[]): string => {
  const served = contexts.map((contextLength, index) => endpoint('abcd'.charAt(index), { contextLength }))
  const order = createAttemptOrder(planOf(served).attempts, createTestRouting(createFakeClock()), false)
  const tags: string[] = []
  for (let begun = order.first(); begun !== null;) {
    tags.push(begun.planned.endpoint.tag)
    begun = order.after({ error: new GatewayError(type), zone: 'sent', upstreamStatus: 400 })
  }
  return tags.join(' ')
}

test('a prompt that is too long for one provider is tried where the model is served with more context, and nowhere else', () => {
  expect(asked('context_length_exceeded', [100, 100, 200, 150])).toBe('a c')
  expect(asked('context_length_exceeded', [100, null])).toBe('a')
  expect(asked('context_length_exceeded', [null, 200])).toBe('a')
})

test('a request that is at fault is tried nowhere else', () => {
  expect(asked('invalid_request', [100, 200])).toBe('a')
})

describe('the retry budget of a provider', () => {
  const failed = { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 500 } as const
  const models = createModels([model('m/bad', [endpoint('p')]), model('m/ok', [endpoint('p')])], [])

  /** The number of concurrent requests that reach their second attempt, and the attempts that were not tried. */
  const second = (requests: number, named: boolean): readonly [number, readonly string[]] => {
    const routing = createTestRouting(createFakeClock())
    const { attempts } = planOf(models, { model: 'm/bad', models: ['m/bad', 'm/ok'] })
    const orders = Array.from({ length: requests }, () => createAttemptOrder(attempts, routing, named))
    for (const order of orders) order.first()
    const reached = orders.filter((order) => order.after(failed) !== null).length
    return [reached, orders.flatMap(({ notTried }) => notTried.map(({ planned, why }) => `${planned.model.id} ${why}`))]
  }

  test('does not count the models that a request names itself: each of 30 at once reaches its fallback', () => {
    expect(second(30, true)).toEqual([30, []])
  })

  test('counts what we try by ourselves, and says what it kept from being tried', () => {
    const [reached, notTried] = second(30, false)
    expect(reached).toBeLessThan(10)
    expect(notTried).toEqual(Array.from({ length: 30 - reached }, () => 'm/ok retries'))
  })
})
