/** Traces of requests, sent to the destinations of a workspace and to the operator's own collector. */
import { Database } from 'bun:sqlite'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'

import { OpenRouter } from '@openrouter/sdk'
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { call, type Answer } from '../support/calls.ts'
import { type FakeUpstream, proseAnswer, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { filesBelow } from '../support/files-below.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { isTrial, type ReceivedSpan, startTraceReceiver } from '../support/trace-receiver.ts'

const services = useServices()
const receiver = await startTraceReceiver()
const stranger = await startTraceReceiver()
const upstream = await startFakeUpstream()
const untrusted = await startFakeUpstream()
let service: StartedService

const provider = (slug: string, { url }: FakeUpstream): string =>
  `  ${slug}: { name: ${slug}, dialects: [openai-chat], base_url: "${url}", api_key: sk-provider-0123456789, data_policy: { retains: false } }`

const config = `
observability: { trusted_hosts: ["${receiver.host}", "${new URL(upstream.url).host}"] }
providers:
${provider('near', upstream)}
${provider('far', untrusted)}
models:
  near/one: { endpoints: [{ provider: near, model: one, prices: { prompt: 1000, completion: 1000 } }] }
  far/one: { endpoints: [{ provider: far, model: one, prices: { prompt: 1000, completion: 1000 } }] }
`

beforeAll(async () => {
  service = await services.start({ config })
  const [{ id }] = ((await call(service, 'GET', '/workspaces')).json as { data: [{ id: string }] }).data
  await call(service, 'PATCH', `/workspaces/${id}`, { body: { is_observability_broadcast_enabled: true } })
})

beforeEach(async () => {
  const { json } = await call(service, 'GET', '/observability/destinations?limit=100')
  for (const { id } of (json as { data: { id: string }[] }).data) await call(service, 'DELETE', `/observability/destinations/${id}`)
  receiver.answer((response) => void response.end('{}'))
  receiver.received.length = 0
  for (const { script } of [upstream, untrusted]) script(say('ANSWER-MARKER'))
})

interface Destination {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly health: { readonly last_success_at: string | null; readonly last_error: string | null; readonly dropped: number }
  readonly [field: string]: unknown
}

const PATH = '/observability/destinations'
const dataOf = ({ json }: { readonly json: unknown }): Destination => (json as { data: Destination }).data

const enter = async (body: object = {}): Promise<Destination> => {
  const made = await call(service, 'POST', PATH, {
    body: { type: 'otel-collector', name: 'Ours', config: { endpoint: receiver.url }, ...body },
  })
  expect({ status: made.status, json: made.json }).toMatchObject({ status: 201 })
  return dataOf(made)
}

const ask = (fields: object = {}, headers: Record<string, string> = {}) =>
  call(service, 'POST', '/chat/completions', {
    key: service.inferenceKey,
    body: { model: 'near/one', messages: [{ role: 'user', content: 'PROMPT-MARKER' }], ...fields },
    headers,
  })

const waitingIn = ({ dataDir }: StartedService): number => {
  const database = new Database(join(dataDir, 'patchbay.db'), { readonly: true })
  try {
    return database.query<{ count: number }, []>('select count(*) as count from traces_waiting').get()?.count ?? 0
  } finally {
    database.close()
  }
}

const spans = async (): Promise<readonly ReceivedSpan[]> => {
  await until(() => receiver.spans().length > 0, 'a trace')
  return receiver.spans()
}

const named = (all: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = all.find((span) => span.name === name)
  if (found === undefined) throw new Error(`There is no span ${name} in ${all.map((span) => span.name).join(', ')}.`)
  return found
}

describe('management', () => {
  test('a destination that lacks required members is refused with each of them, and nothing is stored', async () => {
    const refused = await call(service, 'POST', PATH, { body: { type: 'langfuse', name: 'x', config: { public_key: 'pk' } } })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.json)).toContain('config.secret_key')
    expect((await call(service, 'GET', PATH)).json).toEqual({ data: [], total_count: 0 })
  })

  test('an address with a name and password is refused, since answers and the audit log would show them', async () => {
    const body = { name: 'traces', type: 'webhook', config: { url: 'https://ada:a-password@example.com/hook' } }
    const path = `${PATH}?skip_test=true`
    const refused = await call(service, 'POST', path, { body })
    expect(refused.error.metadata).toMatchObject({ issues: [{ path: 'config.url' }] })
    expect(refused.status).toBe(400)
    for (const listed of [PATH, '/audit-log']) {
      expect((await call(service, 'GET', listed)).text).not.toContain('a-password')
    }
  })

  test('an unsupported type is refused with the list of supported ones', async () => {
    const refused = await call(service, 'POST', PATH, { body: { type: 'clickhouse', name: 'x', config: {} } })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.json)).toContain('otel-collector, webhook, langfuse, datadog, sentry, grafana, newrelic, s3, posthog')
  })

  test('a destination is tested before it is saved, and is not saved if it does not answer', async () => {
    receiver.answer((response) => void response.writeHead(401).end())
    const refused = await call(service, 'POST', PATH, { body: { type: 'otel-collector', name: 'x', config: { endpoint: receiver.url } } })
    expect(refused.status).toBe(400)
    expect(receiver.received.map((one) => [one.path, isTrial(one), one.text])).toEqual([['/v1/traces', true, '{"resourceSpans":[]}']])
    expect((await call(service, 'GET', PATH)).json).toEqual({ data: [], total_count: 0 })
    // A receiver may refuse a request because it is empty.
    receiver.answer((response) => void response.writeHead(400).end())
    expect(await enter()).toMatchObject({ type: 'otel-collector' })
    receiver.answer((response) => void response.writeHead(500).end())
    const skipped = await call(service, 'POST', `${PATH}?skip_test=true`, {
      body: { type: 'otel-collector', name: 'y', config: { endpoint: receiver.url } },
    })
    expect(skipped.status).toBe(201)
  })

  test('a mask is never stored as a value: 400 for one that stands for no secret of the destination, and what it stands for is kept in either case', async () => {
    const copied = { endpoint: receiver.url, headers: { 'x-token': 'tok…cdef' } }
    const refused = await call(service, 'POST', PATH, { body: { type: 'otel-collector', name: 'Copy', config: copied } })
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([
      400,
      expect.stringContaining('config.headers.x-token: This is a masked'),
    ])

    const { id } = await enter({ config: { endpoint: receiver.url, headers: { 'x-token': 'token-0123456789abcdef' } } })
    const change = (headers: object) => call(service, 'PATCH', `${PATH}/${id}`, { body: { config: { headers } } })
    expect((await change({ 'x-other': 'tok…cdef' })).status).toBe(400)
    expect(dataOf(await change({ 'X-Token': 'tok…cdef' })).config['headers']).toEqual({ 'X-Token': 'tok…cdef' })
    await ask()
    await spans()
    expect(receiver.received.find((one) => !isTrial(one))?.headers['x-token']).toBe('token-0123456789abcdef')
  })

  test('a change of what is no secret is made, even if it looks like a mask', async () => {
    const { id } = await enter({ type: 'datadog', config: { url: receiver.url, api_key: 'key-0123456789abcdef', ml_app: 'first' } })
    const changed = await call(service, 'PATCH', `${PATH}/${id}`, { body: { config: { ml_app: 'chat***' } } })
    expect(dataOf(changed).config).toMatchObject({ ml_app: 'chat***', api_key: 'key…cdef' })
  })

  test('secrets are masked in answers and are in no file of the service, and sending a masked value back keeps the secret', async () => {
    const made = await enter({
      type: 'webhook',
      config: { url: receiver.url, secret: 'a-long-secret-of-ours', headers: { 'x-token': 'token-0123456789abcdef' } },
    })
    expect(made.config).toEqual({ url: receiver.url, method: 'POST', secret: 'a-l…ours', headers: { 'x-token': 'tok…cdef' } })
    const patched = await call(service, 'PATCH', `${PATH}/${made.id}`, { body: { config: { ...made.config, method: 'PUT' } } })
    expect(dataOf(patched).config).toEqual({ ...made.config, method: 'PUT' })
    await ask()
    await spans()
    const sent = receiver.received.find((one) => !isTrial(one))
    expect([sent?.method, sent?.headers['x-token']]).toEqual(['PUT', 'token-0123456789abcdef'])
    const [, second = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(sent?.headers['x-patchbay-signature'])) ?? []
    expect(signature).toBe(createHmac('sha256', 'a-long-secret-of-ours').update(`${second}.${sent?.text}`).digest('hex'))
    expect(JSON.stringify((await call(service, 'GET', '/audit-log')).json)).not.toContain('a-long-secret-of-ours')
    const files = filesBelow(service.dataDir)
    // The files contain the row itself, so they would contain its secret, too.
    expect(files.some((bytes) => bytes.includes(made.id))).toBe(true)
    for (const bytes of files)
      for (const secret of ['a-long-secret-of-ours', 'token-0123456789abcdef']) expect(bytes.includes(secret)).toBe(false)
  })

  test('if the address changes, each secret must be entered again, so that none is sent elsewhere', async () => {
    const made = await enter({
      type: 'webhook',
      config: { url: receiver.url, secret: 'a-long-secret-of-ours', headers: { 'x-token': 'token-0123456789abcdef' } },
    })
    const change = (config: object) => call(service, 'PATCH', `${PATH}/${made.id}?skip_test=true`, { body: { config } })
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    const paths = ({ error }: Answer): unknown => (error.metadata['issues'] as { path: string }[]).map(({ path }) => path)
    for (const config of [{ url }, { ...made.config, url }]) {
      const refused = await change(config)
      expect([refused.status, paths(refused)]).toEqual([400, ['config.secret', 'config.headers.x-token']])
    }
    expect(paths(await change({ url, secret: 'another-long-secret' }))).toEqual(['config.headers.x-token'])
    expect((await change({ url: `${receiver.url}/another/path` })).status).toBe(200)
    expect((await change({ url, secret: 'another-long-secret', headers: null })).status).toBe(200)
    expect(dataOf(await call(service, 'GET', `${PATH}/${made.id}`)).config).toEqual({ url, method: 'POST', secret: '…' })
  })

  test('a name can be used only once, and there are at most five destinations of a type', async () => {
    await enter()
    const again = { type: 'otel-collector', name: 'Ours', config: { endpoint: receiver.url } }
    expect((await call(service, 'POST', PATH, { body: again })).status).toBe(409)
    for (const name of ['2', '3', '4', '5']) await enter({ name })
    expect((await call(service, 'POST', PATH, { body: { ...again, name: '6' } })).status).toBe(409)
    await enter({ type: 'webhook', name: '6', config: { url: receiver.url } })
  })

  test('every key of a destination is in its answer', async () => {
    const names =
      'id type name enabled config api_key_hashes sampling_rate privacy_mode filter_rules regions broadcast_generation_cost broadcast_generation_identity broadcast_generation_request_context workspace_id created_at updated_at health'
    expect(Object.keys(await enter()).sort()).toEqual(names.split(' ').sort())
  })

  test('inference keys cannot manage destinations', async () => {
    const { id } = await enter()
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', PATH],
      ['GET', `${PATH}/${id}`],
      ['PATCH', `${PATH}/${id}`],
      ['DELETE', `${PATH}/${id}`],
    ] as const) {
      const body = method === 'POST' || method === 'PATCH' ? { body: {} } : {}
      expect((await call(service, method, path, { key: service.inferenceKey, ...body })).status).toBe(403)
    }
  })

  test('the SDK of the public service creates, reads, changes and deletes one with its own field names', async () => {
    const sdk = new OpenRouter({ apiKey: service.managementKey, serverURL: service.api })
    const made = await sdk.observability.create({
      createObservabilityDestinationRequest: {
        type: 'langfuse',
        name: 'Langfuse',
        config: { baseUrl: receiver.url, publicKey: 'pk-1', secretKey: 'sk-0123456789abcdefghij' },
      },
    })
    expect(made.data).toMatchObject({ type: 'langfuse', config: { publicKey: 'pk-1', secretKey: 'sk-…ghij' } })
    const { id } = made.data as { id: string }
    expect((await sdk.observability.get({ id })).data).toMatchObject({ name: 'Langfuse' })
    const changed = await sdk.observability.update({ id, updateObservabilityDestinationRequest: { samplingRate: 0.5 } })
    expect(changed.data).toMatchObject({ samplingRate: 0.5 })
    await sdk.observability.delete({ id })
    expect((await call(service, 'GET', `${PATH}/${id}`)).status).toBe(404)
  })
})

