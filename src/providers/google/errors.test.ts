import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ERRORS, type ErrorType } from '../../errors.ts'
import { blockedPrompt, googleFailure } from './errors.ts'
import { googleTarget } from './encode.test-kit.ts'

const body = (code: number, status: string, message = 'm', details: readonly object[] = []): string =>
  JSON.stringify({ error: { code, status, message, details } })

const DEPLETED =
  'Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.'

describe('a failure of Google’s', () => {
  test.each<[number, string, ErrorType]>([
    [400, body(400, 'INVALID_ARGUMENT'), 'invalid_request'],
    [
      400,
      body(400, 'INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
      'context_length_exceeded',
    ],
    [400, body(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'provider_unavailable'],
    [400, body(400, 'INVALID_ARGUMENT', 'x', [{ reason: 'API_KEY_INVALID' }]), 'provider_unavailable'],
    [400, body(400, 'INVALID_ARGUMENT', 'Unable to process input image.'), 'invalid_image'],
    [400, body(400, 'INVALID_ARGUMENT', 'Unsupported MIME type: image/tiff'), 'unsupported_image_format'],
    [400, body(400, 'INVALID_ARGUMENT', 'Cannot fetch content from the provided URL.'), 'image_download_failed'],
    [400, body(400, 'INVALID_ARGUMENT', 'Invalid or unsupported file uri: https://x.example/a.png'), 'image_download_failed'],
    [400, body(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'), 'provider_unavailable'],
    [401, body(401, 'UNAUTHENTICATED'), 'provider_unavailable'],
    [403, body(403, 'PERMISSION_DENIED'), 'provider_unavailable'],
    [404, body(404, 'NOT_FOUND'), 'not_found'],
    [429, body(429, 'RESOURCE_EXHAUSTED'), 'rate_limit_exceeded'],
    // github.com/dyad-sh/dyad, issue 3626
    [429, body(429, 'RESOURCE_EXHAUSTED', DEPLETED), 'provider_unavailable'],
    [429, body(429, 'RESOURCE_EXHAUSTED', 'Your project has exceeded its monthly spending cap.'), 'provider_unavailable'],
    [
      429,
      body(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'),
      'rate_limit_exceeded',
    ],
    [429, '', 'rate_limit_exceeded'],
    [500, body(500, 'INTERNAL'), 'server'],
    [502, '<html>Bad Gateway</html>', 'provider_unavailable'],
    [503, body(503, 'UNAVAILABLE', 'The model is overloaded.'), 'provider_overloaded'],
    [504, body(504, 'DEADLINE_EXCEEDED'), 'timeout'],
    [200, body(429, 'RESOURCE_EXHAUSTED'), 'rate_limit_exceeded'],
    [200, body(503, ''), 'provider_overloaded'],
    [200, '{"error":{}}', 'provider_unavailable'],
    [400, `[${body(400, 'INVALID_ARGUMENT')}]`, 'invalid_request'],
    [418, '[]', 'unmapped'],
  ])('%p %s', (status, text, type) => {
    const error = googleFailure(status, text, googleTarget)
    expect([error.type, error.status]).toEqual([type, ERRORS[type].status])
    expect(error.metadata['provider_name']).toBe('Google AI Studio')
  })

  test('tells Google’s own word and sentence', () => {
    const error = googleFailure(400, body(400, 'INVALID_ARGUMENT', 'top_k must be positive.'), googleTarget)
    expect([error.message, error.metadata['provider_code']]).toEqual(['Google AI Studio: top_k must be positive.', 'INVALID_ARGUMENT'])
  })

  test('of our credential does not read as if it were the client’s, and shows no key', () => {
    const error = googleFailure(400, body(400, 'INVALID_ARGUMENT', `API key not valid: ${googleTarget.apiKey}`), googleTarget)
    expect(error.message).toBe('Google AI Studio refused the credential that this service holds for it (status 400).')
    expect(JSON.stringify(error.metadata)).not.toContain(googleTarget.apiKey)
  })

  test('tells how long to wait: its own detail, rounded up, before the header', () => {
    const recorded = readFileSync(join(import.meta.dir, '../../../test/fixtures/recorded/google/google-429-retry-info.json'), 'utf8')
    expect(googleFailure(429, recorded, googleTarget, 7)).toMatchObject({ type: 'rate_limit_exceeded', retryAfterSeconds: 35 })
    expect(googleFailure(429, body(429, 'RESOURCE_EXHAUSTED', 'm', [{ retryDelay: '0s' }]), googleTarget).retryAfterSeconds).toBe(0)
    expect(googleFailure(429, body(429, 'RESOURCE_EXHAUSTED', 'm', [{ retryDelay: 'soon' }]), googleTarget, 7).retryAfterSeconds).toBe(7)
  })
})

test('a blocked prompt is a policy violation that names its reason; feedback alone is none', () => {
  const blocked = blockedPrompt({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, googleTarget)
  expect(blocked).toMatchObject({ type: 'content_policy_violation', status: 403, metadata: { provider_code: 'PROHIBITED_CONTENT' } })
  expect(blocked?.message).toContain('The prompt was blocked (PROHIBITED_CONTENT).')
  expect(blockedPrompt({ promptFeedback: { safetyRatings: [] } }, googleTarget)).toBeNull()
  expect(blockedPrompt({}, googleTarget)).toBeNull()
})
