/** The counts of a request's input (docs/contract/messages.md#counting, docs/contract/responses.md#counting), as the SDKs of both vendors ask for them. */
import Anthropic from '@anthropic-ai/sdk'
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { call, infer } from '../support/calls.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
/** The address without the version of an API. */
const ROOT = upstream.url.slice(0, -'/v1'.length)
let service: StartedService
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  service = await services.start({
    config: `providers: {
  chat: { dialects: [openai-chat], base_url: "${upstream.url}", any_model: true },
  messages: { dialects: [anthropic], base_url: "${ROOT}", any_model: true },
  responses: { dialects: [openai-responses], base_url: "${upstream.url}", any_model: true, api_key: sk-key },
  gemini: { dialects: [google], base_url: "${ROOT}", any_model: true, api_key: google-key },
  bedrock: { dialects: [bedrock], base_url: "${ROOT}", any_model: true, api_key: bedrock-key } }`,
  })
  openai = new OpenAI({ baseURL: `${service.url}/api/v1`, apiKey: service.inferenceKey, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: `${service.url}/api`, apiKey: service.inferenceKey, maxRetries: 0 })
})

const counting = (exchange: Exchange): Promise<void> => exchange.answer(200, '{"input_tokens": 4711}')
beforeEach(() => upstream.script(counting))

const QUESTION = 'How many tokens are there?'
const TOOL = {
  type: 'function',
  name: 'get_time',
  description: 'Time.',
  parameters: { type: 'object', properties: {} },
  strict: false,
} as const
const byMessages = async (model: string): Promise<object> =>
  await anthropic.messages.countTokens({ model, messages: [{ role: 'user', content: QUESTION }] })
const byResponses = async (model: string): Promise<object> =>
  await openai.responses.inputTokens.count({ model, input: QUESTION, instructions: 'Be exact.', tools: [TOOL] })

/** The providers of other dialects that count. */
const ELSEWHERE: Readonly<Record<string, { path: string; authorization: string; answer: string; members: readonly string[] }>> = {
  'responses/gpt-5': {
    path: '/v1/responses/input_tokens',
    authorization: 'Bearer sk-key',
    answer: '{"object":"response.input_tokens","input_tokens":4711}',
    members: ['model', 'input'],
  },
  'gemini/gemini-3-pro': {
    path: '/v1beta/models/gemini-3-pro:countTokens',
    authorization: 'google-key',
    answer: '{"totalTokens":4711,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4711}]}',
    members: ['generateContentRequest', 'model', 'contents'],
  },
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    path: '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens',
    authorization: 'Bearer bedrock-key',
    answer: '{"inputTokens":4711}',
    members: ['input', 'converse', 'messages'],
  },
}

/** The names of the members of a request, and of the objects that wrap it. */
const membersOf = (body: unknown): readonly string[] =>
  Object.entries(body as object).flatMap(([name, value]) =>
    ['generateContentRequest', 'input', 'converse'].includes(name) && !Array.isArray(value) && typeof value === 'object'
      ? [name, ...membersOf(value)]
      : [name],
  )

const COUNTS = [
  ['messages.countTokens()', byMessages, {}],
  ['responses.inputTokens.count()', byResponses, { object: 'response.input_tokens' }],
] as const

