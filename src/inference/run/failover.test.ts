import { describe, expect, test } from 'bun:test'

import { ERROR_TYPES, errorRow, GatewayError, type ErrorType } from '../../errors.ts'
import { Unreached } from '../../providers/transport/reachability.ts'
import { credentialFault, nextStep, type Zone, zoneOf } from './failover.ts'

const failed = (type: ErrorType, zone: Zone = 'sent', upstreamStatus: number | null = null) => ({
  error: new GatewayError(type),
  zone,
  upstreamStatus,
})

test('the zone of an attempt that delivered nothing is how far its request came', () => {
  const unreached = new GatewayError('provider_unavailable', undefined, { cause: new Unreached() })
  const failure = new GatewayError('provider_unavailable')
  expect([zoneOf({ asked: false }, failure), zoneOf({ asked: true }, unreached), zoneOf({ asked: true }, failure)]).toEqual([
    'not-asked',
    'nothing-sent',
    'sent',
  ])
})

test('an answer that a guardrail withholds is asked of nobody else', () => {
  const error = new GatewayError('permission_denied', undefined, { metadata: { patterns: [] } })
  expect(nextStep({ error, zone: 'sent', upstreamStatus: 200 })).toBe('none')
})

test.each(ERROR_TYPES)('%s for tools that could not be held: nobody else is asked, whose tools could not be paid for either', (type) => {
  expect(nextStep({ error: new GatewayError(type), zone: 'unheld', upstreamStatus: null })).toBe('none')
})

test.each(ERROR_TYPES)('%s after content was delivered: nobody else is asked', (type) => {
  expect(nextStep(failed(type, 'delivered', 401))).toBe('none')
})

test.each<[ErrorType, string]>([
  ['context_length_exceeded', 'model'],
  ['max_tokens_exceeded', 'model'],
  ['string_too_long', 'model'],
  ['invalid_request', 'model'],
  ['invalid_prompt', 'model'],
  ['payload_too_large', 'model'],
  ['unprocessable', 'model'],
  ['content_policy_violation', 'model'],
  ['refusal', 'model'],
  ['invalid_image', 'model'],
  ['not_found', 'endpoint'],
  ['timeout', 'endpoint'],
  ['provider_overloaded', 'endpoint'],
  ['provider_unavailable', 'endpoint'],
  ['server', 'endpoint'],
  ['unmapped', 'endpoint'],
  ['rate_limit_exceeded', 'credential'],
])('%s: the next %s', (type, step) => {
  expect(nextStep(failed(type))).toBe(step as never)
  expect(nextStep(failed(type, 'nothing-sent'))).toBe(step as never)
  expect(nextStep(failed(type, 'not-asked'))).toBe('endpoint')
})

describe('a credential of ours that is refused', () => {
  test.each([400, 401, 402, 403, 429])('by %i: the next one', (status) => {
    const refused = failed('provider_unavailable', 'sent', status)
    expect([credentialFault(refused), nextStep(refused)]).toEqual(['refused', 'credential'])
  })

  test.each([null, 404, 409, 500, 502])('is not what %p says', (status) => {
    expect(credentialFault(failed('provider_unavailable', 'sent', status))).toBeNull()
  })

  test('is not what a 403 for the prompt says', () => {
    expect(credentialFault(failed('content_policy_violation', 'sent', 403))).toBeNull()
  })
})

test('no type that another provider may do better describes the request, but for the window of the model', () => {
  for (const type of ERROR_TYPES) {
    if (type === 'context_length_exceeded') continue
    expect(nextStep(failed(type)) === 'model').toBe(errorRow(type).failover === 'never')
  }
})
