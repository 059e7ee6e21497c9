/** The `openai` client, unmodified, against the sandbox models: chat completions and responses. */
import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
let client: OpenAI

const clientWith = (apiKey: string, defaultHeaders: Record<string, string> = {}): OpenAI =>
  new OpenAI({ apiKey, baseURL: service.api, maxRetries: 0, defaultHeaders })

beforeAll(async () => {
  service = await services.start()
  client = clientWith(service.inferenceKey)
})

const BODY = { 'X-Service-Provider-Failure': 'body' }

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello there!' }]

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
}

describe('chat completions', () => {
  test('create: text, usage and ids', async () => {
    const {
      data,
      response,
      request_id: requestId,
    } = await client.chat.completions.create({ model: 'sandbox/echo', messages }).withResponse()
    expect(data).toMatchObject({ object: 'chat.completion', model: 'sandbox/echo' })
    expect(data.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there!' } })
    expect(data.usage).toMatchObject({ completion_tokens: 2 })
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + 2)
    expect(requestId).toMatch(/./)
    expect(response.headers.get('x-generation-id')).toBe(data.id)
  })

  test('create: each chunk of a stream belongs to the same answer', async () => {
    const { data: stream, response } = await client.chat.completions
      .create({ model: 'sandbox/echo', messages, stream: true })
      .withResponse()
    const chunks = await Array.fromAsync(stream)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello there!')
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant')
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([response.headers.get('x-generation-id') ?? '']))
    expect(new Set(chunks.map(({ created, model, object }) => `${created} ${model} ${object}`)).size).toBe(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 2 } })
    expect(response.headers.get('x-request-id')).toMatch(/./)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  })

  test('stream: the helper ends with the whole answer', async () => {
    const stream = client.chat.completions.stream({ model: 'sandbox/lorem', messages })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content?.split(' ')).toHaveLength(120)
    expect(final.usage?.completion_tokens).toBe(120)
  })

  test('create: several tool calls at once, and their results', async () => {
    const tools = [weather, { ...weather, function: { ...weather.function, name: 'tides' } }]
    const answer = await client.chat.completions.create({ model: 'sandbox/tools', messages, tools })
    const message = answer.choices[0]?.message
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls')
    const calls = (message?.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []))
    expect(calls.map((call) => call.function.name)).toEqual(['weather', 'tides'])
    for (const call of calls) expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) })
    const results = calls.map(({ id, function: { name } }) => ({ role: 'tool' as const, tool_call_id: id, content: `${name}: fine` }))
    const next = await client.chat.completions.create({ model: 'sandbox/tools', messages: [...messages, message!, ...results], tools })
    expect(next.choices[0]?.message.content).toContain('tides: fine')
  })

  test('stream: the helper puts tool calls together', async () => {
    const final = await client.chat.completions.stream({ model: 'sandbox/tools', messages, tools: [weather] }).finalChatCompletion()
    const [call] = final.choices[0]?.message.tool_calls ?? []
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } })
    expect(JSON.parse(call?.type === 'function' ? call.function.arguments : '')).toEqual({ city: expect.any(String) })
  })

  test('create: JSON follows a schema', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' }, s: { enum: ['a'] } },
      required: ['n', 's'],
      additionalProperties: false,
    }
    const answer = await client.chat.completions.create({
      model: 'sandbox/json',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
    })
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ n: expect.any(Number), s: 'a' })
  })

  test("create: a model's refusal is an answer", async () => {
    const answer = await client.chat.completions.create({ model: 'sandbox/refusal', messages })
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: expect.stringMatching(/./) } })
  })

  test('create: an answer of reasoning alone ends with length', async () => {
    const answer = await client.chat.completions.create({ model: 'sandbox/empty', messages, max_completion_tokens: 50 })
    expect(answer.choices[0]?.finish_reason).toBe('length')
    expect(answer.choices[0]?.message.content ?? '').toBe('')
    expect(answer.usage).toMatchObject({ completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 50 } })
  })

  test('create: a token limit cuts the answer off', async () => {
    const answer = await client.chat.completions.create({ model: 'sandbox/lorem', messages, max_completion_tokens: 3 })
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length' })
    expect(answer.usage?.completion_tokens).toBe(3)
  })

  test('APIError: an error in mid-stream is thrown after the content that came before, raw and with the helper', async () => {
    const stream = await client.chat.completions.create({ model: 'sandbox/midstream/provider_overloaded', messages, stream: true })
    let content = ''
    const thrown = await thrownBy(async () => {
      for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? ''
    })
    expect(content).not.toBe('')
    expect(thrown).toBeInstanceOf(OpenAI.APIError)
    expect(thrown).toMatchObject({ error: { code: 503, metadata: { error_type: 'provider_overloaded' } } })
    const helped = client.chat.completions.stream({ model: 'sandbox/midstream/provider_overloaded', messages })
    expect(await thrownBy(() => helped.finalChatCompletion())).toBeInstanceOf(OpenAI.OpenAIError)
  })

  test('a cut stream never looks like a normal end, raw or with the helper', async () => {
    const stream = await client.chat.completions.create({ model: 'sandbox/cut', messages, stream: true })
    expect(await thrownBy(() => Array.fromAsync(stream))).toBeInstanceOf(Error)
    expect(await thrownBy(() => client.chat.completions.stream({ model: 'sandbox/cut', messages }).finalChatCompletion())).toBeInstanceOf(
      Error,
    )
    expect(await thrownBy(() => client.chat.completions.create({ model: 'sandbox/cut', messages }))).toMatchObject({ status: 502 })
    const whole = await clientWith(service.inferenceKey, BODY).chat.completions.create({ model: 'sandbox/cut', messages })
    expect(whole.choices?.[0]?.finish_reason ?? 'error').toBe('error' as 'stop')
  })
})

