/** OpenAI's newest models refuse tools beside thinking on Chat Completions. */
import { expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()
const service = await useServices().start({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: upstream.url } })

const REFUSAL =
  "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."

const CALLED = {
  id: 'r',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [{ type: 'function_call', id: 'fc', call_id: 'call_1', name: 'look', arguments: '{"at":1}', status: 'completed' }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}

test('a chat client who asks for both is answered, by Responses; without thinking it stays in its dialect', async () => {
  upstream.script((exchange) => {
    if (exchange.path.endsWith('/responses')) return exchange.answer(200, JSON.stringify(CALLED))
    const refused = exchange.body.tools !== undefined && exchange.body['reasoning_effort'] !== 'none'
    return refused ? exchange.answer(400, JSON.stringify({ error: { message: REFUSAL } })) : exchange.answer(200, proseAnswer('Yes'))
  })
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
  const ask = { model: 'openai/gpt-5.4', messages: [{ role: 'user', content: 'Hi' }], tools }
  const both = await infer(service, { ...ask, reasoning_effort: 'high' })
  expect([upstream.exchanges.length, upstream.last.path, upstream.last.body['reasoning']]).toEqual([1, '/v1/responses', { effort: 'high' }])
  expect(both.json).toMatchObject({
    choices: [
      { finish_reason: 'tool_calls', message: { tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{"at":1}' } }] } },
    ],
  })
  await infer(service, { ...ask, reasoning_effort: 'none' })
  expect(upstream.last.path).toBe('/v1/chat/completions')
})
