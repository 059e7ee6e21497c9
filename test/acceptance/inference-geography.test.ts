/** A request that may run in one geography alone, and what the vendor charges beside tokens, with the shipped prices. */
import { beforeAll, expect, test } from 'bun:test'

import { type Answer, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const [claude, others] = [await startFakeUpstream(), await startFakeUpstream()]
let service: StartedService

beforeAll(async () => {
  const messages = others.url.slice(0, -'/v1'.length)
  service = await services.start({
    config: `
providers:
  anthropic: { base_url: "${claude.url.slice(0, -'/v1'.length)}", api_key: a-key }
  minimax: { dialects: [anthropic], base_url: "${messages}", api_key: a-key }
  chat: { dialects: [openai-chat], base_url: "${others.url}", api_key: a-key }
  openai: { base_url: "${others.url}", api_key: a-key }
models:
  v/imitated: { endpoints: [{ provider: minimax, model: up }] }
  v/translated: { endpoints: [{ provider: chat, model: up }] }
  v/known: { endpoints: [{ provider: openai, model: up }, { provider: anthropic, model: claude-opus-4-6 }] }
  v/any: { endpoints: [{ provider: chat, model: up }, { provider: anthropic, model: claude-opus-4-6 }] }
`,
  })
})

const answering = (usage: object): void =>
  claude.script((exchange) =>
    exchange.answer(
      200,
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-6',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1000, output_tokens: 100, ...usage },
      }),
    ),
  )

const ask = (model: string, more: object = {}): Promise<Answer> =>
  infer(service, { model, max_tokens: 200, messages: [{ role: 'user', content: 'Hi' }], ...more }, { path: '/messages' })

const costOf = ({ json }: Answer): number => (json as { usage: { cost: number } }).usage.cost

test('reaches the provider that can keep it there, and costs what the vendor charges for it', async () => {
  answering({ inference_geo: 'us' })
  const answer = await ask('anthropic/claude-opus-4.6', { inference_geo: 'us' })
  expect(claude.last.body['inference_geo']).toBe('us')
  // (1000 × $5 + 100 × $25) a million, and a tenth on top
  expect(costOf(answer)).toBe(0.00825)
  expect(answer.json).toMatchObject({ usage: { inference_geo: 'us' } })
})

test('the geography that the account at the vendor sets is charged too, and any geography is not', async () => {
  answering({ inference_geo: 'us' })
  expect(costOf(await ask('anthropic/claude-opus-4.6'))).toBe(0.00825)
  answering({ inference_geo: 'global' })
  expect(costOf(await ask('anthropic/claude-opus-4.6', { inference_geo: 'global' }))).toBe(0.0075)
})

test('no provider that could not promise it is asked: another one is, or the request is a 400 that names the field', async () => {
  answering({ inference_geo: 'us' })
  const before = others.exchanges.length
  for (const model of ['v/imitated', 'v/translated']) {
    const { status, json } = await ask(model, { inference_geo: 'us' })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('inference_geo') } })
  }
  expect((await ask('v/any', { inference_geo: 'us', provider: { order: ['chat', 'anthropic'] } })).status).toBe(200)
  expect(others.exchanges.length).toBe(before)
  others.script(say('Hello.'))
  expect((await ask('v/translated', { inference_geo: 'global' })).status).toBe(200)
})

test.each([
  ['chat', '/chat/completions', 'messages'],
  ['responses', '/responses', 'input'],
] as const)(
  '%s: the geography reaches Claude, from a preset too, and no provider that could not promise it',
  async (dialect, path, words) => {
    answering({ inference_geo: 'us' })
    const said = { [words]: [{ role: 'user', content: 'Hi' }] }
    expect((await infer(service, { model: 'anthropic/claude-opus-4.6', inference_geo: 'us', ...said }, { path })).status).toBe(200)
    expect(claude.last.body['inference_geo']).toBe('us')
    const made = await fetch(`${service.api}/presets/stays-${dialect}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'v/known', provider: { order: ['openai'] }, inference_geo: 'us', ...said }),
    })
    expect(made.status).toBe(200)
    const before = others.exchanges.length
    for (const [wanted, asked] of Object.entries(ASKED)) {
      const model = `@preset/stays-${dialect}`
      expect([wanted, (await infer(service, { model, ...asked.body }, { path: asked.path })).status]).toEqual([wanted, 200])
      expect(claude.last.body['inference_geo']).toBe('us')
    }
    expect(others.exchanges.length).toBe(before)
  },
)

const HI = [{ role: 'user', content: 'Hi' }]
const ASKED = {
  chat: { path: '/chat/completions', body: { messages: HI } },
  responses: { path: '/responses', body: { input: HI } },
  messages: { path: '/messages', body: { messages: HI, max_tokens: 200 } },
}

test('a summary that a client asks for reaches Anthropic, and no server that would answer in its place', async () => {
  answering({})
  await ask('anthropic/claude-opus-4.6', { compaction: { type: 'summarize' } })
  expect(claude.last.body['compaction']).toEqual({ type: 'summarize' })
  const before = others.exchanges.length
  expect((await ask('v/imitated', { compaction: { type: 'summarize' } })).status).toBe(400)
  expect(others.exchanges.length).toBe(before)
})

test('searches that the vendor runs are charged at its price', async () => {
  answering({ server_tool_use: { web_search_requests: 3 } })
  const search = { type: 'web_search_20250305', name: 'web_search' }
  expect(costOf(await ask('anthropic/claude-opus-4.6', { tools: [search] }))).toBe(0.0375)
})
