/** `@anthropic-ai/sdk`, unmodified, against the sandbox models: below /api and at the root of the host. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'bun:test'

import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

const clientAt = (base: string, apiKey = service.inferenceKey, defaultHeaders: Record<string, string> = {}): Anthropic =>
  new Anthropic({ apiKey, baseURL: service.url + base, maxRetries: 0, defaultHeaders })

const BODY = { 'X-Service-Provider-Failure': 'body' }

const request = (
  model: string,
  more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello there!' }],
  ...more,
})

for (const base of ['/api', '']) {
  describe(`base ${base === '' ? 'bare host' : base}`, () => {
    test('create', async () => {
      const { data, response, request_id: requestId } = await clientAt(base).messages.create(request('sandbox/echo')).withResponse()
      expect(data).toMatchObject({ type: 'message', role: 'assistant', model: 'sandbox/echo', stop_reason: 'end_turn' })
      expect(data.content).toMatchObject([{ type: 'text', text: 'Hello there!' }])
      expect(data.usage.output_tokens).toBe(2)
      expect(requestId).toMatch(/./)
      expect(response.headers.get('x-generation-id')).toMatch(/./)
    })

    test('stream', async () => {
      const stream = clientAt(base).messages.stream(request('sandbox/lorem'))
      const types = new Set<string>()
      stream.on('streamEvent', ({ type }) => types.add(type))
      const final = await stream.finalMessage()
      expect(final.stop_reason).toBe('end_turn')
      expect(
        final.content
          .map((block) => (block.type === 'text' ? block.text : ''))
          .join('')
          .split(' '),
      ).toHaveLength(120)
      expect(final.usage.output_tokens).toBe(120)
      expect([...types]).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ])
    })

    test('AuthenticationError: an unknown key is refused with the error object of Messages', async () => {
      const thrown = await thrownBy(() => clientAt(base, 'nonsense').messages.create(request('sandbox/echo')))
      expect(thrown).toBeInstanceOf(Anthropic.AuthenticationError)
      expect(thrown).toMatchObject({
        status: 401,
        type: 'authentication_error',
        error: { type: 'error', error: { type: 'authentication_error', error_type: 'authentication' }, request_id: null },
      })
    })
  })
}

describe('answers', () => {
  test('tools: parallel calls work, whole and streamed, and can be answered', async () => {
    const tools = ['weather', 'tides'].map((name) => ({
      name,
      input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
    }))
    const whole = await clientAt('').messages.create(request('sandbox/tools', { tools }))
    const streamed = await clientAt('').messages.stream(request('sandbox/tools', { tools })).finalMessage()
    for (const message of [whole, streamed]) {
      expect(message.stop_reason).toBe('tool_use')
      const calls = message.content.filter((block) => block.type === 'tool_use')
      expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([
        { name: 'weather', input: { city: expect.any(String) } },
        { name: 'tides', input: { city: expect.any(String) } },
      ])
    }
    const results = whole.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: `${block.name}: fine` }] : [],
    )
    const messages = [
      ...request('').messages,
      { role: 'assistant' as const, content: whole.content },
      { role: 'user' as const, content: results },
    ]
    const next = await clientAt('').messages.create(request('sandbox/tools', { tools, messages }))
    expect(JSON.stringify(next.content)).toContain('tides: fine')
  })

  test('max_tokens cuts the answer off', async () => {
    const message = await clientAt('').messages.create(request('sandbox/lorem', { max_tokens: 3 }))
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } })
  })

  test('a bearer token works as well as x-api-key', async () => {
    const client = new Anthropic({ apiKey: null, authToken: service.inferenceKey, baseURL: service.url, maxRetries: 0 })
    expect(await client.messages.create(request('sandbox/echo'))).toMatchObject({ type: 'message' })
  })

  test('models are listed in the format of this client', async () => {
    const ids: string[] = []
    for await (const { id, type, display_name: name, created_at: created } of clientAt('').models.list()) {
      expect({ type, name, created }).toEqual({ type: 'model', name: expect.any(String), created: expect.any(String) })
      ids.push(id)
    }
    expect(ids).toContain('sandbox/echo')
  })

  for (const base of ['', '/api']) {
    for (const id of ['sandbox/echo', 'sandbox/error/rate_limit_exceeded']) {
      test(`a model is retrieved in the format of this client: ${id} below ${base}/v1`, async () => {
        const { type, id: got, display_name: name, created_at: created } = await clientAt(base).models.retrieve(id)
        expect({ type, got, name, created }).toEqual({ type: 'model', got: id, name: expect.any(String), created: expect.any(String) })
      })
    }
  }

  test('a model has every member that typed clients require, with its limits', async () => {
    const answer = await fetch(`${service.url}/v1/models/sandbox%2Fecho`, {
      headers: { 'x-api-key': service.inferenceKey, 'anthropic-version': '2023-06-01' },
    })
    expect(await answer.json()).toEqual({
      type: 'model',
      id: 'sandbox/echo',
      display_name: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      line: null,
      max_input_tokens: 1_000_000,
      max_tokens: null,
      capabilities: null,
    })
  })

  test('NotFoundError: a model that does not exist cannot be retrieved', async () => {
    expect(await thrownBy(() => clientAt('').models.retrieve('sandbox/never'))).toBeInstanceOf(Anthropic.NotFoundError)
  })
})

describe('errors', () => {
  const refusals: Readonly<Record<string, { params: Partial<Anthropic.MessageCreateParamsNonStreaming>; model: string }>> = {
    'BadRequestError invalid_request_error': { params: { max_tokens: -1 }, model: 'sandbox/echo' },
    'NotFoundError not_found_error': { params: {}, model: 'sandbox/never' },
  }
  for (const [name, { params, model }] of Object.entries(refusals)) {
    test(`${name}: streaming or not`, async () => {
      const [className, type] = name.split(' ')
      for (const send of [
        () => clientAt('').messages.create(request(model, params)),
        () => clientAt('').messages.stream(request(model, params)).finalMessage(),
      ]) {
        const thrown = await thrownBy(send)
        expect(thrown).toBeInstanceOf(Anthropic.APIError)
        expect(thrown?.constructor.name).toBe(className ?? '')
        expect(thrown).toMatchObject({ type })
      }
    })
  }

  test('PermissionDeniedError: a management key', async () => {
    const thrown = await thrownBy(() => clientAt('', service.managementKey).messages.create(request('sandbox/echo')))
    expect(thrown).toBeInstanceOf(Anthropic.PermissionDeniedError)
    expect(thrown).toMatchObject({ type: 'permission_error' })
  })

  test('NotFoundError: an unknown path is refused with the error object of Messages', async () => {
    const response = await fetch(`${service.url}/v1/messages/nowhere`, { method: 'POST', headers: { 'x-api-key': service.inferenceKey } })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
  })

  const failures: Readonly<Record<string, readonly [string, number]>> = {
    rate_limit_exceeded: ['rate_limit_error', 429],
    provider_overloaded: ['overloaded_error', 503],
    timeout: ['overloaded_error', 504],
    provider_unavailable: ['api_error', 502],
    server: ['api_error', 500],
    context_length_exceeded: ['invalid_request_error', 400],
    image_not_found: ['not_found_error', 404],
    payment_required: ['billing_error', 402],
  }
  for (const [failure, [type, status]] of Object.entries(failures)) {
    test(`${type}: ${failure} of a provider has its real status if the client asked for it`, async () => {
      const client = clientAt('', service.inferenceKey, { 'X-Service-Provider-Failure': 'status' })
      const thrown = await thrownBy(() => client.messages.create(request(`sandbox/error/${failure}`)))
      expect(thrown).toBeInstanceOf(Anthropic.APIError)
      expect(thrown).toMatchObject({
        status,
        type,
        error: { error: { type, error_type: failure }, request_id: expect.stringMatching(/./) },
      })
    })

    test(`${type}: ${failure} in mid-stream is thrown after the content that came before`, async () => {
      let said = ''
      const stream = clientAt('').messages.stream(request(`sandbox/midstream/${failure}`))
      stream.on('text', (text) => (said += text))
      const thrown = await thrownBy(() => stream.finalMessage())
      expect(said).not.toBe('')
      expect(thrown).toBeInstanceOf(Anthropic.APIError)
      expect(thrown).toMatchObject({ type })
    })
  }

  test('RateLimitError: it is thrown without any setting of the client, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const thrown = await thrownBy(() => clientAt('').messages.create({ ...request('sandbox/error/rate_limit_exceeded'), stream }))
      expect(thrown).toBeInstanceOf(Anthropic.RateLimitError)
      expect(thrown).toMatchObject({ message: expect.stringContaining('Rate limit reached') })
    }
  })

  test('200: with X-Service-Provider-Failure: body, a failure is in the body', async () => {
    const body: unknown = await clientAt('', service.inferenceKey, BODY).messages.create(request('sandbox/error/rate_limit_exceeded'))
    expect(body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error', error_type: 'rate_limit_exceeded' } })
  })

  test('a cut stream never looks like a normal end, raw or with the helper', async () => {
    const raw = await clientAt('').messages.create({ ...request('sandbox/cut'), stream: true })
    expect(await thrownBy(() => Array.fromAsync(raw))).toBeInstanceOf(Error)
    expect(await thrownBy(() => clientAt('').messages.stream(request('sandbox/cut')).finalMessage())).toBeInstanceOf(Error)
    expect(await thrownBy(() => clientAt('').messages.create(request('sandbox/cut')))).toMatchObject({ status: 502 })
    const whole: unknown = await clientAt('', service.inferenceKey, BODY).messages.create(request('sandbox/cut'))
    expect(whole).toMatchObject({ type: 'error' })
  })
})

const thrownBy = async (work: () => Promise<unknown>): Promise<object> => {
  try {
    return { answered: await work() }
  } catch (thrown) {
    return thrown instanceof Error ? thrown : { thrown }
  }
}
