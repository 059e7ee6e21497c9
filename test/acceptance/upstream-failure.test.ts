/**
 * Failures of providers, as clients see them, in both settings (docs/contract/errors.md#provider-failures), and which provider answers
 * instead.
 */
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { type ErrorWire, infer, streamChunks } from '../support/calls.ts'
import { type Script, dataEvent, FINISH_CHUNK, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const CREDENTIAL = 'sk-upstream-credential-0123456789'

const TWO_MODELS = 40

const services = useServices()
const upstream = await startFakeUpstream()
const spare = await startFakeUpstream()

const service = await services.start({
  config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: ${CREDENTIAL} }
  spare: { name: Spare, dialects: [openai-chat], base_url: "${spare.url}", api_key: other-credential }
  nobody: { name: Nobody, dialects: [openai-chat], base_url: "http://127.0.0.1:1/v1", api_key: other-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
${Array.from(
  { length: TWO_MODELS },
  (_, number) => `  fake/two-${number}: { endpoints: [{ provider: fake, model: up-one }, { provider: spare, model: spare-one }] }`,
).join('\n')}
  fake/away: { endpoints: [{ provider: nobody, model: x }, { provider: spare, model: spare-one }] }
  fake/gone: { endpoints: [{ provider: nobody, model: x }] }
`,
})

/** A model with two providers and without a history, since a provider that failed recently is tried last. */
const two = (): string => `fake/two-${twoUsed++ % TWO_MODELS}`
let twoUsed = 0

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello!' }]
const STATUS = { 'x-service-provider-failure': 'status' }

const errorBody = (code: string, message: string): string => JSON.stringify({ error: { message, type: code, code, param: null } })

interface Failure {
  readonly script: Script
  readonly code: number
  readonly type: string
  readonly retryAfter?: string
  readonly Class: abstract new (...parts: never[]) => Error
  readonly message?: string
}

const failures: Readonly<Record<string, Failure>> = {
  '429 with Retry-After': {
    script: (exchange) => exchange.answer(429, errorBody('rate_limit_exceeded', 'Slow down, please.'), { 'retry-after': '7' }),
    code: 429,
    type: 'rate_limit_exceeded',
    retryAfter: '7',
    Class: OpenAI.RateLimitError,
    message: 'Slow down, please.',
  },
  '500 with a page of HTML': {
    script: (exchange) => exchange.answer(500, '<html><body>stack trace of the provider</body></html>', { 'content-type': 'text/html' }),
    code: 500,
    type: 'server',
    Class: OpenAI.InternalServerError,
  },
  '502 with a page of HTML': {
    script: (exchange) => exchange.answer(502, '<html>bad gateway</html>', { 'content-type': 'text/html' }),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  '503 with Retry-After': {
    script: (exchange) => exchange.answer(503, errorBody('overloaded_error', 'Too busy.'), { 'retry-after': '3' }),
    code: 503,
    type: 'provider_overloaded',
    retryAfter: '3',
    Class: OpenAI.InternalServerError,
    message: 'Too busy.',
  },
  '504 without a body': {
    script: (exchange) => exchange.answer(504, ''),
    code: 504,
    type: 'timeout',
    Class: OpenAI.InternalServerError,
  },
  '400 for a prompt that is too long': {
    script: (exchange) => exchange.answer(400, errorBody('context_length_exceeded', 'The maximum context length is 10 tokens.')),
    code: 400,
    type: 'context_length_exceeded',
    Class: OpenAI.BadRequestError,
    message: 'The maximum context length is 10 tokens.',
  },
  '400 for a parameter': {
    script: (exchange) => exchange.answer(400, errorBody('invalid_value', 'seed must be even.')),
    code: 400,
    type: 'invalid_request',
    Class: OpenAI.BadRequestError,
    message: 'seed must be even.',
  },
  '401, for our own credential': {
    script: (exchange) => exchange.answer(401, errorBody('invalid_api_key', `Incorrect API key provided: ${CREDENTIAL}.`)),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  '402, for our own account': {
    script: (exchange) => exchange.answer(402, errorBody('insufficient_quota', 'Pay first.')),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  'a redirect': {
    script: (exchange) => exchange.answer(302, '', { location: 'http://127.0.0.1:1/elsewhere' }),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  '200 with an error in its body': {
    script: (exchange) => exchange.answer(200, JSON.stringify({ error: { code: 429, message: 'Slow down, please.' } })),
    code: 429,
    type: 'rate_limit_exceeded',
    Class: OpenAI.RateLimitError,
    message: 'Slow down, please.',
  },
  '200 with an empty body': {
    script: (exchange) => exchange.answer(200, ''),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  '200 without choices': {
    script: (exchange) => exchange.answer(200, '{"choices":[]}'),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  '200 with something that is not JSON': {
    script: (exchange) => exchange.answer(200, 'Hello!'),
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  'an empty stream': {
    script: async (exchange) => {
      await exchange.head(200)
      await exchange.done()
    },
    code: 502,
    type: 'provider_unavailable',
    Class: OpenAI.InternalServerError,
  },
  'a stream that begins with an error': {
    script: (exchange) => exchange.stream([JSON.stringify({ error: { code: 429, message: 'Slow down, please.' } })]),
    code: 429,
    type: 'rate_limit_exceeded',
    Class: OpenAI.RateLimitError,
    message: 'Slow down, please.',
  },
}

const checkError = (error: ErrorWire | undefined, { code, type, message }: Failure): void => {
  expect(error).toMatchObject({ code, metadata: { error_type: type } })
  if (message !== undefined) expect(error?.message).toContain(message)
  if (code === 500) {
    expect(error?.message).toBe('Internal Server Error')
    expect(error?.metadata).toEqual({ error_type: type })
  } else expect(error?.metadata).toMatchObject({ provider_name: 'Fake' })
}

describe('by default: 200, the failure in the body or the stream', () => {
  for (const [what, failure] of Object.entries(failures)) {
    test(`${failure.type}: ${what}`, async () => {
      upstream.script(failure.script)
      const whole = await infer(service, { model: 'fake/one', messages })
      expect(whole.status).toBe(200)
      expect(whole.json).toMatchObject({ id: whole.headers.get('x-generation-id') })
      expect(whole.json).not.toHaveProperty('choices')
      checkError(whole.error, failure)
      expect(whole.headers.get('retry-after')).toBe(failure.retryAfter ?? null)

      const stream = await infer(service, { model: 'fake/one', messages, stream: true })
      expect(stream.status).toBe(200)
      const chunks = streamChunks(stream.text)
      expect(chunks).toHaveLength(1)
      expect(chunks[0]?.choices).toMatchObject([{ index: 0, delta: { content: '' }, finish_reason: 'error' }])
      checkError(chunks[0]?.error, failure)
      expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(whole.text + stream.text).not.toContain(CREDENTIAL)
      expect(whole.text + stream.text).not.toContain('stack trace')
    })
  }
})

describe('with X-Service-Provider-Failure: status, the real status while nothing was sent', () => {
  for (const [what, failure] of Object.entries(failures)) {
    test(`${failure.code}: ${what}`, async () => {
      upstream.script(failure.script)
      const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0, defaultHeaders: STATUS })
      for (const stream of [false, true]) {
        const answer = await infer(service, { model: 'fake/one', messages, stream }, { headers: STATUS })
        expect(answer.status).toBe(failure.code)
        checkError(answer.error, failure)
        expect(answer.headers.get('retry-after')).toBe(failure.retryAfter ?? null)
        expect(answer.text).not.toContain(CREDENTIAL)
        const thrown = await thrownBy(() => client.chat.completions.create({ model: 'fake/one', messages, stream }))
        expect(thrown).toBeInstanceOf(failure.Class)
      }
    })
  }

  test('200: our own checks have their real status in both settings', async () => {
    for (const headers of [{}, STATUS]) {
      expect((await infer(service, { model: 'fake/never', messages }, { headers })).status).toBe(404)
      expect((await infer(service, { model: 'fake/one' }, { headers })).status).toBe(400)
    }
  })

  test('the openai client retries a 429 by itself, and gets its answer', async () => {
    let tries = 0
    upstream.script((exchange) =>
      tries++ === 0 ? exchange.answer(429, errorBody('x', 'Slow down.'), { 'retry-after': '0' }) : say('Hi.')(exchange),
    )
    const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 2, defaultHeaders: STATUS })
    const answer = await client.chat.completions.create({ model: 'fake/one', messages })
    expect(answer.choices[0]?.message.content).toBe('Hi.')
    expect(tries).toBe(2)
  })

  test('a provider that is not there', async () => {
    const answer = await infer(service, { model: 'fake/gone', messages }, { headers: STATUS })
    expect(answer.status).toBe(502)
    expect(answer.error).toMatchObject({ code: 502, metadata: { error_type: 'provider_unavailable', provider_name: 'Nobody' } })
  })

  test('the setting of the operator holds where the request says nothing, and the request wins over it', async () => {
    const strict = await services.start({ config: 'errors: { provider_failure: status }\n' })
    const body = { model: 'sandbox/error/provider_overloaded', messages }
    expect((await infer(strict, body)).status).toBe(503)
    expect((await infer(strict, body, { headers: { 'x-service-provider-failure': 'body' } })).status).toBe(200)
  })
})

describe('in mid-stream', () => {
  test('an error chunk of the provider ends the stream with ours, after what was said', async () => {
    upstream.script((exchange) =>
      exchange.stream([proseChunk('Well, '), JSON.stringify({ error: { code: 503, message: 'Too busy.' } }), proseChunk('too late')]),
    )
    for (const headers of [{}, STATUS]) {
      const answer = await infer(service, { model: two(), messages, stream: true }, { headers })
      expect(answer.status).toBe(200)
      const chunks = streamChunks(answer.text)
      expect(chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual(['Well, ', ''])
      expect(chunks[1]).toMatchObject({
        choices: [{ finish_reason: 'error' }],
        error: { code: 503, metadata: { error_type: 'provider_overloaded' } },
      })
      expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(answer.text).not.toContain('too late')
    }
  })

  test('an event that is not JSON is never passed on', async () => {
    upstream.script((exchange) => exchange.stream([proseChunk('Well, '), 'oops', FINISH_CHUNK]))
    const answer = await infer(service, { model: 'fake/one', messages, stream: true })
    expect(streamChunks(answer.text).at(-1)?.error).toMatchObject({ code: 502, metadata: { error_type: 'provider_unavailable' } })
    expect(answer.text).not.toContain('oops')
  })
})

describe('failover', () => {
  const elsewhere = [
    '429 with Retry-After',
    '500 with a page of HTML',
    '503 with Retry-After',
    '200 with an error in its body',
    '200 with an empty body',
    'an empty stream',
    'a stream that begins with an error',
  ]
  for (const what of elsewhere) {
    test(`200: ${what}, and the second provider answers`, async () => {
      upstream.script(failures[what]!.script)
      spare.script(say('From the spare.'))
      for (const stream of [false, true]) {
        const answer = await infer(service, { model: two(), messages, stream })
        expect(answer.status).toBe(200)
        expect(answer.text).toContain('From the spare.')
        expect(answer.text).toContain('"provider":"Spare"')
        expect(answer.text).not.toContain('"error"')
        expect(answer.headers.get('retry-after')).toBeNull()
        expect(spare.last.body.model).toBe('spare-one')
      }
    })
  }

  const breaks: Readonly<Record<string, Script>> = {
    'a connection that ends before an answer': (exchange) => exchange.end(),
    'a reset before an answer': (exchange) => exchange.reset(),
    'a reset after the headers': async (exchange) => {
      await exchange.head(200)
      exchange.reset()
    },
    'a reset after chunks that say nothing': async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('')))
      exchange.reset()
    },
  }
  for (const [what, script] of Object.entries(breaks)) {
    test(`200: ${what}, and the second provider answers`, async () => {
      upstream.script(script)
      spare.script(say('From the spare.'))
      for (const stream of [false, true]) {
        const answer = await infer(service, { model: two(), messages, stream })
        expect(answer.text).toContain('From the spare.')
        expect(answer.text).not.toContain('"error"')
      }
    })
  }

  test('200: a provider that is not there, and the second answers', async () => {
    spare.script(say('From the spare.'))
    expect((await infer(service, { model: 'fake/away', messages })).text).toContain('From the spare.')
  })

  test("a fault of the request's own is told at once: nobody else is asked", async () => {
    upstream.script(failures['400 for a parameter']!.script)
    const asked = spare.exchanges.length
    expect((await infer(service, { model: two(), messages })).error).toMatchObject({ code: 400 })
    expect(spare.exchanges).toHaveLength(asked)
  })

  test('nobody else is asked where the request forbids it', async () => {
    upstream.script(failures['503 with Retry-After']!.script)
    const asked = spare.exchanges.length
    const answer = await infer(service, { model: two(), messages, provider: { allow_fallbacks: false } })
    expect(answer.error).toMatchObject({ code: 503 })
    expect(spare.exchanges).toHaveLength(asked)
  })

  test('after content, the answer is never begun again by another provider', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('Well, ')))
    })
    spare.script(say('From the spare.'))
    const asked = spare.exchanges.length
    const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
    let said = ''
    const thrown = await thrownBy(async () => {
      for await (const chunk of await client.chat.completions.create({ model: two(), messages, stream: true })) {
        said += chunk.choices[0]?.delta.content ?? ''
        // A reset may overtake data sent before it, so it waits until that has arrived.
        upstream.last.reset()
      }
    })
    expect(said).toBe('Well, ')
    expect(thrown).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
    expect(spare.exchanges).toHaveLength(asked)
  })

  test('when all fail, the last failure is told', async () => {
    upstream.script(failures['500 with a page of HTML']!.script)
    spare.script((exchange) => exchange.answer(429, errorBody('rate_limit_exceeded', 'Slow down.'), { 'retry-after': '9' }))
    const answer = await infer(service, { model: two(), messages }, { headers: STATUS })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('9')
    expect(answer.error.metadata).toMatchObject({ provider_name: 'Spare' })
  })

  test("the request's own list of models is tried in its order", async () => {
    upstream.script(failures['503 with Retry-After']!.script)
    const answer = await infer(service, { model: 'fake/one', models: ['sandbox/echo'], messages })
    expect(answer.json).toMatchObject({ model: 'sandbox/echo', choices: [{ message: { content: 'Hello!' } }] })
  })
})

const thrownBy = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: await work() }
  } catch (thrown) {
    return thrown
  }
}
