/** A provider whose more expensive tiers bill six times the price is not asked for them if the catalogue does not know their prices. */
import { describe, expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { dataEvent, type Exchange, FINISH_CHUNK, proseAnswer, proseChunk, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  claude: { name: Claude, dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
  gpt: { name: Gpt, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  rsp: { name: Rsp, dialects: [openai-responses], base_url: "${upstream.url}", api_key: upstream-credential }
  owned: { name: Owned, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  claude/one: { endpoints: [{ provider: claude, model: up-one, prices: { prompt: 1, completion: 2 } }] }
  gpt/one: { endpoints: [{ provider: gpt, model: up-one, prices: { prompt: 1, completion: 2 } }] }
  rsp/one: { endpoints: [{ provider: rsp, model: up-one, prices: { prompt: 1, completion: 2 } }] }
  owned/one: { endpoints: [{ provider: owned, model: up-one, prices: { prompt: 1, completion: 2 } }] }
  unknown/one: { endpoints: [{ provider: gpt, model: up-one }] }
`

const service = await useServices().start({ config: CONFIG })

const ORDINARY = 0.000_4
const PREMIUM = /"(?:service_tier|speed)":\s*"(?:priority|fast|ultrafast|auto)"/

const USAGE = { input_tokens: 200, output_tokens: 100 }
const CHAT_USAGE = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up-one', stop_sequence: null }
const ITEM = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
}
const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'up-one', status: 'completed', output: [ITEM], usage: USAGE }

const WHOLE: Readonly<Record<string, string>> = {
  '/v1/messages': JSON.stringify({ ...MESSAGE, content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn', usage: USAGE }),
  '/v1/chat/completions': proseAnswer('Hi.', { usage: CHAT_USAGE }),
  '/v1/responses': JSON.stringify(RESPONSE),
}

const STREAMED: Readonly<Record<string, readonly string[]>> = {
  '/v1/messages': [
    { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
    { type: 'message_stop' },
  ].map((event) => JSON.stringify(event)),
  '/v1/chat/completions': [
    proseChunk('Hi.'),
    FINISH_CHUNK,
    JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up-one', choices: [], usage: CHAT_USAGE }),
    '[DONE]',
  ],
  '/v1/responses': [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', content: [] } },
    {
      type: 'response.content_part.added',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi.' },
    { type: 'response.output_text.done', item_id: 'msg_1', output_index: 0, content_index: 0, text: 'Hi.' },
    { type: 'response.content_part.done', item_id: 'msg_1', output_index: 0, content_index: 0, part: ITEM.content[0] },
    { type: 'response.output_item.done', output_index: 0, item: ITEM },
    { type: 'response.completed', response: RESPONSE },
  ].map((event, number) => JSON.stringify({ ...event, sequence_number: number })),
}

let billed = 0
const answer = async (exchange: Exchange): Promise<void> => {
  billed += ORDINARY * (PREMIUM.test(exchange.text) ? 6 : 1)
  if (exchange.body.stream !== true) return exchange.answer(200, WHOLE[exchange.path] ?? '')
  await exchange.head(200)
  await exchange.piece((STREAMED[exchange.path] ?? []).map(dataEvent).join(''))
  await exchange.done()
}

const SAYING = [{ role: 'user', content: 'Hello!' }]
const INTERFACES = {
  chat: { path: '/chat/completions', body: { messages: SAYING, max_tokens: 100 } },
  responses: { path: '/responses', body: { input: 'Hello!', max_output_tokens: 100 } },
  messages: { path: '/messages', body: { messages: SAYING, max_tokens: 100 } },
} as const
type Interface = keyof typeof INTERFACES

const ask = (
  client: Interface,
  fields: Readonly<Record<string, unknown>>,
  { key = service.inferenceKey, headers = { 'x-service-metadata': 'enabled' } }: { key?: string; headers?: Record<string, string> } = {},
) => {
  upstream.script(answer)
  const { path, body } = INTERFACES[client]
  return infer(service, { ...body, ...fields }, { path, key, headers })
}

const limitedKey = async (limit: number): Promise<string> => {
  return (await createKey(service, { name: 'limited', limit })).key
}

const spentBy = async (key: string): Promise<number> =>
  ((await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }).data.usage

const FIELDS: Readonly<Record<Interface, readonly (readonly [string, string])[]>> = {
  chat: [
    ['service_tier', 'priority'],
    ['service_tier', 'ultrafast'],
  ],
  responses: [['service_tier', 'fast']],
  messages: [
    ['service_tier', 'priority'],
    ['speed', 'fast'],
  ],
}

describe.each(['chat', 'responses', 'messages'] as const)('%s', (client) => {
  for (const model of ['gpt/one', 'rsp/one', 'claude/one']) {
    for (const [field, word] of FIELDS[client]) {
      test(`${model}, ${field}: ${word}: the provider bills what is charged to the key, whole and streamed, and the client is told`, async () => {
        const key = await limitedKey(1)
        billed = 0
        for (const stream of [false, true]) {
          const { status, text } = await ask(client, { model, stream, [field]: word }, { key })
          expect(status).toBe(200)
          expect(text).toContain(`"field":"${field}","message":"The price of ${word} is not known for ${model}`)
        }
        expect(billed).toBeCloseTo(2 * ORDINARY, 9)
        await until(async () => (await spentBy(key)) > ORDINARY * 1.5, 'both charges')
        expect(await spentBy(key)).toBeCloseTo(billed, 9)
      })

      test(`400: ${model}, ${field}: ${word} of a strict request, and nobody is asked`, async () => {
        const before = upstream.exchanges.length
        const { status, error } = await ask(client, { model, [field]: word, strict: true })
        expect([status, upstream.exchanges.length]).toEqual([400, before])
        expect(error.message).toContain(`service_tier: ${word === 'ultrafast' ? word : 'priority'} and its prices`)
      })
    }
  }

  test('a dry run shows the ordinary request that would be sent', async () => {
    const { text } = await ask(client, { model: 'gpt/one', service_tier: 'priority' }, { headers: { 'x-service-dry-run': 'enabled' } })
    expect(text).toContain('"service_tier":"default"')
    expect(text).toContain('The price of priority is not known')
  })
})

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['a model whose price nobody knows', { model: 'unknown/one', service_tier: 'priority' }, 'priority'],
  ['the cheap tier', { model: 'gpt/one', service_tier: 'flex' }, 'flex'],
  ['a tier that is left open', { model: 'gpt/one', service_tier: 'auto' }, 'auto'],
  ['a tier that the account has bought', { model: 'gpt/one', service_tier: 'scale' }, 'scale'],
])('%s: the word goes to the provider', async (_, fields, sent) => {
  const { status, text } = await ask('chat', fields)
  expect([status, upstream.last.body['service_tier']]).toEqual([200, sent])
  expect(text).not.toContain('The price of')
})

test("a customer's own key pays for the tier that it asks for", async () => {
  const made = await call(service, 'POST', '/byok', { body: { provider: 'owned', key: 'sk-own-credential-aaaaaaaaaaaa' } })
  expect(made.status).toBe(201)
  const { status, text } = await ask('chat', { model: 'owned/one', service_tier: 'priority' })
  expect([status, upstream.last.body['service_tier']]).toEqual([200, 'priority'])
  expect(text).not.toContain('The price of')
})
