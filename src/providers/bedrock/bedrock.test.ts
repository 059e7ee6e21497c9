import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { startFakeUpstream, type Exchange, type Script } from '../../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { createUpstream } from '../upstream.ts'
import { bedrock } from './bedrock.ts'
import {
  begin,
  bytesOf,
  delta,
  end,
  event,
  exception,
  message,
  stop,
  toolStart,
  USAGE,
  wholeConversation,
} from './event-stream.test-kit.ts'

const upstream = await startFakeUpstream()

const API_KEY = 'ABSKacme-secret-key-0123456789'
const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

interface Read {
  readonly frames: readonly Frame[]
  readonly events: readonly ModelEvent[]
  /** What it threw, or what its last event says. */
  readonly error: GatewayError | null
}

interface Asked {
  readonly stream?: boolean
  readonly model?: string
  readonly apiKey?: string
}

const ask = async (script: Script, { stream = true, model = CLAUDE, apiKey = API_KEY }: Asked = {}): Promise<Read> => {
  upstream.script(script)
  const clock = createFakeClock()
  const body = JsonBody.read(JSON.stringify({ model: 'bedrock/it', messages: [{ role: 'user', content: 'Hi' }], stream }))
  const target = {
    provider: 'bedrock',
    providerName: 'Bedrock',
    baseUrl: upstream.url,
    apiKey,
    modelId: 'bedrock/it',
    upstreamModel: model,
    maxCompletionTokens: null,
  }
  const attempt = { call: chatFormat.parseCall(body).call, target, number: 0, warn: () => undefined, connection: new AbortController() }
  const frames: Frame[] = []
  let error: GatewayError | null = null
  try {
    for await (const batch of bedrock(attempt, { upstream: createUpstream(clock, TIMEOUTS), clock })) frames.push(...batch)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    error = thrown
  }
  const events = frames.flatMap((frame) => frame.events)
  const last = events.at(-1)
  return { frames, events: events.filter(({ type }) => type !== 'error'), error: last?.type === 'error' ? last.error : error }
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nx-amzn-requestid: req-1\r\n'

/** A body of bytes, and whether its connection then ends before the length that was told. */
const streams =
  (messages: readonly Uint8Array[], { cut = false }: { cut?: boolean } = {}): Script =>
  async (exchange: Exchange) => {
    const bytes = bytesOf(messages)
    await exchange.send(`${HEAD}content-length: ${bytes.length + (cut ? 1 : 0)}\r\n\r\n`)
    await exchange.send(bytes)
    if (cut) exchange.end()
  }

const answers =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Script =>
  (exchange) =>
    exchange.answer(status, body, { 'content-type': 'application/json', 'x-amzn-requestid': 'req-1', ...headers })

const START: ModelEvent = { type: 'start', upstreamId: 'req-1', upstreamModel: null }
const usage = usageOf({ inputFresh: 12, inputCacheRead: 15, inputCacheWrite5m: 5, output: 7 })

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

describe('a stream', () => {
  test('is told as thinking with its proof, text, calls, the end and the counts', async () => {
    const { events, error, frames } = await ask(streams(wholeConversation()))
    expect(events).toEqual([
      START,
      { type: 'reasoning', text: 'Weather, ' },
      { type: 'reasoning', text: 'then.' },
      { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'c2ln', model: 'bedrock/it' } },
      { type: 'text', text: 'Grüße 👋' },
      { type: 'tool-call', index: 0, id: 'tooluse_a', name: 'weather' },
      { type: 'tool-arguments', index: 0, json: '{"city":' },
      { type: 'tool-arguments', index: 0, json: '"Oslo"}' },
      { type: 'tool-call', index: 1, id: 'tooluse_b', name: 'now' },
      { type: 'tool-arguments', index: 1, json: '{}' },
      { type: 'finish', reason: 'tool_calls', native: 'tool_use' },
      { type: 'usage', usage },
    ])
    expect(error).toBeNull()
    expect(frames.every((frame) => frame.native === undefined)).toBe(true)
  })

  test.each<[string, Uint8Array[], ModelEvent[]]>([
    [
      'hidden thinking, whole and in pieces',
      [
        delta(0, { reasoningContent: { redactedContent: 'b3Bh+/==' } }),
        stop(0),
        delta(1, { reasoningContent: { redactedContent: 'YQ==' } }),
        delta(1, { reasoningContent: { redactedContent: 'Yg==' } }),
        stop(1),
      ],
      [
        { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'b3Bh+/==', model: 'bedrock/it' } },
        { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'YWI=', model: 'bedrock/it' } },
      ],
    ],
    [
      'thinking without a signature, in a block that is never closed',
      [delta(0, { reasoningContent: { text: 'Hm' } })],
      [
        { type: 'reasoning', text: 'Hm' },
        { type: 'reasoning-end', proof: null },
      ],
    ],
    [
      'sources of the web',
      [
        delta(0, { text: 'a' }),
        delta(0, {
          citation: {
            title: 'T',
            sourceContent: [{ text: 'b' }, { text: 'c' }],
            location: { web: { url: 'https://a.example', domain: 'a.example' } },
          },
        }),
        delta(0, { citation: { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } } }),
        stop(0),
      ],
      [
        { type: 'text', text: 'a' },
        { type: 'citation', citation: { url: 'https://a.example', title: 'T', content: 'bc', start: null, end: null } },
        { type: 'unknown', kind: 'citation' },
      ],
    ],
    [
      'a picture in pieces',
      [
        event('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'webp' } } }),
        delta(0, { image: { source: { bytes: 'YQ==' } } }),
        delta(0, { image: { source: { bytes: 'Yg==' } } }),
        stop(0),
      ],
      [{ type: 'image', url: 'data:image/webp;base64,YWI=' }],
    ],
    [
      'tools that the provider ran itself, and events of another day',
      [
        event('contentBlockStart', {
          contentBlockIndex: 0,
          start: { toolUse: { toolUseId: 'x', name: 'nova_grounding', type: 'server_tool_use' } },
        }),
        delta(0, { toolUse: { input: '{}' } }),
        stop(0),
        event('contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 'x' } } }),
        delta(1, { toolResult: [{ text: 'r' }] }),
        stop(1),
        event('brandNew', { any: 'thing' }),
      ],
      [
        { type: 'unknown', kind: 'toolUse' },
        { type: 'unknown', kind: 'toolResult' },
      ],
    ],
    [
      'calls that overlap',
      [
        toolStart(0, 'a', 'f'),
        toolStart(1, 'b', 'g'),
        delta(1, { toolUse: { input: '{"b":1}' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        stop(0),
        stop(1),
      ],
      [
        { type: 'tool-call', index: 0, id: 'a', name: 'f' },
        { type: 'tool-call', index: 1, id: 'b', name: 'g' },
        { type: 'tool-arguments', index: 1, json: '{"b":1}' },
        { type: 'tool-arguments', index: 0, json: '{"a":1}' },
      ],
    ],
  ])('may hold %s', async (_, messages, expected) => {
    const { events, error } = await ask(streams([begin(), ...messages, ...end('end_turn')]))
    expect(error).toBeNull()
    expect(events).toEqual([START, ...expected, { type: 'finish', reason: 'stop', native: 'end_turn' }, { type: 'usage', usage }])
  })

  test('of a model that is no Claude keeps no proof that nobody would know', async () => {
    const messages = [begin(), delta(0, { reasoningContent: { text: 'x' } }), delta(0, { reasoningContent: { signature: 's' } }), stop(0)]
    const { events } = await ask(streams([...messages, ...end('end_turn')]), { model: 'us.deepseek.r1-v1:0' })
    expect(events[2]).toEqual({ type: 'reasoning-end', proof: null })
  })

  test('may end without its counts', async () => {
    const { events, error } = await ask(streams([begin(), delta(0, { text: 'a' }), stop(0), ...end('end_turn').slice(0, 1)]))
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', native: 'end_turn' })
    expect(error).toBeNull()
  })

  test('is not read for ever behind its end', async () => {
    const { events, error } = await ask(async (exchange) => {
      await exchange.send(`${HEAD}content-length: 10000000\r\n\r\n`)
      await exchange.send(bytesOf([begin(), ...end('end_turn').slice(0, 1), ...Array.from({ length: 200 }, () => event('ping', {}))]))
    })
    expect(events).toHaveLength(2)
    expect(error).toBeNull()
  })

  test('that comes byte by byte is the same', async () => {
    const { events } = await ask(streams(wholeConversation()))
    const slow = await ask(async (exchange) => {
      const bytes = bytesOf(wholeConversation())
      await exchange.send(`${HEAD}content-length: ${bytes.length}\r\n\r\n`)
      for (let at = 0; at < bytes.length; at += 3) await exchange.send(bytes.subarray(at, at + 3))
    })
    expect(slow.events).toEqual(events)
  })

  test.each<[string, string, string | null]>([
    ['end_turn', 'stop', null],
    ['stop_sequence', 'stop', 'END'],
    ['tool_use', 'tool_calls', null],
    ['max_tokens', 'length', null],
    ['model_context_window_exceeded', 'length', null],
    ['guardrail_intervened', 'content_filter', null],
    ['content_filtered', 'content_filter', null],
    ['never_heard_of', 'stop', null],
  ])('that stops for %s ends with %s', async (native, reason, stopSequence) => {
    const more = stopSequence === null ? {} : { additionalModelResponseFields: { delta: { stop_sequence: stopSequence } } }
    const { events } = await ask(streams([begin(), ...end(native, more)]))
    expect(events.at(-2) as object).toEqual({ type: 'finish', reason, native, ...(stopSequence === null ? {} : { stopSequence }) })
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
    ['breaks off', streams(said, { cut: true }), 'provider_unavailable', /connection to the provider failed/],
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
    ['tells something new', streams([...said, exception('astonishingException', { message: 'Oh' })]), 'provider_unavailable', /Oh/],
  ])('because it %s says so behind what came before', async (_, script, type, sentence) => {
    const { events, error } = await ask(script)
    expect(events).toEqual([START, { type: 'text', text: 'Half' }])
    expect(error?.type).toBe(type)
    expect(error?.message).toMatch(sentence)
    expect(error?.metadata['provider_name'] ?? 'Bedrock').toBe('Bedrock')
  })
})

describe('a whole answer', () => {
  const body = (content: readonly object[], more: object = {}): string =>
    JSON.stringify({
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: USAGE,
      metrics: { latencyMs: 1 },
      ...more,
    })

  test('is told in one frame', async () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'b3Bh' } },
      { text: 'Hi' },
      { citationsContent: { content: [{ text: ' there' }], citations: [{ source: 'https://a.example', title: 'T' }] } },
      { toolUse: { toolUseId: 'a', name: 'f', input: { x: [1, 'ü'] } } },
      { toolUse: { toolUseId: 'b', name: 'g', input: {} } },
      { image: { format: 'png', source: { bytes: 'AA==' } } },
      { hologram: {} },
    ]
    const proof = { format: 'anthropic-claude-v1', model: 'bedrock/it' } as const
    const { events, frames, error } = await ask(answers(200, body(content, { stopReason: 'tool_use' })), { stream: false })
    expect(error).toBeNull()
    expect(frames).toHaveLength(1)
    expect(events).toEqual([
      START,
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning-end', proof: { ...proof, kind: 'signature', data: 'c2ln' } },
      { type: 'reasoning-end', proof: { ...proof, kind: 'encrypted', data: 'b3Bh' } },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' there' },
      { type: 'citation', citation: { url: 'https://a.example', title: 'T', content: null, start: null, end: null } },
      { type: 'tool-call', index: 0, id: 'a', name: 'f' },
      { type: 'tool-arguments', index: 0, json: '{"x":[1,"ü"]}' },
      { type: 'tool-call', index: 1, id: 'b', name: 'g' },
      { type: 'tool-arguments', index: 1, json: '{}' },
      { type: 'image', url: 'data:image/png;base64,AA==' },
      { type: 'unknown', kind: 'hologram' },
      { type: 'usage', usage },
      { type: 'finish', reason: 'tool_calls', native: 'tool_use' },
    ])
  })

  test('tells which sequence ended it', async () => {
    const more = { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } }
    const { events } = await ask(answers(200, body([], more)), { stream: false })
    expect(events.at(-1) as object).toMatchObject({ stopSequence: 'END' })
  })

  test('counts the tokens of each cache once', async () => {
    const told = {
      ...USAGE,
      cacheWriteInputTokens: 9,
      cacheDetails: [
        { ttl: '1h', inputTokens: 4 },
        { ttl: '5m', inputTokens: 5 },
      ],
    }
    const { events } = await ask(answers(200, body([], { usage: told })), { stream: false })
    const expected = usageOf({ inputFresh: 12, inputCacheRead: 15, inputCacheWrite1h: 4, inputCacheWrite5m: 5, output: 7 })
    expect(events.at(-2)).toEqual({ type: 'usage', usage: expected })
  })

  test('takes senseless counts for none', async () => {
    const told = { inputTokens: -1, outputTokens: 1e300, cacheReadInputTokens: '7', cacheDetails: 'x' }
    const { events } = await ask(answers(200, body([], { usage: told })), { stream: false })
    expect(events.at(-2)).toEqual({ type: 'usage', usage: usageOf({}) })
  })

  test('to a request for a stream is taken as well', async () => {
    expect((await ask(answers(200, body([{ text: 'Hi' }])))).events).toContainEqual({ type: 'text', text: 'Hi' })
  })

  test.each<[string, string, ErrorType]>([
    ['is empty', '', 'provider_unavailable'],
    ['is a page', '<html></html>', 'provider_unavailable'],
    ['is no object', '[]', 'provider_unavailable'],
    ['has no message', '{"stopReason":"end_turn"}', 'provider_unavailable'],
    ['is an error after all', '{"__type":"com.amazon.coral.service#ThrottlingException","message":"Slow"}', 'rate_limit_exceeded'],
    ['was malformed by the model', body([{ text: '<tool' }], { stopReason: 'malformed_model_output' }), 'provider_unavailable'],
  ])('that %s is a failure', async (_, text, type) => {
    expect((await ask(answers(200, text), { stream: false })).error?.type).toBe(type)
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
    [418, 'NewException', 'x', 'invalid_request'],
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

  test.each([[502], [503]])('with a page and %d is told by its status, and waits as long as it says', async (status) => {
    const { error } = await ask(answers(status, '<html>', { 'retry-after': '7', 'content-type': 'text/html' }))
    expect(error?.type).toBe(status === 502 ? 'provider_unavailable' : 'provider_overloaded')
    expect(error?.retryAfterSeconds).toBe(7)
  })
})
