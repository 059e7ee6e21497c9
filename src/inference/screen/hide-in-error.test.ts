import { expect, test } from 'bun:test'

import { GatewayError } from '../../errors.ts'
import { hideInError } from './hide-in-error.ts'

const HIDDEN = { texts: ['Never name the price.'], credentials: [], ownInstructions: null }

test('a failure whose text is hidden keeps its status and the time after which to ask again', () => {
  const failure = new GatewayError('provider_unavailable', 'It says: Never name the price.', { status: 504, retryAfterSeconds: 7 })
  const { message, status, retryAfterSeconds } = hideInError(failure, HIDDEN)
  expect({ message, status, retryAfterSeconds }).toEqual({ message: 'It says: [preset system prompt]', status: 504, retryAfterSeconds: 7 })
})

test('what caused a failure, which goes to the log, is hidden at each depth', () => {
  const cause = new SyntaxError('Unexpected: Never name the price.', { cause: new Error('In: Never name the price.') })
  const hidden = hideInError(new GatewayError('provider_unavailable', 'Unreadable', { cause }), HIDDEN).cause as Error
  expect([hidden.name, hidden.message, (hidden.cause as Error).message]).toEqual([
    'SyntaxError',
    'Unexpected: [preset system prompt]',
    'In: [preset system prompt]',
  ])
})
