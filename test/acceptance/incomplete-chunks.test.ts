/** Chunks in which a provider of the client's dialect leaves out what the stream helper of OpenAI's SDK needs. */
import { expect, test } from 'bun:test'
import OpenAI from 'openai'

import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
})

const chunk = (delta: object, finish: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })

const read = async (...chunks: readonly string[]): Promise<OpenAI.ChatCompletionMessage | undefined> => {
  upstream.script((exchange) => exchange.stream(chunks))
  const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
  const stream = client.chat.completions.stream({ model: 'fake/one', messages: [{ role: 'user', content: 'Hello!' }] })
  return (await stream.finalChatCompletion()).choices[0]?.message
}

test('a stream without a role is read by the stream helper', async () => {
  expect(await read(chunk({ content: 'Hi' }), chunk({ content: ' there' }), chunk({}, 'stop'))).toMatchObject({
    role: 'assistant',
    content: 'Hi there',
  })
})

test.each<{ id?: string; type?: string }>([{}, { id: '' }, { id: 'call_9' }, { type: 'function' }])(
  'a call with only %j beside its name gets an id and a type',
  async (given) => {
    const call = { index: 0, ...given, function: { name: 'look', arguments: '{"at":' } }
    const rest = { index: 0, function: { arguments: '1}' } }
    const message = await read(chunk({ tool_calls: [call] }), chunk({ tool_calls: [rest] }), chunk({}, 'tool_calls'))
    expect(message?.tool_calls).toMatchObject([
      { id: given.id === 'call_9' ? 'call_9' : 'call_0', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
    ])
  },
)
