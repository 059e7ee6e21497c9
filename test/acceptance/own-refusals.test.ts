/**
 * A field that a provider's dialect cannot express and that the client marked as required: our own refusal keeps its form, whatever mode
 * applies to failures of providers (docs/contract/errors.md#own-checks).
 */
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'

import { call, infer, type Answer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { rawAnswer, startRawUpstream } from '../support/raw-upstream.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const full = await startRawUpstream([rawAnswer(503, '{"error":{"message":"Full."}}')])
upstream.script(say('Hello.'))

const service = await services.start({
  config: `
providers:
  speaks-other: { name: Other, dialects: [anthropic], base_url: "${upstream.url}", api_key: a-key }
  speaks-same: { name: Same, dialects: [openai-chat], base_url: "${upstream.url}", api_key: a-key }
  full: { name: Full, dialects: [openai-chat], base_url: "http://127.0.0.1:${full.port}", api_key: a-key }
models:
  m/other: { endpoints: [{ provider: speaks-other, model: up }] }
  m/both: { endpoints: [{ provider: speaks-other, model: up }, { provider: speaks-same, model: up }] }
  m/full: { endpoints: [{ provider: full, model: up }, { provider: speaks-other, model: up }] }
`,
})

const SETTINGS = ['body', 'status'] as const
const PROMPT = { messages: [{ role: 'user', content: 'Hi' }] }
const ask = (fields: Readonly<Record<string, unknown>>, setting: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  infer(service, { model: 'm/other', ...PROMPT, ...fields }, { headers: { 'x-service-provider-failure': setting, ...headers } })

describe.each(SETTINGS)('provider failures as %s', (setting) => {
  test.each([false, true])('400 for a loss that a strict request does not accept, stream %p: no provider is asked', async (stream) => {
    const before = upstream.exchanges.length
    const { status, error, text } = await ask({ seed: 1, strict: true, stream }, setting, { 'x-service-metadata': 'enabled' })
    expect([status, error.code, error.metadata['error_type']]).toEqual([400, 400, 'invalid_request'])
    expect(error.metadata['issues']).toMatchObject([{ path: 'seed' }])
    expect(text).not.toContain('service_metadata')
    expect(upstream.exchanges.length).toBe(before)
  })

  test('400 for what no provider of the model offers, in the format of each interface', async () => {
    const { status, error } = await ask({ n: 2 }, setting)
    expect([status, error.code]).toEqual([400, 400])
  })

  test('the failure of a provider that was asked earlier stays a provider’s failure', async () => {
    const answer = await ask({ model: 'm/full', n: 2, provider: { order: ['full', 'speaks-other'] } }, setting)
    expect(answer.status).toBe(setting === 'body' ? 200 : 400)
    expect(answer.error.metadata['previous_errors']).toMatchObject([{ provider_name: 'Full', code: 503 }])
  })
})

test('a provider of the same model that can fulfil the request answers it', async () => {
  const { status, json } = await ask({ model: 'm/both', seed: 1, strict: true, provider: { order: ['speaks-other'] } }, 'body')
  expect([status, (json as { provider?: string }).provider]).toEqual([200, 'Same'])
})

test('a refusal of our own does not affect the provider’s health', async () => {
  await ask({ seed: 1, strict: true }, 'body')
  const { json } = await call(service, 'GET', '/models/m/other/endpoints', { key: service.inferenceKey })
  const { data } = json as { data: { endpoints: readonly { uptime_last_5m: number | null }[] } }
  expect(data.endpoints.map(({ uptime_last_5m: uptime }) => uptime)).toEqual([null])
})

test('the header that chooses between the two accepts either name in any case; any other word is a 400', async () => {
  const body = { model: 'm/full', ...PROMPT, provider: { only: ['full'] } }
  const strictly = await services.start({
    config: `errors: { provider_failure: status }\nproviders: { full: { dialects: [openai-chat], base_url: "http://127.0.0.1:${full.port}", api_key: k } }\nmodels: { m/full: { endpoints: [{ provider: full, model: up }] } }\n`,
  })
  const statusFor = async (value: string): Promise<number> =>
    (await infer(strictly, body, { headers: { 'x-service-provider-failure': value } })).status
  expect([await statusFor('body'), await statusFor('nonsense'), await statusFor('STATUS')]).toEqual([200, 400, 503])
})

describe('what every provider would refuse is a 400 that names the field, and no provider is asked', () => {
  test.each<[string, string, object]>([
    ['/chat/completions', 'messages', { messages: [{ role: 'user', content: '' }] }],
    ['/messages', 'messages', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }], system: 'Be brief.', max_tokens: 9 }],
    ['/messages', 'max_tokens', { ...PROMPT, max_tokens: '9' }],
    ['/responses', 'input', { input: [] }],
    ['/chat/completions', 'prompt', { ...PROMPT, prompt: 'Hi' }],
    ['/chat/completions', 'prompt', { ...PROMPT, prompt: { id: 'p' } }],
    ['/chat/completions', 'previous_response_id', { ...PROMPT, previous_response_id: 'resp_1' }],
    ['/messages', 'prompt', { ...PROMPT, max_tokens: 9, prompt: { id: 'p' } }],
    ['/messages', 'previous_response_id', { ...PROMPT, max_tokens: 9, previous_response_id: 'resp_1' }],
    ['/responses', 'prompt', { input: 'Hi', prompt: { id: 'p' } }],
    ['/responses', 'previous_response_id', { input: 'Hi', previous_response_id: 'resp_1' }],
    ['/responses', 'input', { instructions: 'Be brief.' }],
    ['/chat/completions', 'n', { ...PROMPT, n: '128' }],
    ['/chat/completions', 'n', { ...PROMPT, n: 129 }],
    ['/chat/completions', 'best_of', { ...PROMPT, best_of: 1000 }],
    ['/chat/completions', 'Max_Tokens', { ...PROMPT, Max_Tokens: 100_000 }],
  ])('%s: %s in %j', async (path, field, body) => {
    for (const model of ['m/other', 'm/both']) {
      const before = upstream.exchanges.length
      const { status, text } = await infer(service, { model, ...body }, { path })
      expect(status).toBe(400)
      expect(text).toContain(field)
      expect(upstream.exchanges.length).toBe(before)
    }
  })
})

test('null counts as absent if a field must be null', async () => {
  const { status } = await ask({ model: 'm/both', prompt: null, previous_response_id: null }, 'body')
  expect(status).toBe(200)
})

/** The status line and headers of the response to a hand-written GET. */
const rawGet = (path: string, headers: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    let text = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write([`GET ${path} HTTP/1.1`, `Host: ${hostname}`, ...headers, '', ''].join('\r\n')),
    )
    socket.on('data', (piece) => {
      text += String(piece)
      if (!text.includes('\r\n\r\n')) return
      socket.destroy()
      resolve(text.slice(0, text.indexOf('\r\n\r\n')))
    })
    socket.on('error', reject)
  })

const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

test.each(['/v1/responses', '/api/v1/responses'])('426: a WebSocket at %s, so that Codex goes on by HTTP at once', async (path) => {
  const answer = await rawGet(path, WEBSOCKET)
  expect(answer).toStartWith('HTTP/1.1 426 ')
  expect(answer).toMatch(/^upgrade: HTTP\/1\.1\r?$/im)
  expect(await rawGet(path, [])).toStartWith('HTTP/1.1 405 ')
})

test('a path that answers GET does so even if the request offers an upgrade', async () => {
  expect(await rawGet('/health/live', WEBSOCKET)).toStartWith('HTTP/1.1 200 ')
})