describe('a trace', () => {
  test('has the request, the span that the client names, and the generation, each as the child of the other', async () => {
    await enter({ broadcast_generation_cost: true, broadcast_generation_identity: true, broadcast_generation_request_context: true })
    const trace = {
      trace_id: '0af76519-16cd-43dd-8448-eb211c80319c',
      trace_name: 'Checkout',
      span_name: 'step',
      generation_name: 'reply',
      tier: 3,
      tags: ['a'],
    }
    await ask({ trace, user: 'ada', session_id: 's-1', temperature: 0.5 }, { 'http-referer': 'https://shop.example' })
    const all = await spans()
    const [root, step, reply] = [named(all, 'Checkout'), named(all, 'step'), named(all, 'reply')]
    expect(all.map(({ traceId }) => traceId)).toEqual(all.map(() => '0af7651916cd43dd8448eb211c80319c'))
    expect(root.parentSpanId).toBeUndefined()
    expect([step.parentSpanId, reply.parentSpanId, reply.kind]).toEqual([root.spanId, step.spanId, 3])
    expect(reply.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'near',
      'gen_ai.request.model': 'near/one',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.conversation.id': 's-1',
      'session.id': 's-1',
      'user.id': 'ada',
      'patchbay.key_label': 'First inference key',
      'http.referer': 'https://shop.example',
      'trace.metadata.tier': '3',
      'trace.metadata.tags': '["a"]',
    })
    expect(Number(reply.attributes['patchbay.cost_usd'])).toBeGreaterThan(0)
    expect(String(reply.attributes['gen_ai.input.messages'])).toContain('PROMPT-MARKER')
    expect(String(reply.attributes['gen_ai.output.messages'])).toContain('ANSWER-MARKER')
    expect(upstream.last.text).not.toContain('Checkout')
  })

  test('its names are in the record of the generation', async () => {
    const answered = await ask({ trace: { trace_name: 'Checkout', order: { id: 7 } } })
    const { json } = await call(service, 'GET', `/generation?id=${(answered.json as { id: string }).id}`)
    expect(json).toMatchObject({ data: { trace: { trace_name: 'Checkout', order: { id: 7 } } } })
  })

  test.each([
    ['/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['/responses', { input: 'Hi' }],
    ['/messages', { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }],
  ] as const)('its names reach destination and record, and no provider, whole and streamed: %s', async (path, fields) => {
    await enter()
    for (const stream of [false, true]) {
      receiver.received.length = 0
      const body = { model: 'near/one', ...fields, stream, trace: { trace_name: 'NAME-MARKER', tier: 'TIER-MARKER' } }
      const answered = await call(service, 'POST', path, { key: service.inferenceKey, body })
      expect(answered.status).toBe(200)
      const root = named(await spans(), 'NAME-MARKER')
      expect(root.attributes['trace.metadata.tier']).toBe('TIER-MARKER')
      const { json } = await call(service, 'GET', `/generation?id=${answered.headers.get('x-generation-id')}`)
      expect(json).toMatchObject({ data: { trace: { trace_name: 'NAME-MARKER', tier: 'TIER-MARKER' }, streamed: stream } })
      expect(upstream.last.text).not.toContain('MARKER')
    }
  })

  test('has nothing of tool calls and their results in privacy mode either', async () => {
    await enter({ privacy_mode: true })
    const calls = (marker: string) => [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: `{"q":"${marker}"}` } }]
    const message = { role: 'assistant', content: null, tool_calls: calls('ANSWERED-MARKER') }
    upstream.script((exchange) =>
      exchange.answer(
        200,
        JSON.stringify({ ...(JSON.parse(proseAnswer('')) as object), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
      ),
    )
    const tools = [{ type: 'function', function: { name: 'find', description: 'TOOL-MARKER', parameters: { type: 'object' } } }]
    const messages = [
      { role: 'user', content: 'PROMPT-MARKER' },
      { role: 'assistant', content: null, tool_calls: calls('ASKED-MARKER') },
      { role: 'tool', tool_call_id: 'call_1', content: 'RESULT-MARKER' },
    ]
    const answered = await ask({ messages, tools })
    expect([answered.status, answered.text]).toEqual([200, expect.stringContaining('ANSWERED-MARKER')])
    await spans()
    expect(receiver.received.map(({ text }) => text).join('')).not.toContain('MARKER')
  })

  test('of more than 64 keys or 16 KiB is refused', async () => {
    const keys = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, at]))
    expect((await ask({ trace: keys })).status).toBe(400)
    expect((await ask({ trace: { text: 'x'.repeat(16 * 1024) } })).status).toBe(400)
    expect((await ask({ trace: { text: 'x'.repeat(16 * 1024 - 100) } })).status).toBe(200)
  })

  test('of a request that fell back has a span for each attempt, and the failed one is marked', async () => {
    await enter()
    upstream.script((exchange) => exchange.answer(503, '{"error":{"message":"busy"}}'))
    await ask({ models: ['far/one'] })
    const all = await spans()
    const generation = all.find(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat')
    const attempts = all.filter(({ parentSpanId }) => parentSpanId === generation?.spanId)
    expect(attempts.map(({ name, status, attributes }) => [name, status?.code, attributes['http.response.status_code']])).toEqual([
      ['chat near/one', 2, '503'],
      ['chat far/one', undefined, '200'],
    ])
  })

  test('continues the trace of the client, and only a trusted provider receives it', async () => {
    await enter()
    const parent = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1' }
    await ask({}, parent)
    await ask({ model: 'far/one' }, parent)
    const all = await spans()
    expect(all[0]).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' })
    const generation = named(all, 'chat near/one')
    expect(upstream.last.headers['traceparent']).toBe(`00-0af7651916cd43dd8448eb211c80319c-${generation.spanId}-01`)
    expect(upstream.last.headers['tracestate']).toBe('vendor=1')
    expect(Object.keys(untrusted.last.headers).filter((name) => name.startsWith('trace'))).toEqual([])
    // Nothing else of the request depends on the trace, its credential least of all.
    const beside = ({ headers }: { readonly headers: object }): object =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:trace|host$|content-length$)/.test(name)))
    expect(beside(upstream.last)).toEqual(beside(untrusted.last))
    expect(upstream.last.headers['authorization']).toBe('Bearer sk-provider-0123456789')
  })

  test('has no prompt or answer in privacy mode, and neither cost nor identity without their flags', async () => {
    await enter({ privacy_mode: true })
    await ask({
      messages: [
        { role: 'system', content: 'SYSTEM-MARKER' },
        { role: 'user', content: 'PROMPT-MARKER' },
      ],
    })
    await spans()
    const text = receiver.received.map((one) => one.text).join('')
    for (const marker of ['PROMPT-MARKER', 'ANSWER-MARKER', 'SYSTEM-MARKER', 'cost', 'key_label', 'user_agent'])
      expect(text).not.toContain(marker)
    expect(text).toContain('gen_ai.usage.input_tokens')
  })

  test('of a request that must not be stored has no prompt or answer, whatever its destination asks for', async () => {
    await enter()
    expect((await ask({ provider: { zdr: true } })).status).toBe(200)
    await spans()
    const text = receiver.received.map((one) => one.text).join('')
    for (const marker of ['PROMPT-MARKER', 'ANSWER-MARKER']) expect(text).not.toContain(marker)
  })
})

