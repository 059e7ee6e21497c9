/**
 * Threads and summaries of Anthropic's Messages (docs/contract/messages.md#threads): `@anthropic-ai/sdk`, unmodified, with providers that
 * store nothing.
 */
import Anthropic from '@anthropic-ai/sdk'
import { beforeAll, describe, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  const url = upstream.url.slice(0, -'/v1'.length)
  service = await services.start({
    config: `providers: {
  chat: { dialects: [openai-chat], base_url: "${upstream.url}", any_model: true },
  messages: { dialects: [anthropic], base_url: "${url}", any_model: true } }`,
  })
})

const QUESTION = 'Is it warm in Oslo?'
const CALL = { id: 'call_1', name: 'get_weather' }

/** Calls the tool unless its result is present; otherwise repeats everything that it was sent. */
const chatAnswer = (said: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: said.includes('mild') ? 'stop' : 'tool_calls',
      message: said.includes('mild')
        ? { role: 'assistant', content: said.includes(QUESTION) ? 'It is mild.' : 'What do you mean?' }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: CALL.id, type: 'function', function: { name: CALL.name, arguments: '{}' } }],
          },
    },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
})

const messagesAnswer = (said: string): object => ({
  id: 'msg_theirs',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: said.includes('mild')
    ? [{ type: 'text', text: said.includes(QUESTION) ? 'It is mild.' : 'What do you mean?' }]
    : [{ type: 'tool_use', ...CALL, input: {} }],
  stop_reason: said.includes('mild') ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 3 },
})

const answered = (): void =>
  upstream.script((exchange) =>
    exchange.answer(200, JSON.stringify((exchange.path.endsWith('/messages') ? messagesAnswer : chatAnswer)(exchange.text)), {
      'content-type': 'application/json',
    }),
  )

const weather = {
  type: 'custom' as const,
  name: CALL.name,
  description: 'The weather.',
  input_schema: { type: 'object' as const, properties: {} },
  run: () => 'mild',
  parse: (input: unknown) => input,
}

const request = (model: string) => ({ model, max_tokens: 100, messages: [{ role: 'user' as const, content: QUESTION }] })

const continuation = { thread: { type: 'continue', previous_message_id: 'msg_1' } }

for (const model of ['chat/m', 'messages/m']) {
  describe(model, () => {
    test("the SDK's runner of tools, which asks for a thread, ends with an answer to the whole conversation", async () => {
      answered()
      const asked = upstream.exchanges.length
      const client = new Anthropic({ apiKey: service.inferenceKey, baseURL: service.url, maxRetries: 0 })
      const last = await client.beta.messages.toolRunner({ ...request(model), tools: [weather] })
      expect(last.content).toMatchObject([{ type: 'text', text: 'It is mild.' }])
      expect(upstream.exchanges.slice(asked).map(({ body }) => body['thread'])).toEqual([undefined, undefined])
    })

    test('a request that continues a thread is a 404 with the code that makes clients send everything again, and reaches no provider', async () => {
      answered()
      const asked = upstream.exchanges.length
      for (const path of ['/messages', '/messages/count_tokens']) {
        const { status, json } = await infer(service, { ...request(model), ...continuation }, { path })
        expect(status).toBe(404)
        expect(json).toMatchObject({
          type: 'error',
          error: { type: 'not_found_error', error_type: 'not_found', details: { error_code: 'thread_not_found' } },
        })
      }
      expect(upstream.exchanges).toHaveLength(asked)
    })

    test('a thread of another kind is a 400 that names it', async () => {
      const { status, json } = await infer(service, { ...request(model), thread: { type: 'fork' } }, { path: '/messages' })
      expect(status).toBe(400)
      expect(JSON.stringify(json)).toContain('thread.type')
    })
  })
}

test('a summary in place of an answer is requested only from providers of the dialect, and is a 400 everywhere else', async () => {
  answered()
  const compaction = { type: 'summarize' }
  expect((await infer(service, { ...request('messages/m'), compaction }, { path: '/messages' })).status).toBe(200)
  expect(upstream.last.body['compaction']).toEqual(compaction)
  const refused = await infer(service, { ...request('chat/m'), compaction }, { path: '/messages' })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.json)).toContain('compaction')
})
