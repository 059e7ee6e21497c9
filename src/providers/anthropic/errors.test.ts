import { expect, test } from 'bun:test'

import type { ErrorType } from '../../errors.ts'
import { target } from './encode.test-kit.ts'
import { anthropicFailure } from './errors.ts'

const body = (type: string, message = 'x', more: object = {}): string =>
  JSON.stringify({ type: 'error', error: { type, message, ...more }, request_id: 'req_1' })

test.each<[number, string, ErrorType]>([
  [400, body('invalid_request_error', 'max_tokens: must be positive'), 'invalid_request'],
  [400, body('invalid_request_error', 'prompt is too long: 207944 tokens > 200000 maximum'), 'context_length_exceeded'],
  [
    400,
    body('invalid_request_error', 'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000'),
    'context_length_exceeded',
  ],
  [400, body('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'), 'provider_unavailable'],
  [
    400,
    body('invalid_request_error', 'You have reached your specified API usage limits. You will regain access on 2026-12-01.'),
    'provider_unavailable',
  ],
  [400, body('invalid_request_error', 'Output blocked by content filtering policy'), 'content_policy_violation'],
  [
    400,
    body('invalid_request_error', 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5272940 bytes > 5242880 bytes'),
    'image_too_large',
  ],
  [400, body('invalid_request_error', 'At least one of the image dimensions exceed max allowed size: 8000 pixels'), 'image_too_large'],
  [400, body('invalid_request_error', 'Could not process image'), 'invalid_image'],
  [
    400,
    body('invalid_request_error', "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg'"),
    'unsupported_image_format',
  ],
  [400, body('invalid_request_error', 'Unable to download the file. Please verify the URL and try again.'), 'image_download_failed'],
  // A code says more than the type and the sentence, which may change.
  [400, body('invalid_request_error', 'x', { details: { error_code: 'organization_on_hold' } }), 'provider_unavailable'],
  [400, body('invalid_request_error', 'x', { details: { error_code: 'contract_spend_limit_reached' } }), 'provider_unavailable'],
  [429, body('rate_limit_error', 'x', { details: { error_code: 'enforced_spend_limit_reached' } }), 'provider_unavailable'],
  [400, body('invalid_request_error', 'x', { details: { error_code: 'cmek_key_unreachable' } }), 'provider_unavailable'],
  [
    400,
    body('invalid_request_error', 'messages.0.content.0: x', { details: { error_code: 'image_dimensions_too_large' } }),
    'image_too_large',
  ],
  [400, body('invalid_request_error', 'messages.0: x', { details: { error_code: 'compaction_block_misplaced' } }), 'invalid_prompt'],
  [200, body('invalid_request_error', 'x', { details: { error_code: 'organization_on_hold' } }), 'provider_unavailable'],
  [422, body('invalid_request_error'), 'unprocessable'],
  [401, body('authentication_error', 'invalid x-api-key'), 'provider_unavailable'],
  [402, body('billing_error'), 'provider_unavailable'],
  [403, body('permission_error'), 'provider_unavailable'],
  [404, body('not_found_error', 'model: claude-nope'), 'not_found'],
  [409, body('conflict_error'), 'provider_unavailable'],
  [413, body('request_too_large'), 'payload_too_large'],
  [429, body('rate_limit_error'), 'rate_limit_exceeded'],
  [500, body('api_error'), 'server'],
  [504, body('timeout_error'), 'timeout'],
  [529, body('overloaded_error', 'Overloaded'), 'provider_overloaded'],
  [529, '', 'provider_overloaded'],
  [502, '<html>Bad gateway</html>', 'provider_unavailable'],
  // Errors inside a stream or a body of status 200.
  [200, body('overloaded_error', 'Overloaded'), 'provider_overloaded'],
  [200, body('api_error', 'Internal server error'), 'server'],
  [200, body('rate_limit_error'), 'rate_limit_exceeded'],
  [200, body('invalid_request_error'), 'invalid_request'],
  [200, body('authentication_error'), 'provider_unavailable'],
  [200, body('novel_error'), 'unmapped'],
  [200, 'not json', 'provider_unavailable'],
  // Errors of an upstream that is a gateway with our names for types.
  [400, body('invalid_request_error', 'x', { error_type: 'max_tokens_exceeded' }), 'max_tokens_exceeded'],
  [401, body('authentication_error', 'x', { error_type: 'authentication' }), 'provider_unavailable'],
])('%p %s is %s', (status, text, type) => {
  expect(anthropicFailure(status, text, target()).type).toBe(type)
})

test('the wait, the cause and the provider are shown; the state of our account is not', () => {
  const limited = anthropicFailure(
    429,
    body('rate_limit_error', 'Slow down.', { details: { error_code: 'ramp_limit_exceeded' } }),
    target(),
    12,
  )
  expect([limited.retryAfterSeconds, limited.message]).toEqual([12, 'Anthropic: Slow down.'])
  expect(limited.metadata).toMatchObject({ provider_name: 'Anthropic', provider_code: 'ramp_limit_exceeded' })
  const spent = anthropicFailure(
    400,
    body('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    target(),
  )
  expect(spent.message).toContain('refused the credential')
  expect(anthropicFailure(200, body('permission_error', 'org_123 may not.'), target()).message).toContain('refused the credential')
})

test('the details of a fault of the request are shown, by which Anthropic’s SDKs choose the class of an error', () => {
  const asked = { ...target(), apiKey: 'key-0123456789abcdef' }
  const detailsOf = (details: object, type = 'invalid_request_error') =>
    anthropicFailure(400, body(type, 'x', { details }), asked).metadata['details']
  const dimensions = { error_code: 'image_dimensions_too_large', max_side_length_pixels: 8000, paths: ['messages[0].content[1]'] }
  expect(detailsOf(dimensions)).toEqual(dimensions)
  expect(detailsOf({ error_code: 'compaction_block_misplaced' })).toEqual({ error_code: 'compaction_block_misplaced' })
  const quoting = { error_code: 'tool_name_conflict', said: 'Words, in which anything may stand.', inside: { a: 1 }, paths: ['a b', 7] }
  expect(detailsOf(quoting)).toEqual({ error_code: 'tool_name_conflict' })
  expect(detailsOf({ max_side_length_pixels: 8000 })).toBeUndefined()
  expect(detailsOf({ error_code: 'organization_on_hold' })).toBeUndefined()
  expect(detailsOf({ error_code: 'x' }, 'billing_error')).toBeUndefined()
  expect(detailsOf({ error_code: asked.apiKey })).toEqual({ error_code: '[redacted]' })
})
