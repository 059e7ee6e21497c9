import { describe, expect, test } from 'bun:test'

import { startFakeUpstream } from '../../../test/support/fake-upstream.ts'
import { usageOf } from '../../canonical/usage.ts'
import type { ErrorType } from '../../errors.ts'
import { API_KEY, asking, streaming, textOf, usageIn, finishIn, CREATED, ended, saying } from './ask.test-kit.ts'

const upstream = await startFakeUpstream()
const ask = asking(upstream)

describe('a failure inside a 200', () => {
  test.each<[string, object, ErrorType]>([
    ['a flat event', { type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null }, 'rate_limit_exceeded'],
    ['a flat event without a code', { type: 'error', code: null, message: 'x', param: null }, 'provider_unavailable'],
    [
      'a nested event',
      { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'x' } },
      'context_length_exceeded',
    ],
    ['an event of a router', { type: 'response.error', error: { code: 'server_error', message: 'x' } }, 'server'],
    [
      'an event of the kind of an error',
      { type: 'error', error: { type: 'invalid_request_error', code: null, message: 'x' } },
      'invalid_request',
    ],
    ['an error without a type', { error: { code: 503, message: 'x' } }, 'provider_overloaded'],
    ['a failed response', ended({ error: { code: 'server_error', message: 'x' } }, 'failed'), 'server'],
    [
      'a failed response that a router typed',
      ended({ error: { code: 'server_error', message: 'x' }, error_type: 'provider_overloaded' }, 'failed'),
      'provider_overloaded',
    ],
    [
      'a failed response of an empty account',
      ended({ error: { code: 'insufficient_quota', message: 'x' } }, 'failed'),
      'provider_unavailable',
    ],
    ['a failed response that says nothing', ended({ error: null }, 'failed'), 'provider_unavailable'],
    [
      'a completed response that failed',
      { type: 'response.completed', response: { status: 'failed', error: { code: 'invalid_image', message: 'x' } } },
      'invalid_image',
    ],
    ['a cancelled response', ended({ error: null }, 'cancelled'), 'provider_unavailable'],
  ])('as %s ends the stream, and what was said before it counts', async (_, event, type) => {
    const { events, error } = await ask(streaming(CREATED, saying('a'), event, saying('b'), ended()))
    expect([error?.type, error?.metadata['provider_name'], textOf(events), finishIn(events)]).toEqual([type, 'Acme', 'a', []])
  })

  test('tells nothing of the request that the response echoes, and what was used', async () => {
    const { error, events } = await ask(
      streaming(
        CREATED,
        ended({ instructions: 'secret', error: { code: 'server_error', message: 'x' }, usage: { input_tokens: 5 } }, 'failed'),
      ),
    )
    expect(String(error?.metadata['raw'])).not.toContain('secret')
    expect(usageIn(events)).toEqual(usageOf({ inputFresh: 5, unreportedOutput: true }))
  })

  test.each<[string, string, ErrorType]>([
    ['an error alone', '{"error":{"code":"rate_limit_exceeded","message":"x"}}', 'rate_limit_exceeded'],
    ['a failed response', '{"status":"failed","output":[],"error":{"code":"image_too_small","message":"x"}}', 'image_too_small'],
    ['a response that goes on', '{"status":"in_progress","output":[]}', 'provider_unavailable'],
    ['a response that waits', '{"status":"queued","output":[]}', 'provider_unavailable'],
    ['a response that waits in vain', '{"status":"queued","output":[],"error":{"code":"slow_down","message":"x"}}', 'provider_overloaded'],
    ['no output', '{"id":"resp_1"}', 'provider_unavailable'],
    ['a list', '[]', 'provider_unavailable'],
    ['nothing', '', 'provider_unavailable'],
    ['HTML', '<html>', 'provider_unavailable'],
  ])('as a whole body of %s', async (_, body, type) => {
    const { error, events } = await ask((exchange) => exchange.answer(200, body), { stream: false })
    expect([error?.type, finishIn(events)]).toEqual([type, []])
  })
})

