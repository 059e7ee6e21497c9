/** docs/contract/errors.md, rule by rule: each test title is the rule. error-matrix.test.ts tests the 27 types one by one. */
import { describe, expect, test } from 'bun:test'

import { call, type ErrorWire, infer, PATHS, savePreset, streamChunks } from '../support/calls.ts'
import { streamEvents } from '../support/client-stream.ts'
import { type Script, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${upstream.url}", api_key: acme-credential-0123456789 }
  twin: { name: Twin, dialects: [openai-chat], base_url: "${upstream.url}", api_key: twin-credential-0123456789 }
models:
  acme/one: { endpoints: [{ provider: acme, model: up-one }] }
  acme/two: { endpoints: [{ provider: acme, model: up-one }, { provider: twin, model: up-one }] }
limits: { max_body_bytes: 65536 }
`,
})

const messages = [{ role: 'user', content: 'Hello!' }]
const chat = (model: string, more: object = {}): Record<string, unknown> => ({ model, messages, ...more })
const BODIES = {
  chat: (model: string, more: object = {}) => chat(model, more),
  responses: (model: string, more: object = {}): Record<string, unknown> => ({ model, input: 'Hello!', ...more }),
  messages: (model: string, more: object = {}): Record<string, unknown> => ({ ...chat(model, more), max_tokens: 100 }),
} as const
const INTERFACES = ['chat', 'responses', 'messages'] as const
type Interface = (typeof INTERFACES)[number]

const ask = (on: Interface, model: string, more: object = {}, headers: Record<string, string> = {}) =>
  infer(service, BODIES[on](model, more), { path: PATHS[on], headers })

const REAL_STATUS = { 'x-service-provider-failure': 'status' }

/** The error type, wherever the interface puts it. */
const typeIn = (json: unknown): unknown => {
  const { error, error_type } = json as { error?: { error_type?: string; metadata?: { error_type?: string } }; error_type?: string }
  return error_type ?? error?.error_type ?? error?.metadata?.error_type
}

const refusing = (status: number, body: object | string, headers: Record<string, string> = {}): Script => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (exchange) => exchange.answer(status, text, headers)
}

describe('Preset endpoints', () => {
  const shape = (error: ErrorWire): void => {
    expect(Number.isInteger(error.code)).toBe(true)
    expect(Object.keys(error).filter((key) => !['code', 'message', 'metadata'].includes(key))).toEqual([])
  }

  test('400 Invalid request parameters', async () => {
    const refused = [
      await savePreset(service, 'x', { model: 7 }),
      await savePreset(service, 'a b', { model: 'sandbox/echo' }),
      await savePreset(service, 'x', '{"model":'),
      await savePreset(service, 'x', '[]'),
      await call(service, 'POST', '/presets/x/responses', { body: '{}', headers: { 'content-type': 'text/plain' } }),
      await savePreset(service, 'x', { model: 'sandbox/echo', previous_response_id: 'resp_1' }),
    ]
    for (const { status, error } of refused) {
      expect([status, error.code, error.message]).toEqual([400, 400, 'Invalid request parameters'])
      shape(error)
    }
  })

  test('413 a body over the limit', async () => {
    const { status, error } = await savePreset(service, 'x', { model: 'sandbox/echo', instructions: 'x'.repeat(70_000) })
    expect([status, error.code, error.metadata['error_type']]).toEqual([413, 413, 'payload_too_large'])
    shape(error)
  })

  test('401 Missing Authentication header', async () => {
    const { status, error } = await call(service, 'GET', '/presets', { key: null })
    expect([status, error.code, error.message]).toEqual([401, 401, 'Missing Authentication header'])
    shape(error)
  })

  test('403 Only management keys can perform this operation', async () => {
    const { status, error } = await call(service, 'GET', '/presets', { key: service.inferenceKey })
    expect([status, error.code, error.message]).toEqual([403, 403, 'Only management keys can perform this operation'])
    shape(error)
  })

  test('404 Resource not found', async () => {
    const { status, error } = await call(service, 'GET', '/presets/never')
    expect([status, error.code, error.message]).toEqual([404, 404, 'Resource not found'])
    shape(error)
  })
})

describe('General rules', () => {
  test('1. The HTTP status equals error.code when the request is invalid', async () => {
    for (const on of INTERFACES) {
      for (const headers of [{}, REAL_STATUS]) {
        const invalid = await ask(on, 'sandbox/echo', { temperature: 'hot' }, headers)
        const unknown = await ask(on, 'sandbox/never', {}, headers)
        expect([invalid.status, unknown.status]).toEqual([400, 404])
        if (on !== 'messages') expect([invalid.error.code, unknown.error.code]).toEqual([400, 404])
        expect([typeIn(invalid.json), typeIn(unknown.json)]).toEqual(['invalid_request', 'not_found'])
      }
    }
  })

  test('1. … and for a body that is not JSON, too large, or of another content type, in the format of the interface', async () => {
    for (const on of INTERFACES) {
      const cases = [
        [await infer(service, '{"model":', { path: PATHS[on] }), 400, 'invalid_request'],
        [await infer(service, '', { path: PATHS[on] }), 400, 'invalid_request'],
        [await infer(service, `"${'x'.repeat(70_000)}"`, { path: PATHS[on] }), 413, 'payload_too_large'],
        [
          await infer(service, 'model=x', { path: PATHS[on], headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
          400,
          'invalid_request',
        ],
        [await infer(service, '{}', { path: PATHS[on], headers: { 'content-encoding': 'gzip' } }), 400, 'invalid_request'],
      ] as const
      for (const [answer, status, type] of cases) {
        expect([answer.status, typeIn(answer.json)]).toEqual([status, type])
        if (on === 'messages')
          expect(answer.json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' }, request_id: null })
        else expect(answer.error.code).toBe(status)
      }
    }
  })

  test('2. Otherwise the status is 200, and the error is in the body or in an SSE event', async () => {
    for (const on of INTERFACES) {
      for (const stream of [false, true]) {
        const answer = await ask(on, 'sandbox/error/provider_unavailable', { stream })
        expect(answer.status).toBe(200)
        expect(answer.text).toContain('"error_type":"provider_unavailable"')
      }
    }
  })

  test('2. A non-streaming 200 can hold only error and no choices; its id identifies the generation', async () => {
    const answer = await ask('chat', 'sandbox/error/provider_unavailable')
    const body = answer.json as { id: string }
    expect(Object.keys(body)).toEqual(['id', 'error'])
    const generation = await call(service, 'GET', `/generation?id=${body.id}`, { key: service.inferenceKey })
    expect(generation.json).toMatchObject({ data: { id: body.id, model: 'sandbox/error/provider_unavailable' } })
  })

  test('3. A failure after the stream started keeps status 200', async () => {
    for (const on of INTERFACES) {
      const answer = await ask(on, 'sandbox/midstream/timeout', { stream: true }, REAL_STATUS)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('"error_type":"timeout"')
    }
  })

  test('3. When an attempt fails before any token a backup is tried, and the status stays 200 even if all fail', async () => {
    upstream.script(refusing(503, { error: { message: 'Busy.' } }))
    const asked = upstream.exchanges.length
    const answer = await ask('chat', 'acme/two')
    expect(answer.status).toBe(200)
    expect(answer.error).toMatchObject({ code: 503, metadata: { error_type: 'provider_overloaded' } })
    expect(upstream.exchanges.length - asked).toBeGreaterThanOrEqual(2)
  })

  test('4. Pre-stream errors use the standard error body with a proper status', async () => {
    for (const on of INTERFACES) {
      const unknown = await ask(on, 'sandbox/never', { stream: true })
      const failed = await ask(on, 'sandbox/error/rate_limit_exceeded', { stream: true }, REAL_STATUS)
      expect([unknown.status, failed.status]).toEqual([404, 429])
      for (const { headers } of [unknown, failed]) expect(headers.get('content-type')).toMatch(/^application\/json/)
    }
  })

  test('The end marker of a stream is [DONE], after an error too', async () => {
    for (const on of INTERFACES) {
      for (const kind of ['error', 'midstream']) {
        const { text } = await ask(on, `sandbox/${kind}/provider_overloaded`, { stream: true })
        expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
        expect(text.split('[DONE]')).toHaveLength(2)
      }
    }
  })
})

describe('Retry-After', () => {
  test('in seconds, on 429 and 503, whatever the provider calls it', async () => {
    const waits: readonly (readonly [Script, string])[] = [
      [refusing(429, {}, { 'retry-after': '7' }), '7'],
      [refusing(429, {}, { 'retry-after-ms': '1200' }), '2'],
      [refusing(503, {}, { 'retry-after': '3' }), '3'],
      [refusing(429, { error: { message: 'Rate limit reached. Please try again in 6.2s.' } }), '7'],
      [refusing(429, {}, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m30s' }), '90'],
    ]
    for (const [script, seconds] of waits) {
      upstream.script(script)
      for (const headers of [{}, REAL_STATUS]) expect((await ask('chat', 'acme/one', {}, headers)).headers.get('retry-after')).toBe(seconds)
    }
  })

  test('no Retry-After is sent if waiting does not help', async () => {
    upstream.script(refusing(400, { error: { message: 'No.' } }, { 'retry-after': '7' }))
    expect((await ask('chat', 'acme/one')).headers.has('retry-after')).toBe(false)
  })
})

test('Moderation errors: reasons, flagged_input of at most 100 characters with ... in the middle, provider_name, model_slug', async () => {
  upstream.script(refusing(400, { error: { code: 'content_filter', message: 'Filtered.' } }))
  const long = `Begin ${'very '.repeat(100)}end.`
  const { error } = await infer(service, chat('acme/one', { messages: [{ role: 'user', content: long }] }))
  expect(error).toMatchObject({ code: 403, metadata: { reasons: ['content_filter'], provider_name: 'Acme', model_slug: 'acme/one' } })
  const flagged = String(error.metadata['flagged_input'])
  expect(flagged).toHaveLength(100)
  expect(flagged).toMatch(/^Begin .*\.\.\..* end\.$/)
})

describe('Provider errors', () => {
  test('2. On chat completions error_type is in error.metadata, with provider_code', async () => {
    upstream.script(refusing(400, { error: { code: 'E_ODD', message: 'Odd.' } }))
    expect((await ask('chat', 'acme/one')).error.metadata).toMatchObject({ error_type: 'invalid_request', provider_code: 'E_ODD' })
  })

  test('3. On a 500 the message is generic, and there is no provider_code and no service_metadata', async () => {
    upstream.script(refusing(500, { error: { code: 'E_SECRET', message: 'stack trace at /srv/x' } }))
    for (const on of INTERFACES) {
      const { text, json } = await ask(on, 'acme/one', {}, { 'x-service-metadata': 'enabled' })
      expect(typeIn(json)).toBe('server')
      expect(text).toContain('Internal Server Error')
      for (const hidden of ['stack trace', 'E_SECRET', 'provider_code', 'service_metadata', 'Acme: ']) expect(text).not.toContain(hidden)
    }
  })

  test('4. and 5. On others the upstream code, the name of the provider and its payload are in the metadata', async () => {
    upstream.script(refusing(422, { error: { code: 'E_ODD', message: 'Odd, for acme-credential-0123456789.' } }))
    const { error } = await ask('chat', 'acme/one')
    expect(error.message).toBe('Acme: Odd, for [redacted].')
    expect(error.metadata).toMatchObject({ provider_name: 'Acme', provider_code: 'E_ODD', error_type: 'unprocessable' })
    expect(error.metadata['raw']).toBe('{"error":{"code":"E_ODD","message":"Odd, for [redacted]."}}')
  })

  test('6. With the X-Service-Metadata header the routing context is in service_metadata', async () => {
    for (const on of INTERFACES) {
      const asked = await ask(on, 'sandbox/error/timeout', {}, { 'x-service-metadata': 'enabled' })
      const not = await ask(on, 'sandbox/error/timeout')
      expect(asked.json).toHaveProperty('service_metadata')
      expect(not.json).not.toHaveProperty('service_metadata')
    }
  })

  test('The credential of this service that a provider refuses is never a 401 of the client', async () => {
    for (const [status, body] of [
      [401, { error: { code: 'invalid_api_key', message: 'Bad key.' } }],
      [402, { error: { message: 'Insufficient Balance' } }],
      [403, { error: { message: 'No access.' } }],
    ] as const) {
      upstream.script(refusing(status, body))
      const { error } = await ask('chat', 'acme/one')
      expect(error).toMatchObject({ code: 502, metadata: { error_type: 'provider_unavailable' } })
      expect(error.message).toBe(`Acme refused the credential that this service holds for it (status ${status}).`)
    }
  })
})

describe('When no content is generated', () => {
  test('a budget spent on reasoning is 200 with finish_reason length, empty content and its reasoning_tokens', async () => {
    const { status, json } = await ask('chat', 'sandbox/empty', { max_tokens: 50 })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      choices: [{ finish_reason: 'length', message: { content: '' } }],
      usage: { completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 50 } },
    })
    expect(json).not.toHaveProperty('error')
  })
})

describe('Typed error codes', () => {
  test('Policy blocks are 403 for every provider and interface; when streamed it is the code inside the body', async () => {
    for (const type of ['content_policy_violation', 'refusal']) {
      for (const on of INTERFACES) expect((await ask(on, `sandbox/error/${type}`, {}, REAL_STATUS)).status).toBe(403)
      const chunks = streamChunks((await ask('chat', `sandbox/midstream/${type}`, { stream: true })).text)
      expect(chunks.at(-1)?.error?.code).toBe(403)
    }
  })

  test("A refusal as the model's own output is not an error", async () => {
    const onChat = await ask('chat', 'sandbox/refusal')
    expect(onChat.json).toMatchObject({ choices: [{ finish_reason: 'content_filter', message: { refusal: expect.stringMatching(/./) } }] })
    const onResponses = await ask('responses', 'sandbox/refusal')
    expect(onResponses.json).toMatchObject({ status: 'completed', error: null, output: [{ content: [{ type: 'refusal' }] }] })
    expect((await ask('messages', 'sandbox/refusal')).json).toMatchObject({ type: 'message', stop_reason: 'refusal' })
    for (const { json } of [onChat, onResponses]) expect(typeIn(json)).toBeUndefined()
  })
})

describe('Where error_type appears', () => {
  test('Chat: on the mid-stream chunk, and beside partial content in choices[0].error', async () => {
    const chunk = streamChunks((await ask('chat', 'sandbox/midstream/timeout', { stream: true })).text).at(-1)
    expect(chunk).toMatchObject({ error: { metadata: { error_type: 'timeout' } }, choices: [{ finish_reason: 'error' }] })
    const { json } = await ask('chat', 'sandbox/midstream/timeout')
    expect(json).toMatchObject({
      choices: [
        {
          finish_reason: 'error',
          message: { content: expect.stringMatching(/^Lorem/) },
          error: { code: 504, message: expect.any(String), metadata: { error_type: 'timeout' } },
        },
      ],
    })
  })

  test('Messages: inside the envelope and the SSE error event', async () => {
    expect((await ask('messages', 'sandbox/error/timeout')).json).toMatchObject({ error: { error_type: 'timeout' } })
    const last = streamEvents((await ask('messages', 'sandbox/midstream/timeout', { stream: true })).text).at(-1)
    expect(last).toMatchObject({ name: 'error', data: { type: 'error', error: { type: 'overloaded_error', error_type: 'timeout' } } })
  })

  test('Responses: on top of the failed response, streaming and non-streaming', async () => {
    expect((await ask('responses', 'sandbox/error/timeout')).json).toMatchObject({ status: 'failed', error_type: 'timeout' })
    const last = streamEvents((await ask('responses', 'sandbox/midstream/timeout', { stream: true })).text).at(-1)
    expect(last?.data).toMatchObject({ type: 'response.failed', response: { status: 'failed', error_type: 'timeout' } })
  })
})

test('Length errors turned into success: on responses, a successful completion cut short, with what was said', async () => {
  for (const type of ['context_length_exceeded', 'max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long']) {
    const { status, json } = await ask('responses', `sandbox/midstream/${type}`, {}, REAL_STATUS)
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: 'incomplete', error: null, incomplete_details: { reason: 'max_output_tokens' } })
    expect(JSON.stringify(json)).toContain('Lorem')
  }
})

describe('Length errors turned into success: a warning tells what happened', () => {
  const METADATA = { 'x-service-metadata': 'enabled' }
  const reported = (type: string) => ({ warnings: [expect.objectContaining({ code: 'answered_error', error_type: type })] })

  for (const type of ['context_length_exceeded', 'max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long']) {
    test(`${type}: in the header and in the metadata of a whole answer`, async () => {
      for (const model of [`sandbox/error/${type}`, `sandbox/midstream/${type}`]) {
        const { headers, json } = await ask('responses', model, {}, METADATA)
        expect(headers.get('x-service-warnings')).toBe('1')
        expect(json).toMatchObject({ status: 'incomplete', service_metadata: reported(type) })
      }
    })

    test(`${type}: in the last event of a stream always, and in the header if nothing was sent before`, async () => {
      for (const model of [`sandbox/error/${type}`, `sandbox/midstream/${type}`]) {
        const { headers, text } = await ask('responses', model, { stream: true }, METADATA)
        expect(headers.get('x-service-warnings')).toBe(model.startsWith('sandbox/error/') ? '1' : null)
        const last = streamEvents(text).at(-1)
        expect(last?.data).toMatchObject({ type: 'response.incomplete', response: { service_metadata: reported(type) } })
      }
    })
  }

  test('there is none on the other interfaces, which report it as an error', async () => {
    for (const format of ['chat', 'messages'] as const) {
      const { headers } = await ask(format, 'sandbox/error/context_length_exceeded', {}, METADATA)
      expect(headers.get('x-service-warnings')).toBeNull()
    }
  })
})

test('Messages: request_id is null before routing and the generation id after it', async () => {
  const before = await infer(service, BODIES.messages('sandbox/echo'), { path: '/messages', key: 'nonsense' })
  expect(before.json).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error', error_type: 'authentication' },
    request_id: null,
  })
  expect((await ask('messages', 'sandbox/never')).json).toMatchObject({ error: { type: 'not_found_error' }, request_id: null })
  const after = await ask('messages', 'sandbox/error/rate_limit_exceeded')
  expect(after.json).toMatchObject({ request_id: after.headers.get('x-generation-id') })
})
