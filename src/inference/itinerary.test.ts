import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { endpoint, planOf } from '../../test/support/plans.ts'
import { createTestRouting } from '../../test/support/test-routing.ts'
import { GatewayError, type ErrorType } from '../errors.ts'
import { createItinerary } from './itinerary.ts'

/** The endpoints that are asked, each of which fails in the same way. */
const asked = (type: ErrorType, contexts: readonly (number | null)[]): string => {
  const served = contexts.map((contextLength, index) => endpoint('abcd'.charAt(index), { contextLength }))
  const itinerary = createItinerary(planOf(served).attempts, createTestRouting(createFakeClock()))
  const tags: string[] = []
  for (let dispatch = itinerary.first(); dispatch !== null;) {
    tags.push(dispatch.planned.endpoint.tag)
    dispatch = itinerary.after({ error: new GatewayError(type), zone: 'sent', upstreamStatus: 400 })
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