describe('a status that is not 200', () => {
  test.each<[number, string, ErrorType]>([
    [400, '{"error":{"message":"x","type":"invalid_request_error","param":"input","code":null}}', 'invalid_request'],
    [400, '{"error":{"message":"x","code":"context_length_exceeded"}}', 'context_length_exceeded'],
    [400, '{"error":{"message":"Your input exceeds the context window of this model."}}', 'context_length_exceeded'],
    [400, '{"error":{"message":"x","code":"string_above_max_length"}}', 'string_too_long'],
    [400, '{"error":{"message":"x","code":"invalid_prompt"}}', 'invalid_prompt'],
    [400, '{"error":{"message":"Flagged as potentially violating our usage policy.","code":"invalid_prompt"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"invalid_encrypted_content"}}', 'invalid_prompt'],
    [400, '{"error":{"message":"x","code":"content_policy_violation"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"image_content_policy_violation"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"bio_policy"}}', 'content_policy_violation'],
    [400, '{"error":{"message":"x","code":"invalid_image"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"image_parse_error"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"invalid_base64_image"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"empty_image_file"}}', 'invalid_image'],
    [400, '{"error":{"message":"x","code":"invalid_image_url"}}', 'image_not_found'],
    [400, '{"error":{"message":"x","code":"image_file_not_found"}}', 'image_not_found'],
    [400, '{"error":{"message":"x","code":"invalid_image_format"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"invalid_image_mode"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"unsupported_image_media_type"}}', 'unsupported_image_format'],
    [400, '{"error":{"message":"x","code":"image_too_large"}}', 'image_too_large'],
    [400, '{"error":{"message":"x","code":"image_file_too_large"}}', 'image_too_large'],
    [400, '{"error":{"message":"x","code":"image_too_small"}}', 'image_too_small'],
    [400, '{"error":{"message":"x","code":"failed_to_download_image"}}', 'image_download_failed'],
    [400, '{"error":{"message":"x","code":"toString"}}', 'invalid_request'],
    [401, '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}', 'provider_unavailable'],
    [403, '', 'provider_unavailable'],
    [403, '{"error":{"code":403,"message":"x","metadata":{"error_type":"permission_denied"}}}', 'provider_unavailable'],
    [404, '{"error":{"message":"x","code":"model_not_found"}}', 'not_found'],
    [408, '', 'timeout'],
    [429, '{"error":{"message":"x","type":"tokens","code":"rate_limit_exceeded"}}', 'rate_limit_exceeded'],
    [429, '{"error":{"message":"x","code":"insufficient_quota"}}', 'provider_unavailable'],
    [429, '', 'rate_limit_exceeded'],
    [500, '{"error":{"message":"x","type":"server_error","code":null}}', 'server'],
    [502, '<html><h1>Bad Gateway</h1></html>', 'provider_unavailable'],
    [503, '{"error":{"message":"x","code":"slow_down"}}', 'provider_overloaded'],
    [504, '', 'timeout'],
    [
      400,
      '{"id":"gen-1","status":"failed","error":{"code":"server_error","message":"x"},"error_type":"unsupported_image_format"}',
      'unsupported_image_format',
    ],
  ])('%d %s is %s, whether a stream was asked for or not', async (status, body, type) => {
    for (const stream of [true, false]) {
      const { error, frames } = await ask((exchange) => exchange.answer(status, body), { stream })
      expect([error?.type, error?.metadata['provider_name'], frames]).toEqual([type, 'Acme', []])
    }
  })

  test('tells when to come back', async () => {
    const { error } = await ask((exchange) =>
      exchange.answer(429, '{"error":{"code":"rate_limit_exceeded","message":"x"}}', { 'retry-after': '7' }),
    )
    expect([error?.retryAfterSeconds, error?.metadata['provider_code']]).toEqual([7, 'rate_limit_exceeded'])
  })

  test('keeps our credential to itself', async () => {
    const { error } = await ask((exchange) => exchange.answer(400, JSON.stringify({ error: { message: `Bad: ${API_KEY}` } })))
    expect(JSON.stringify([error?.message, error?.metadata])).not.toContain(API_KEY)
  })
})
