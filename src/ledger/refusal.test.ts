import { expect, test } from 'bun:test'

import { GatewayError } from '../errors.ts'
import { isBudgetRefusal, isUnpaid } from './refusal.ts'

test.each<[string, GatewayError, boolean, boolean]>([
  ['a budget of the caller', new GatewayError('permission_denied', 'no', { metadata: { limit_source: 'service_key_limit' } }), true, true],
  ['the credit of the caller', new GatewayError('payment_required', 'no', { metadata: { limit_source: 'service_credits' } }), true, true],
  ['the operator’s own bill at a provider', new GatewayError('payment_required'), false, true],
  ['another refusal', new GatewayError('permission_denied'), false, false],
])('what lacks money is told from what does not, and whose it is: %s', (_, error, isOfCaller, isMoney) => {
  expect([isBudgetRefusal(error), isUnpaid(error)]).toEqual([isOfCaller, isMoney])
})