describe('errors', () => {
  test('AuthenticationError: an unknown key', async () => {
    const thrown = await thrownBy(() => clientWith('nonsense').chat.completions.create({ model: 'sandbox/echo', messages }))
    expect(thrown).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(thrown).toMatchObject({ status: 401, code: 401, error: { metadata: { error_type: 'authentication' } } })
  })

  test('PermissionDeniedError: a management key', async () => {
    const thrown = await thrownBy(() => clientWith(service.managementKey).chat.completions.create({ model: 'sandbox/echo', messages }))
    expect(thrown).toBeInstanceOf(OpenAI.PermissionDeniedError)
  })

  test('BadRequestError: a parameter out of range is named', async () => {
    for (const stream of [false, true]) {
      const thrown = await thrownBy(() => client.chat.completions.create({ model: 'sandbox/echo', messages, temperature: 9, stream }))
      expect(thrown).toBeInstanceOf(OpenAI.BadRequestError)
      expect(String(thrown)).toContain('temperature')
    }
  })

  test('NotFoundError: an unknown model', async () => {
    const thrown = await thrownBy(() => client.chat.completions.create({ model: 'sandbox/never', messages }))
    expect(thrown).toBeInstanceOf(OpenAI.NotFoundError)
    expect(thrown).toMatchObject({ requestID: expect.stringMatching(/./) })
  })

  const failures = {
    rate_limit_exceeded: OpenAI.RateLimitError,
    provider_unavailable: OpenAI.InternalServerError,
    provider_overloaded: OpenAI.InternalServerError,
    timeout: OpenAI.InternalServerError,
    server: OpenAI.InternalServerError,
    content_policy_violation: OpenAI.PermissionDeniedError,
    context_length_exceeded: OpenAI.BadRequestError,
    unprocessable: OpenAI.UnprocessableEntityError,
  }
  for (const [type, Class] of Object.entries(failures)) {
    test(`${Class.name}: ${type} of a provider has its real status if the client asked for it, streaming or not`, async () => {
      const asking = clientWith(service.inferenceKey, { 'X-Service-Provider-Failure': 'status' })
      for (const stream of [false, true]) {
        const thrown = await thrownBy(() => asking.chat.completions.create({ model: `sandbox/error/${type}`, messages, stream }))
        expect(thrown).toBeInstanceOf(Class)
        expect(thrown).toMatchObject({ error: { metadata: { error_type: type } } })
      }
    })
  }

  test('RateLimitError: it is thrown without any setting of the client, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const thrown = await thrownBy(() => client.chat.completions.create({ model: 'sandbox/error/rate_limit_exceeded', messages, stream }))
      expect(thrown).toBeInstanceOf(OpenAI.RateLimitError)
      expect(thrown).toMatchObject({ message: expect.stringContaining('Rate limit reached') })
    }
  })

  test('200: with X-Service-Provider-Failure: body the same failure is in the body, or thrown from the stream', async () => {
    const asking = clientWith(service.inferenceKey, BODY)
    const whole = await asking.chat.completions.create({ model: 'sandbox/error/rate_limit_exceeded', messages })
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^gen-/),
      error: { code: 429, metadata: { error_type: 'rate_limit_exceeded' } },
    })
    expect(whole.choices).toBeUndefined()
    const stream = await asking.chat.completions.create({ model: 'sandbox/error/rate_limit_exceeded', messages, stream: true })
    expect(await thrownBy(() => Array.fromAsync(stream))).toMatchObject({ error: { code: 429 } })
  })
})

