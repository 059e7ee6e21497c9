/**
 * Each vendor is sent what it documents, over the wire, to a receiver that accepts nothing else: its path, its authentication, its body.
 * The addresses are those in the vendor's documentation if the host can be configured; New Relic's cannot.
 */
import { createHash, createHmac } from 'node:crypto'

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { type Delivered, isTrial, startTraceReceiver } from '../support/trace-receiver.ts'

const services = useServices()
const receiver = await startTraceReceiver()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
observability: { trusted_hosts: ["${receiver.host}"] }
providers:
  near: { name: Near, dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-provider-0123456789 }
models:
  near/one: { endpoints: [{ provider: near, model: one, prices: { prompt: 1000, completion: 1000 } }] }
`,
  })
  await call(service, 'PATCH', '/workspaces/default', { body: { is_observability_broadcast_enabled: true } })
  upstream.script(say('ANSWER-MARKER'))
})

const PATH = '/observability/destinations'

beforeEach(async () => {
  const { json } = await call(service, 'GET', `${PATH}?limit=100`)
  for (const { id } of (json as { data: { id: string }[] }).data) await call(service, 'DELETE', `${PATH}/${id}`)
  receiver.received.length = 0
})

/** Returns why a request is not as the vendor documents it; null if it is. */
type Check = (request: Delivered) => string | null

/** Saves the destination and makes a request; both the test delivery and the trace must pass the vendor's check. */
const delivered = async (type: string, config: object, check: Check, fields: object = {}): Promise<Delivered> => {
  const refusals: string[] = []
  receiver.answer((response, request) => {
    const refusal = check(request)
    if (refusal !== null) refusals.push(refusal)
    response.writeHead(refusal === null ? 200 : 401).end('{}')
  })
  const body = { type, name: type, config, broadcast_generation_cost: true }
  const made = await call(service, 'POST', PATH, { body })
  expect({ refusals, status: made.status }).toEqual({ refusals: [], status: 201 })
  const asked = {
    model: 'near/one',
    messages: [{ role: 'user', content: 'PROMPT-MARKER' }],
    session_id: 'session-1',
    user: 'ada',
    ...fields,
  }
  expect((await call(service, 'POST', '/chat/completions', { key: service.inferenceKey, body: asked })).status).toBe(200)
  await until(() => receiver.received.some((one) => !isTrial(one) && !one.path.includes('connection-test')), `a trace for ${type}`)
  expect(refusals).toEqual([])
  const found = receiver.received.find((one) => !isTrial(one) && !one.path.includes('connection-test'))
  if (found === undefined) throw new Error('Nothing came.')
  return found
}

const all =
  (...checks: Check[]): Check =>
  (request) =>
    checks.map((check) => check(request)).find((refusal) => refusal !== null) ?? null
const posted =
  (path: string): Check =>
  ({ method, path: given, headers }) =>
    method === 'POST' && given === path && headers['content-type'] === 'application/json'
      ? null
      : `${method} ${given} ${String(headers['content-type'])}`
const header =
  (name: string, value: string): Check =>
  ({ headers }) =>
    headers[name] === value ? null : `${name}: ${String(headers[name])}`
const otlp: Check = ({ text }) => (Array.isArray((JSON.parse(text) as { resourceSpans?: unknown }).resourceSpans) ? null : text)
const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

describe('destinations that accept OTLP', () => {
  test.each<[string, object, Check]>([
    [
      'datadog',
      { url: receiver.url, api_key: 'dd-key-0123456789', ml_app: 'shop' },
      all(posted('/v1/traces'), header('dd-api-key', 'dd-key-0123456789'), header('dd-otlp-source', 'llmobs'), otlp),
    ],
    [
      'sentry',
      { otlp_endpoint: `${receiver.url}/api/42/integration/otlp/v1/traces`, dsn: 'https://a785682ddda719b7@o45.ingest.sentry.io/42' },
      all(posted('/api/42/integration/otlp/v1/traces'), header('x-sentry-auth', 'sentry sentry_key=a785682ddda719b7'), otlp),
    ],
    [
      'grafana',
      { base_url: receiver.url, instance_id: '123456', api_key: 'glc_0123456789' },
      all(posted('/otlp/v1/traces'), header('authorization', basic('123456', 'glc_0123456789')), otlp),
    ],
    [
      'langfuse',
      { base_url: receiver.url, public_key: 'pk-lf-1', secret_key: 'sk-lf-0123456789' },
      all(
        posted('/api/public/otel/v1/traces'),
        header('authorization', basic('pk-lf-1', 'sk-lf-0123456789')),
        header('x-langfuse-ingestion-version', '4'),
        otlp,
      ),
    ],
  ])('%s: path, credentials and body follow its documentation', async (type, config, check) => {
    await delivered(type, config, check)
    const spans = receiver.spans()
    const generation = spans.find(({ name }) => name.startsWith('chat '))
    expect(generation?.attributes).toMatchObject({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'near/one' })
    expect(generation?.traceId).toMatch(/^[0-9a-f]{32}$/)
  })

  test('datadog reads the name of the application from the resource', async () => {
    const { text } = await delivered('datadog', { url: receiver.url, api_key: 'dd-key-0123456789', ml_app: 'shop' }, otlp)
    expect(text).toContain('{"key":"ml_app","value":{"stringValue":"shop"}}')
  })
})

describe('posthog', () => {
  test('accepts a batch of events with the project key, each a generation with its own time and person', async () => {
    const { text } = await delivered(
      'posthog',
      { endpoint: receiver.url, api_key: 'phc_0123456789' },
      all(posted('/batch/'), ({ text: body }) => ((JSON.parse(body) as { api_key: unknown }).api_key === 'phc_0123456789' ? null : body)),
      { trace: { trace_id: 'order-7', generation_name: 'reply', tier: 'gold', deep: { a: { b: { c: 1 } } } } },
    )
    const { batch } = JSON.parse(text) as { batch: { event: string; timestamp: string; properties: Record<string, unknown> }[] }
    expect(batch).toHaveLength(1)
    const [{ event, timestamp, properties } = { event: '', timestamp: '', properties: {} }] = batch
    expect([event, Number.isNaN(Date.parse(timestamp))]).toEqual(['$ai_generation', false])
    expect(properties).toMatchObject({
      distinct_id: 'ada',
      $ai_session_id: 'session-1',
      $ai_span_name: 'reply',
      $ai_model: 'near/one',
      $ai_input: [{ role: 'user', content: [{ type: 'text', content: 'PROMPT-MARKER' }] }],
      $ai_input_tokens: 7,
      $ai_output_tokens: 3,
      $ai_is_error: false,
      $ai_stream: false,
      $ai_total_cost_usd: 0.01,
      metadata_tier: 'gold',
      metadata_deep: { a: { b: '{"c":1}' } },
    })
    expect(String(properties['$ai_trace_id'])).toMatch(/^[0-9a-f]{32}$/)
    expect(Number(properties['$ai_latency'])).toBeGreaterThan(0)
    expect(JSON.stringify(properties['$ai_output_choices'])).toContain('ANSWER-MARKER')
  })
})

describe('s3', () => {
  const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
  const config = {
    endpoint: receiver.url,
    bucket_name: 'traces',
    region: 'eu-central-1',
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: SECRET,
  }

  test('accepts one signed PUT of an object per trace, and no signature by another secret is valid', async () => {
    const put = await delivered('s3', { ...config, prefix: 'our traces' }, signedBy(SECRET))
    const today = new Date().toISOString().slice(0, 4)
    expect(decodeURIComponent(put.path)).toMatch(
      new RegExp(`^/traces/our traces/${today}-\\d\\d-\\d\\d/[0-9a-f]{32}-${today}[^/:]*Z\\.json$`),
    )
    expect(receiver.received.map(({ path }) => path.includes('connection-test.json'))).toEqual([true, false])
    expect((JSON.parse(put.text) as { resourceSpans: unknown[] }).resourceSpans).toHaveLength(1)
    const wrong = await call(service, 'POST', PATH, {
      body: { type: 's3', name: 'wrong', config: { ...config, secret_access_key: 'x'.repeat(40) } },
    })
    expect(wrong.status).toBe(400)
  })

  test('a session token is part of the signature, and a name chosen by a user is one segment of the path', async () => {
    const more = { session_token: 'token-0123456789', path_template: '{prefix}/{year}/{month}/{day}/{apiKeyName}', prefix: 'p' }
    const put = await delivered('s3', { ...config, ...more }, all(signedBy(SECRET), header('x-amz-security-token', 'token-0123456789')))
    expect(put.path.split('/')).toHaveLength(8)
  })
})

/** Signature Version 4, implemented from Amazon's documentation without the service's own signer. */
const signedBy =
  (secret: string): Check =>
  ({ method, path, headers, text }) => {
    const authorization = String(headers['authorization'])
    const [, day = '', region = '', names = '', signature = ''] =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        authorization,
      ) ?? []
    const hash = createHash('sha256').update(text).digest('hex')
    if (method !== 'PUT' || headers['x-amz-content-sha256'] !== hash) return `${method}, body ${String(headers['x-amz-content-sha256'])}`
    const signed = names.split(';')
    for (const needed of ['host', 'x-amz-date', 'x-amz-content-sha256']) if (!signed.includes(needed)) return `${needed} is not signed`
    const canonical = [method, path, '', ...signed.map((name) => `${name}:${String(headers[name]).trim()}`), '', names, hash].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
    const keyOf = (key: string | Buffer, part: string): Buffer => createHmac('sha256', key).update(part).digest()
    const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(keyOf, `AWS4${secret}`)
    return createHmac('sha256', key).update(toSign).digest('hex') === signature ? null : `signature of ${authorization}`
  }
