/** What the record of a request says: why it failed, who was asked when, and who was not. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const [bad, good, late] = [await startFakeUpstream(), await startFakeUpstream(), await startFakeUpstream()]
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  bad: { name: Bad, dialects: [openai-chat], base_url: "${bad.url}", api_key: "sk-upstream-secret-0123456789" }
  late: { name: Late, dialects: [openai-chat], base_url: "${late.url}" }
  good: { name: Good, dialects: [openai-chat], base_url: "${good.url}" }
models:
  fake/alone: { endpoints: [{ provider: bad, model: up }] }
  fake/two: { endpoints: [{ provider: late, model: up, prices: { prompt: 1, completion: 1 } }, { provider: good, model: up, prices: { prompt: 9, completion: 9 } }] }
`,
  })
  good.script(say('well'))
})

interface RecordWire {
  readonly [member: string]: unknown
  readonly provider_responses: readonly { readonly [member: string]: unknown }[]
}

const recordOf = async (id: string | null): Promise<RecordWire> => {
  const { json } = await call(service, 'GET', `/generation?id=${id ?? ''}`)
  return (json as { data: RecordWire }).data
}

const INTERFACES = {
  chat: ['/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  responses: ['/responses', { input: 'hi' }],
  messages: ['/messages', { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }],
} as const

const SENTENCE = 'The engine of sk-upstream-secret-0123456789 burst.'
const failing = (status: number) => bad.script((exchange) => exchange.answer(status, JSON.stringify({ error: { message: SENTENCE } })))

describe.each(Object.entries(INTERFACES))('%s', (name, [path, body]) => {
  for (const stream of [false, true]) {
    test(`a failure is recorded with the provider's sentence and no secret, ${stream ? 'streamed' : 'whole'}`, async () => {
      failing(500)
      const answer = await infer(
        service,
        { model: 'fake/alone', stream, ...body },
        { path, headers: { 'x-service-provider-failure': 'status' } },
      )
      const record = await recordOf(answer.headers.get('x-generation-id'))
      expect(record).toMatchObject({
        interface: name,
        http_status: answer.status,
        error: { message: expect.stringContaining('The engine of [redacted] burst.') as string, provider_name: 'Bad' },
        provider_responses: [
          { message: expect.stringContaining('The engine of [redacted] burst.') as string, started_ms: expect.any(Number) as number },
        ],
        removed: [],
        api_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        api_key_name: expect.any(String) as string,
      })
      expect(JSON.stringify(record)).not.toContain('sk-upstream-secret')
      expect(answer.status).toBeGreaterThanOrEqual(500)
    })
  }

  test('the status in the record is the one that the client was told', async () => {
    failing(503)
    const answer = await infer(service, { model: 'fake/alone', ...body }, { path, headers: { 'x-service-provider-failure': 'body' } })
    expect(answer.status).toBe(200)
    expect(await recordOf(answer.headers.get('x-generation-id'))).toMatchObject({ http_status: 200, error_type: 'provider_overloaded' })
  })
})

test('who was not asked is recorded with the reason, and attempts stand on one axis of time', async () => {
  late.script((exchange) => exchange.answer(503, '{}'))
  const { headers } = await infer(service, {
    model: 'fake/two',
    messages: [{ role: 'user', content: 'hi' }],
    temperature: 0.25,
    trace: { trace_id: 't-1', team: 'blue' },
    tools: [{ type: 'function', function: { name: 'find', parameters: {} } }],
  })
  const record = await recordOf(headers.get('x-generation-id'))
  const [first, second] = record.provider_responses
  expect([first?.['provider_name'], second?.['provider_name'], second?.['message']]).toEqual(['Late', 'Good', null])
  expect(Number(second?.['started_ms'])).toBeGreaterThanOrEqual(Number(first?.['started_ms']) + Number(first?.['latency']) - 1)
  expect(Number(second?.['first_token_ms'])).toBeGreaterThanOrEqual(Number(second?.['started_ms']))
  expect(record).toMatchObject({
    error: null,
    http_status: 200,
    settings: { model: 'fake/two', temperature: 0.25 },
    settings_left_out: ['tools'],
    trace: { trace_id: 't-1', team: 'blue' },
  })

  const chosen = await infer(service, { model: 'fake/two', provider: { ignore: ['late'] }, messages: [{ role: 'user', content: 'hi' }] })
  expect((await recordOf(chosen.headers.get('x-generation-id')))['removed']).toEqual([
    { provider: 'late', model: 'fake/two', reason: expect.any(String) as string },
  ])
})
