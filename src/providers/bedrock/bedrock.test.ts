import { describe, expect, test } from 'bun:test'

import type { Script } from '../../../test/support/fake-upstream.ts'
import type { ErrorType, GatewayError } from '../../errors.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import { answers, API_KEY, START, startBedrock, streams } from './ask.test-kit.ts'
import { CLAUDE, GPT, LLAMA, NOVA } from './encode.test-kit.ts'
import { begin, delta, end, event, exception, message, wholeConversation } from './event-stream.test-kit.ts'

const { upstream, ask } = await startBedrock()

describe('the request', () => {
  test('names the model in the address and carries the credential', async () => {
    await ask(streams(wholeConversation()))
    const { path, headers, text } = upstream.last
    expect(path).toBe('/v1/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream')
    expect(headers).toMatchObject({ authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', 'accept-encoding': 'identity' })
    expect(text).toBe('{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}')
  })

  test('of a key pair is signed, for the host that it goes to', async () => {
    await ask(answers(200, '{}'), { stream: false, apiKey: 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI:token==' })
    const { path, headers } = upstream.last
    expect(path).toEndWith('/converse')
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    )
    expect(headers).toMatchObject({ host: new URL(upstream.url).host, 'x-amz-security-token': 'token==' })
  })

  test('of an inference profile by its ARN is one segment of the path', async () => {
    await ask(answers(200, '{}'), { model: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x' })
    expect(upstream.last.path).toBe('/v1/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x/converse-stream')
  })
})

describe('a stream beside tools', () => {
  const tools = [{ type: 'function', name: 'f', description: null, parameters: { type: 'object' } }] as const
  const content = [{ text: 'So' }, { toolUse: { toolUseId: 'a', name: 'f', input: { x: 1 } } }]
  const whole = answers(200, JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason: 'tool_use' }))
  const asked = async (model: string, prompt: Partial<Prompt>): Promise<[string, string[]]> => {
    const reported: string[] = []
    await ask(whole, { model, prompt, warn: ({ code, field }) => reported.push(`${code} ${field}`) })
    return [upstream.last.path.split('/').at(-1) ?? '', reported]
  }

  test.each([
    'us.meta.llama3-3-70b-instruct-v1:0',
    'us.meta.llama4-maverick-17b-instruct-v1:0',
    'mistral.mistral-large-2407-v1:0',
    'us.mistral.pixtral-large-2502-v1:0',
    'ai21.jamba-1-5-large-v1:0',
    'us.writer.palmyra-x5-v1:0',
  ])('is asked of %s as a whole answer, for a stream would be refused', async (model) => {
    expect(await asked(model, { tools })).toEqual(['converse', ['mapped_field stream']])
    expect(await asked(model, {})).toEqual(['converse-stream', []])
  })

  test.each([CLAUDE, NOVA, GPT, 'mistral.mistral-large-3-675b-instruct', 'qwen.qwen3-32b-v1:0', 'deepseek.v3-v1:0'])(
    'is asked of %s',
    async (model) => {
      expect(await asked(model, { tools })).toEqual(['converse-stream', []])
    },
  )

  test('that comes whole is told as one', async () => {
    const { events } = await ask(whole, { model: LLAMA, prompt: { tools } })
    expect(events).toEqual([
      START,
      { type: 'text', text: 'So' },
      { type: 'tool-call', index: 0, id: 'a', name: 'f' },
      { type: 'tool-arguments', index: 0, json: '{"x":1}' },
      { type: 'finish', reason: 'tool_calls', native: 'tool_use' },
    ])
  })
})

describe('a stream that fails', () => {
  const said = [begin(), delta(0, { text: 'Half' })]

  test.each<[string, Script, ErrorType, RegExp]>([
    [
      'is cut in a message',
      streams([...said, event('metadata', {}).subarray(0, 20)]),
      'provider_unavailable',
      /before the answer was complete/,
    ],
    ['ends without its end', streams(said), 'provider_unavailable', /before the answer was complete/],
    ['is damaged', streams([...said, Buffer.from('<html>Bad gateway</html>')]), 'provider_unavailable', /cannot be read/],
    [
      'holds an event that is not JSON',
      streams([...said, message({ ':message-type': 'event', ':event-type': 'contentBlockDelta' }, '{"oops')]),
      'provider_unavailable',
      /not a JSON object/,
    ],
    ['stops for output that is malformed', streams([...said, ...end('malformed_tool_use')]), 'provider_unavailable', /could not read/],
    [
      'tells throttling',
      streams([...said, exception('throttlingException', { message: 'Too many' })]),
      'rate_limit_exceeded',
      /Bedrock: Too many/,
    ],
    ['tells a fault of its own', streams([...said, exception('internalServerException', { message: 'x' })]), 'server', /x/],
    [
      'tells a fault of the model',
      streams([...said, exception('modelStreamErrorException', { originalMessage: 'GPU', originalStatusCode: 500 })]),
      'provider_unavailable',
      /GPU/,
    ],
    ['tells that it is overloaded', streams([...said, exception('serviceUnavailableException', {})]), 'provider_overloaded', /503/],
    [
      'tells that the prompt is too long',
      streams([...said, exception('validationException', { message: 'Input is too long for requested model.' })]),
      'context_length_exceeded',
      /too long/,
    ],
    [
      'ends with a fault that no exception names',
      streams([...said, message({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Internal.' }, '')]),
      'server',
      /Internal/,
    ],
    ['tells something new', streams([...said, exception('astonishingException', { message: 'Oh' })]), 'unmapped', /Oh/],
  ])('because it %s says so behind what came before', async (_, script, type, sentence) => {
    const { events, error } = await ask(script)
    expect(events).toEqual([START, { type: 'text', text: 'Half' }])
    expect(error?.type).toBe(type)
    expect(error?.message).toMatch(sentence)
    expect(error?.metadata['provider_name'] ?? 'Bedrock').toBe('Bedrock')
  })

  test('because its connection breaks is no answer', async () => {
    const { events, error } = await ask(streams(said, { cut: Promise.resolve() }))
    expect(events.some(({ type }) => type === 'finish')).toBe(false)
    expect(error?.type).toBe('provider_unavailable')
  })
})

describe('a refusal', () => {
  const refused = async (status: number, name: string, message: string): Promise<GatewayError | null> => {
    const headers = { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/` }
    return (await ask(answers(status, JSON.stringify({ message }), headers))).error
  }

  test.each<[number, string, string, ErrorType]>([
    [400, 'ValidationException', 'Malformed input request', 'invalid_request'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_length_exceeded'],
    [
      400,
      'ValidationException',
      'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
      'context_length_exceeded',
    ],
    [400, 'ValidationException', 'Input Tokens Exceeded: Number of input tokens exceeds maximum length.', 'context_length_exceeded'],
    [400, 'ValidationException', 'The maximum tokens you requested exceeds the model limit of 8192.', 'invalid_request'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'not_found'],
    [400, 'ValidationException', 'Invocation of model ID x with on-demand throughput isn’t supported.', 'not_found'],
    [400, 'ValidationException', 'Could not process image', 'invalid_image'],
    [400, 'ServiceQuotaExceededException', 'x', 'rate_limit_exceeded'],
    [400, 'IncompleteSignature', 'x', 'provider_unavailable'],
    [403, 'AccessDeniedException', 'x', 'provider_unavailable'],
    [403, 'UnrecognizedClientException', 'x', 'provider_unavailable'],
    [403, 'ExpiredTokenException', 'x', 'provider_unavailable'],
    [404, 'ResourceNotFoundException', 'x', 'not_found'],
    [408, 'ModelTimeoutException', 'x', 'timeout'],
    [424, 'ModelErrorException', 'x', 'provider_unavailable'],
    [429, 'ThrottlingException', 'x', 'rate_limit_exceeded'],
    [429, 'ModelNotReadyException', 'x', 'provider_overloaded'],
    [500, 'InternalServerException', 'x', 'server'],
    [503, 'ServiceUnavailableException', 'x', 'provider_overloaded'],
    [418, 'NewException', 'x', 'unmapped'],
  ])('with %d %s (%s) is %s', async (status, name, message, type) => {
    const error = await refused(status, name, message)
    expect(error?.type).toBe(type)
    expect(error?.metadata).toMatchObject({ provider_name: 'Bedrock', provider_code: name })
  })

  test('may name itself in its body', async () => {
    const { error } = await ask(answers(400, '{"__type":"com.amazon.coral.service#ThrottlingException","Message":"Slow down"}'))
    expect(error).toMatchObject({ type: 'rate_limit_exceeded', message: 'Bedrock: Slow down' })
  })

  test('of a credential says nothing of it', async () => {
    const apiKey = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI:session-token=='
    const message = 'The Canonical String should have been x-amz-security-token:session-token== by AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI'
    const { error } = await ask(answers(403, JSON.stringify({ message }), { 'x-amzn-errortype': 'InvalidSignatureException' }), { apiKey })
    expect(error?.message).toBe('Bedrock refused the credential that this service holds for it (status 403).')
    expect(JSON.stringify(error?.metadata)).not.toMatch(/session-token==|AKIA|wJalr/)
  })

  test.each([[502], [503]])('with a page and %d is told by its status; a wait is told where it helps', async (status) => {
    const { error } = await ask(answers(status, '<html>', { 'retry-after': '7', 'content-type': 'text/html' }))
    expect(error?.type).toBe(status === 502 ? 'provider_unavailable' : 'provider_overloaded')
    expect(error?.retryAfterSeconds).toBe(status === 503 ? 7 : (undefined as never))
  })
})