describe('responses', () => {
  test('create', async () => {
    const { data, response } = await client.responses.create({ model: 'sandbox/echo', input: 'Hello there!' }).withResponse()
    expect(data).toMatchObject({ object: 'response', status: 'completed', error: null, model: 'sandbox/echo' })
    expect(data.output_text).toBe('Hello there!')
    expect(data.usage).toMatchObject({ output_tokens: 2 })
    expect(response.headers.get('x-generation-id')).toMatch(/./)
  })

  test('create: a stream goes from created to completed, numbered without a gap', async () => {
    const events = await Array.fromAsync(await client.responses.create({ model: 'sandbox/echo', input: 'Hello there!', stream: true }))
    expect(events[0]?.type).toBe('response.created')
    expect(events.at(-1)?.type).toBe('response.completed')
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index + (events[0]?.sequence_number ?? 0)))
    expect(events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')).toBe('Hello there!')
    const completed = events.findLast((event) => event.type === 'response.completed')
    expect(completed?.response.usage?.output_tokens).toBe(2)
  })

  test('stream: the helper ends with the whole response', async () => {
    const final = await client.responses.stream({ model: 'sandbox/lorem', input: 'Go on.' }).finalResponse()
    expect(final.status).toBe('completed')
    expect(final.output_text.split(' ')).toHaveLength(120)
  })

  test('stream: the helper puts function calls together', async () => {
    const tools = [
      {
        type: 'function' as const,
        name: 'weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        strict: false,
      },
    ]
    const final = await client.responses.stream({ model: 'sandbox/tools', input: 'Go on.', tools }).finalResponse()
    const call = final.output.find((item) => item.type === 'function_call')
    expect(call?.name).toBe('weather')
    expect(() => JSON.parse(call?.arguments ?? '')).not.toThrow()
  })

  test('APIError: an error in mid-stream', async () => {
    const events: string[] = []
    const stream = await client.responses.create({ model: 'sandbox/midstream/provider_overloaded', input: 'Hi', stream: true })
    const thrown = await thrownBy(async () => {
      for await (const event of stream) events.push(event.type)
    })
    // Both are acceptable ends; a completed response would not be.
    expect(thrown instanceof OpenAI.APIError || events.at(-1) === 'response.failed').toBe(true)
    expect(events).not.toContain('response.completed')
  })

  test('a cut stream never looks like a normal end', async () => {
    const events: string[] = []
    const stream = await client.responses.create({ model: 'sandbox/cut', input: 'Hi', stream: true })
    await thrownBy(async () => {
      for await (const event of stream) events.push(event.type)
    })
    expect(events).not.toContain('response.completed')
    expect(await thrownBy(() => client.responses.create({ model: 'sandbox/cut', input: 'Hi' }))).toMatchObject({ status: 502 })
    const whole = await clientWith(service.inferenceKey, BODY).responses.create({ model: 'sandbox/cut', input: 'Hi' })
    expect(whole.status).toBe('failed')
  })

  test('incomplete: a length error is a truncated answer', async () => {
    const whole = await client.responses.create({ model: 'sandbox/error/max_tokens_exceeded', input: 'Hi' })
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, error: null })
    const final = await client.responses.stream({ model: 'sandbox/midstream/max_tokens_exceeded', input: 'Hi' }).finalResponse()
    expect(final).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(final.output_text).not.toBe('')
  })

  test('failed: a failure in the body is a whole response with its type', async () => {
    const whole = await clientWith(service.inferenceKey, BODY).responses.create({ model: 'sandbox/error/rate_limit_exceeded', input: 'Hi' })
    expect(whole).toMatchObject({ status: 'failed', error: { code: 'rate_limit_exceeded' }, error_type: 'rate_limit_exceeded' })
  })
})