describe.each(COUNTS)('%s', (_, count, members) => {
  test("has the count of a provider that speaks Messages, of the request's own words", async () => {
    expect(await count('messages/m')).toEqual({ ...members, input_tokens: 4711, estimated: false })
    const { path, body } = upstream.exchanges.at(-1) as Exchange
    expect(path).toBe('/v1/messages/count_tokens')
    expect(JSON.stringify(body)).toContain(QUESTION)
  })

  test('is estimated at a provider of another dialect, which is not asked', async () => {
    const before = upstream.exchanges.length
    expect(await count('chat/m')).toEqual({ ...members, input_tokens: expect.any(Number), estimated: true })
    expect(upstream.exchanges).toHaveLength(before)
  })

  test.each(Object.keys(ELSEWHERE))('has the count of %s, of the request in its own words', async (model) => {
    const { path, authorization, answer, members: expected } = ELSEWHERE[model] as (typeof ELSEWHERE)[string]
    upstream.script((exchange) => exchange.answer(200, answer))
    expect(await count(model)).toEqual({ ...members, input_tokens: 4711, estimated: false })
    const asked = upstream.exchanges.at(-1) as Exchange
    expect(asked.path).toBe(path)
    expect(Object.values(asked.headers)).toContain(authorization)
    expect(membersOf(asked.body)).toEqual(expect.arrayContaining([...expected]))
    expect(JSON.stringify(asked.body)).toContain(QUESTION)
    expect(JSON.stringify(asked.body)).not.toMatch(/max_?(?:output_?)?tokens|"stream"|"store"/i)
  })

  test.each(Object.keys(ELSEWHERE).flatMap((model) => [400, 403, 404].map((status) => [model, status] as const)))(
    'is estimated where %s does not count such a request: %d',
    async (model, status) => {
      upstream.script((exchange) => exchange.answer(status, '{"message":"The provided model does not support counting tokens."}'))
      expect(await count(model)).toEqual({ ...members, input_tokens: expect.any(Number), estimated: true })
    },
  )

  test.each(Object.keys(ELSEWHERE))('is the error of %s if it is overloaded', async (model) => {
    upstream.script((exchange) => exchange.answer(503, '{"message":"Come back later."}'))
    const refusal: unknown = await count(model).catch((thrown: unknown) => thrown)
    expect((refusal as { status: number }).status).toBeGreaterThanOrEqual(500)
  })

  test.each([
    [404, '404 page not found'],
    [404, '{"detail":"Not Found"}'],
    [200, '{"error":"Unexpected endpoint or method. (POST /v1/messages/count_tokens)"}'],
  ])('is estimated at a server that speaks Messages and has no such path: %d %s', async (status, text) => {
    upstream.script((exchange) => exchange.answer(status, text))
    expect(await count('messages/m')).toEqual({ ...members, input_tokens: expect.any(Number), estimated: true })
  })

  test('counts what a model gets of messages that change the effort', async () => {
    const change = { role: 'system', content: [], output_config: { effort: 'low' } } as never
    const messages = [{ role: 'user', content: QUESTION } as const, change]
    await anthropic.messages.countTokens({ model: 'messages/claude-opus-4-8', messages })
    expect(upstream.last.body).toMatchObject({ messages: [messages[0]], output_config: { effort: 'low' } })
    expect(upstream.last.body.messages).toHaveLength(1)
    await anthropic.messages.countTokens({ model: 'messages/claude-opus-5-5', messages })
    expect(upstream.last.body.messages).toEqual(messages)
  })

  test('is the error of a provider that refuses the request', async () => {
    upstream.script((exchange) =>
      exchange.answer(400, '{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: wrong"}}'),
    )
    const refusal: unknown = await count('messages/m').catch((thrown: unknown) => thrown)
    expect(refusal).toMatchObject({ status: 400, message: expect.stringContaining('messages.0: wrong') })
  })
})

test('a count names the version of the preset whose prompt it counted', async () => {
  await call(service, 'POST', '/presets/counted/responses', { body: { model: 'chat/m', instructions: 'Be exact.' } })
  await call(service, 'POST', '/presets/counted/responses', { body: { model: 'chat/m', instructions: 'Be more exact.' } })
  for (const [path, body] of [
    ['/responses/input_tokens', { input: QUESTION }],
    ['/messages/count_tokens', { messages: [{ role: 'user', content: QUESTION }] }],
  ] as const) {
    const pinned = await infer(service, { model: '@preset/counted@1', ...body }, { path })
    const live = await infer(service, { model: '@preset/counted', ...body }, { path })
    const plain = await infer(service, { model: 'chat/m', ...body }, { path })
    expect([pinned, live, plain].map(({ headers }) => headers.get('x-preset'))).toEqual(['counted@1', 'counted@2', null])
  }
})

test.each(['/responses/input_tokens', '/messages/count_tokens'])('a dry run of %s is estimated, and no provider is asked', async (path) => {
  const body = { model: 'messages/m', input: QUESTION, messages: [{ role: 'user', content: QUESTION }] }
  const count = (word: string) => infer(service, body, { path, headers: { 'x-service-dry-run': word } })
  const before = upstream.exchanges.length
  expect((await count('enabled')).json).toMatchObject({ input_tokens: expect.any(Number), estimated: true })
  expect((await count('true')).status).toBe(400)
  expect(upstream.exchanges).toHaveLength(before)
  expect((await count('disabled')).json).toMatchObject({ input_tokens: 4711, estimated: false })
})

test('responses/input_tokens refuses an unknown model and an earlier response as Responses refuses them', async () => {
  const refused = await infer(service, { model: 'nobody/none', input: QUESTION }, { path: '/responses/input_tokens' })
  expect(refused.status).toBe(404)
  expect(refused.json).toMatchObject({ error: { code: 404 }, error_type: 'not_found' })
  const earlier = await infer(
    service,
    { model: 'chat/m', input: QUESTION, previous_response_id: 'resp_1' },
    { path: '/responses/input_tokens' },
  )
  expect(earlier.status).toBe(400)
  expect(JSON.stringify(earlier.json)).toContain('previous_response_id')
})