describe('what is sent', () => {
  test('follows the keys and the rules of the destination', async () => {
    await enter({ filter_rules: { groups: [{ rules: [{ field: 'session_id', operator: 'regex', value: '^wanted-[0-9]+$' }] }] } })
    await ask({ session_id: 'unwanted' })
    await ask({ session_id: 'wanted-1' })
    const all = await spans()
    expect(new Set(all.map(({ attributes }) => attributes['session.id']))).toEqual(new Set(['wanted-1']))
    const other = await call(service, 'POST', PATH, {
      body: { type: 'webhook', name: 'x', config: { url: receiver.url }, api_key_hashes: ['ab'.repeat(32)] },
    })
    expect(other.status).toBe(400)
  })

  test('ends with the main switch of the workspace', async () => {
    const [{ id }] = ((await call(service, 'GET', '/workspaces')).json as { data: [{ id: string }] }).data
    await enter()
    await call(service, 'PATCH', `/workspaces/${id}`, { body: { is_observability_broadcast_enabled: false } })
    const { id: made } = await enter({ name: 'read again' })
    await ask({ session_id: 'off' })
    await call(service, 'PATCH', `/workspaces/${id}`, { body: { is_observability_broadcast_enabled: true } })
    await call(service, 'PATCH', `${PATH}/${made}`, { body: { name: 'read once more' } })
    await ask({ session_id: 'on' })
    const sessions = new Set((await spans()).map(({ attributes }) => attributes['session.id']))
    expect(sessions).toEqual(new Set(['on']))
  })

  test('is sent again after a failure, with the same ids, and the answer does not wait for it', async () => {
    const { id } = await enter()
    let refusals = 0
    receiver.answer((response) => {
      refusals += 1
      if (refusals === 1) response.writeHead(429, { 'retry-after': '0' }).end()
      else response.end('{}')
    })
    expect((await ask()).status).toBe(200)
    await until(() => receiver.received.filter((one) => !isTrial(one)).length === 2, 'the second try')
    const [first, second] = receiver.received.filter((one) => !isTrial(one)).map(({ text }) => text)
    expect([first, second]).toEqual([second, second])
    await until(async () => dataOf(await call(service, 'GET', `${PATH}/${id}`)).health.last_success_at !== null, 'its health')
  })

  test('is dropped at once if it is refused, and the destination shows why', async () => {
    const { id } = await enter()
    receiver.answer((response) => void response.writeHead(403).end())
    await ask()
    await until(async () => dataOf(await call(service, 'GET', `${PATH}/${id}`)).health.dropped === 1, 'the drop')
    expect(dataOf(await call(service, 'GET', `${PATH}/${id}`)).health.last_error).toBe('It answered 403.')
  })

  test('arrives after the service was killed, together with what waited for an unreachable destination', async () => {
    const first = await services.start({ config })
    await call(first, 'PATCH', '/workspaces/default', { body: { is_observability_broadcast_enabled: true } })
    const made = await call(first, 'POST', PATH, { body: { type: 'otel-collector', name: 'Down', config: { endpoint: receiver.url } } })
    expect(made.status).toBe(201)
    receiver.answer((response) => void response.writeHead(503).end())
    const sessions = ['one', 'two', 'three'].map((name) => `killed-${name}`)
    for (const session_id of sessions) {
      const body = { model: 'near/one', messages: [{ role: 'user', content: 'PROMPT-MARKER' }], session_id }
      expect((await call(first, 'POST', '/chat/completions', { key: first.inferenceKey, body })).status).toBe(200)
    }
    await until(() => waitingIn(first) === 3, 'what waits is in storage')
    first.signal('SIGKILL')
    await first.exited
    // Sealed, as all contents of requests are.
    for (const bytes of filesBelow(first.dataDir)) expect(bytes.includes('PROMPT-MARKER')).toBe(false)
    receiver.received.length = 0
    receiver.answer((response) => void response.end('{}'))
    const second = await services.start({ config, dataDir: first.dataDir })
    const reported = () => new Set(receiver.spans().map(({ attributes }) => attributes['session.id']))
    await until(() => sessions.every((session) => reported().has(session)), 'the traces of the killed process')
    await until(() => waitingIn(second) === 0, 'nothing waits any more')
    // The next start sends nothing again.
    receiver.received.length = 0
    expect(await second.stop()).toBe(0)
    expect(receiver.spans()).toEqual([])
  }, 300_000)

  test('is sent by the next start if it was waiting when the service stopped', async () => {
    const first = await services.start({ config })
    await call(first, 'PATCH', '/workspaces/default', { body: { is_observability_broadcast_enabled: true } })
    await call(first, 'POST', PATH, { body: { type: 'otel-collector', name: 'Down', config: { endpoint: receiver.url } } })
    receiver.answer((response) => void response.writeHead(503).end())
    const body = { model: 'near/one', messages: [{ role: 'user', content: 'Hi' }], session_id: 'stopped' }
    expect((await call(first, 'POST', '/chat/completions', { key: first.inferenceKey, body })).status).toBe(200)
    expect(await first.stop()).toBe(0)
    receiver.received.length = 0
    receiver.answer((response) => void response.end('{}'))
    await services.start({ config, dataDir: first.dataDir })
    await until(() => receiver.spans().some(({ attributes }) => attributes['session.id'] === 'stopped'), 'the trace')
  }, 300_000)

  test('slows no request down: an unresponsive destination adds nothing to the time of an answer', async () => {
    await enter()
    receiver.answer(() => undefined)
    for (let at = 0; at < 20; at += 1) expect((await ask()).status).toBe(200)
  })
})

describe('addresses', () => {
  test('a private one is refused unless the operator trusts it', async () => {
    const refused = await call(service, 'POST', PATH, { body: { type: 'otel-collector', name: 'x', config: { endpoint: stranger.url } } })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.json)).toContain('observability.trusted_hosts')
    expect(stranger.received).toEqual([])
  })

  test('a redirect is not followed', async () => {
    receiver.answer((response) => void response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end())
    const refused = await call(service, 'POST', PATH, { body: { type: 'otel-collector', name: 'x', config: { endpoint: receiver.url } } })
    expect(refused.status).toBe(400)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/v1/traces'])
  })
})