describe('models', () => {
  test('list: each model has all members that OpenAI returns', async () => {
    const page = await client.models.list()
    expect(page).toMatchObject({ object: 'list' })
    for (const one of page.data) {
      expect(one).toMatchObject({ object: 'model', owned_by: one.id.slice(0, one.id.indexOf('/')), created: expect.any(Number) })
    }
    expect(page.data.map(({ id }) => id)).toContain('sandbox/echo')
  })

  for (const id of ['sandbox/echo', 'sandbox/error/rate_limit_exceeded']) {
    test(`retrieve: ${id}`, async () => {
      expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model', owned_by: 'sandbox', created: expect.any(Number) })
    })
  }

  test('retrieve: a preset is the same as in the list', async () => {
    const body = JSON.stringify({ model: 'sandbox/echo', messages })
    const headers = { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' }
    const saved = await fetch(`${service.api}/presets/retrieved/chat/completions`, { method: 'POST', headers, body })
    expect(saved.ok).toBe(true)
    expect(await client.models.retrieve('@preset/retrieved')).toMatchObject({ id: '@preset/retrieved', object: 'model' })
    expect(await thrownBy(() => client.models.retrieve('@preset/never'))).toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('retrieve: a plain slash, and the literal paths beside it, keep their meaning', async () => {
    const get = async (path: string): Promise<unknown> =>
      (await fetch(`${service.api}/models${path}`, { headers: { authorization: `Bearer ${service.inferenceKey}` } })).json()
    expect(await get('/sandbox/echo')).toMatchObject({ id: 'sandbox/echo', object: 'model', context_length: expect.any(Number) })
    expect(await get('/count')).toEqual({ data: { count: expect.any(Number) } })
    expect(await get('/user')).toMatchObject({ data: expect.any(Array), total_count: expect.any(Number) })
    expect(await get('/sandbox/echo/endpoints')).toMatchObject({ data: { id: 'sandbox/echo', endpoints: expect.any(Array) } })
  })

  for (const id of ['sandbox/never', 'never', 'sandbox%2Fecho', '%', 'sandbox/error/never']) {
    test(`NotFoundError: retrieve ${id}`, async () => {
      expect(await thrownBy(() => client.models.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError)
    })
  }

  test('AuthenticationError: retrieve with an unknown key', async () => {
    expect(await thrownBy(() => clientWith('nonsense').models.retrieve('sandbox/echo'))).toBeInstanceOf(OpenAI.AuthenticationError)
  })
})

const thrownBy = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: await work() }
  } catch (thrown) {
    return thrown
  }
}
