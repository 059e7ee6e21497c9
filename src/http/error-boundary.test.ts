import { describe, expect, test } from 'bun:test'

import { ERROR_TYPES, ERRORS, GatewayError, MANAGEMENT_MESSAGES } from '../errors.ts'
import { FORMATS } from '../formats/formats.ts'
import { asFailure } from '../inference/as-failure.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { StorageConflict, StorageUnavailable } from '../storage/storage-errors.ts'
import { errorResponse } from './error-boundary.ts'
import type { Surface } from './route.ts'

const SURFACES = ['management', 'chat', 'responses', 'messages'] as const satisfies readonly Surface[]

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, unknown>
}

const answer = async (thrown: unknown, surface: Surface): Promise<Answered> => {
  const response = errorResponse(asFailure(thrown), surface, FORMATS)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Record<string, unknown> }
}

describe.each(SURFACES)('on the %s surface', (surface) => {
  test.each([...ERROR_TYPES])('%s has its status, its type and its sentence', async (type) => {
    const { status, headers, text } = await answer(new GatewayError(type, 'A sentence.'), surface)
    expect(status).toBe(ERRORS[type].status)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(text).toContain(`"${type}"`)
    expect(text.includes('A sentence.')).toBe(status !== 500)
  })

  test.each<[string, unknown]>([
    ['an unknown fault', new TypeError('secret detail')],
    ['a thrown string', 'secret detail'],
    ['a thrown nothing', undefined],
    ['a server error', new GatewayError('server', 'secret detail', { metadata: { provider_code: 'secret', raw: 'secret' } })],
  ])('500: %s is masked', async (_, thrown) => {
    const { status, text } = await answer(thrown, surface)
    expect(status).toBe(500)
    expect(text).not.toContain('secret')
    expect(text).toContain('Internal Server Error')
  })

  test('500: an unmapped failure keeps its provider code and nothing else', async () => {
    const { text } = await answer(new GatewayError('unmapped', 'secret', { metadata: { provider_code: 'E42', raw: 'secret' } }), surface)
    expect(text).not.toContain('secret')
    expect(text).toContain('E42')
  })

  test('400: text that is not JSON says what is wrong with it', async () => {
    const { status, text } = await answer(new JsonTextError('The body names \\"model\\" twice.'), surface)
    expect(status).toBe(400)
    expect(text).toContain('twice')
    expect(text).toContain('"invalid_request"')
  })

  test('409: storage that was locked for too long', async () => {
    const { status, text } = await answer(new StorageConflict(new Error('secret')), surface)
    expect(status).toBe(409)
    expect(text).toContain('Resource conflict. Please try again later.')
    expect(text).not.toContain('secret')
  })

  test('503: storage that is away, to be tried again in a second', async () => {
    const { status, headers, text } = await answer(new StorageUnavailable('connect ECONNREFUSED db.internal:5432'), surface)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(text).not.toContain('db.internal')
  })

  test('Retry-After is whole seconds, and absent where nobody knows', async () => {
    expect((await answer(new GatewayError('rate_limit_exceeded', 'x', { retryAfterSeconds: 7 }), surface)).headers.get('retry-after')).toBe(
      '7',
    )
    expect((await answer(new GatewayError('rate_limit_exceeded', 'x', { retryAfterSeconds: 0 }), surface)).headers.get('retry-after')).toBe(
      '0',
    )
    expect((await answer(new GatewayError('rate_limit_exceeded'), surface)).headers.has('retry-after')).toBe(false)
  })

  test('405 names the methods, and a body that stays unread ends its connection', async () => {
    const refused = await answer(new GatewayError('invalid_request', 'x', { status: 405, metadata: { allow: ['GET', 'HEAD'] } }), surface)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await answer(new GatewayError('payload_too_large', 'x', { unread: true }), surface)).headers.get('connection')).toBe('close')
    expect((await answer(new GatewayError('invalid_request'), surface)).headers.has('connection')).toBe(false)
  })
})

describe('the management shape', () => {
  test.each([
    [400, 'invalid_request'],
    [404, 'invalid_request'],
    [405, 'method_not_allowed'],
    [409, 'conflict'],
    [503, 'invalid_request'],
  ])('%d has its fixed message, the reason in the metadata, and the type %s', async (status, type) => {
    const { json } = await answer(new GatewayError('invalid_request', 'slug: too long', { status }), 'management')
    expect(json).toEqual({
      error: { code: status, message: MANAGEMENT_MESSAGES[status], metadata: { reason: 'slug: too long', error_type: type } },
    })
  })

  test('413 says its limit', async () => {
    const { status, json } = await answer(
      new GatewayError('payload_too_large', 'At most 9 bytes.', { metadata: { max_bytes: 9 } }),
      'management',
    )
    expect(status).toBe(413)
    expect(json).toEqual({
      error: { code: 413, message: 'At most 9 bytes.', metadata: { max_bytes: 9, error_type: 'payload_too_large' } },
    })
  })

  test('500 has nothing but its message and its type', async () => {
    const { json } = await answer(new TypeError('secret'), 'management')
    expect(json).toEqual({ error: { code: 500, message: 'Internal Server Error', metadata: { error_type: 'server' } } })
  })
})

test('before routing, the Messages envelope has no request id', async () => {
  const { json } = await answer(new GatewayError('authentication', 'x'), 'messages')
  expect(json).toEqual({
    type: 'error',
    error: { type: 'authentication_error', message: 'x', error_type: 'authentication' },
    request_id: null,
  })
})
