/** Clients of a provider of their own dialect that leaves out parts of the protocol, read with the helpers of their SDKs. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, jsonSchema, streamText, tool, type ToolSet } from 'ai'
import OpenAI from 'openai'

import { dataEvent, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
let client: OpenAI

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { name: Fake, dialects: [openai-responses], base_url: "${upstream.url}", api_key: upstream-credential }
  messages: { name: Messages, dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
  chat: { name: Chat, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one:
    endpoints: [{ provider: fake, model: up-one, prices: { prompt: 2, completion: 10 } }]
  fake/messages:
    endpoints: [{ provider: messages, model: up-one, prices: { prompt: 2, completion: 10 } }]
  fake/chat:
    endpoints: [{ provider: chat, model: up-one, prices: { prompt: 2, completion: 10 } }]
`,
  })
  client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
})

type Event = Readonly<Record<string, unknown>>

const stream = (...events: readonly Event[]): void =>
  upstream.script(async (exchange) => {
    await exchange.head(200)
    for (const event of events) await exchange.piece(dataEvent(JSON.stringify(event)))
    await exchange.done()
  })

const text = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }
const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' }
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const created = { type: 'response.created', response: { id: 'r', status: 'in_progress' } }
const completed = (...output: readonly object[]): Event => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output, usage },
})
const delta = (more: object = { item_id: 'msg_1', output_index: 0, content_index: 0 }): Event[] => [
  { type: 'response.output_text.delta', ...more, delta: 'Hel' },
  { type: 'response.output_text.delta', ...more, delta: 'lo' },
]
const CASES: Record<string, readonly Event[]> = {
  'only the end': [completed(message, call)],
  'created and end': [created, completed(message, call)],
  'only deltas, and the items at the end': [
    created,
    ...delta(),
    { type: 'response.output_item.done', output_index: 1, item: call },
    completed(message, call),
  ],
  'no places (llama.cpp)': [
    created,
    { type: 'response.in_progress', response: { id: 'r', status: 'in_progress' } },
    { type: 'response.output_item.added', item: { ...message, content: [], status: 'in_progress' } },
    { type: 'response.content_part.added', item_id: 'msg_1', part: { type: 'output_text', text: '' } },
    ...delta({ item_id: 'msg_1' }),
    {
      type: 'response.output_item.added',
      item: { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '', status: 'in_progress' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'call_1', delta: '{"city":"Oslo"}' },
    { type: 'response.output_text.done', item_id: 'msg_1', text: 'Hello' },
    { type: 'response.content_part.done', item_id: 'msg_1', part: text },
    { type: 'response.output_item.done', item: message },
    {
      type: 'response.output_item.done',
      item: { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' },
    },
    completed(message, { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' }),
  ],
  'an end without output': [
    created,
    ...delta({}),
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"city":"Oslo"}' },
    completed(),
  ],
}

describe.each(Object.entries(CASES))('a stream with %s', (_, events) => {
  test('is whole for the helper of OpenAI', async () => {
    stream(...events)
    const run = client.responses.stream({ model: 'fake/one', input: 'Hi' })
    const seen: { type: string; number: number }[] = []
    run.on('event', (event) => seen.push({ type: event.type, number: event.sequence_number }))
    const final = await run.finalResponse()
    expect(final.output_text).toBe('Hello')
    expect(final.output).toMatchObject([{ type: 'message' }, { type: 'function_call', arguments: '{"city":"Oslo"}' }])
    expect(seen.map(({ number }) => number)).toEqual(seen.map((_, at) => at))
    const types = seen.map(({ type }) => type.replace('response.', '')).filter((type, at, all) => type !== all[at - 1])
    expect(types.toSorted()).toEqual(
      [
        'created',
        'in_progress',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
        'completed',
      ].toSorted(),
    )
  })

  test('is whole for the AI SDK', async () => {
    stream(...events)
    const openai = createOpenAI({ apiKey: service.inferenceKey, baseURL: service.api })
    const tools: ToolSet = { weather: tool({ inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }) }) }
    const result = streamText({ model: openai.responses('fake/one'), prompt: 'Hi', tools, maxRetries: 0, onError: () => {} })
    const parts: string[] = []
    for await (const part of result.fullStream) parts.push(part.type)
    expect(parts).not.toContain('error')
    expect(await result.text).toBe('Hello')
    expect(await result.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Oslo' } }])
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 })
  })
})

test('items of a whole Responses answer have ids, for the AI SDK', async () => {
  const output = [
    { ...message, id: undefined },
    { ...call, id: undefined },
    { ...call, call_id: undefined },
  ]
  upstream.script((exchange) => exchange.answer(200, JSON.stringify({ id: 'r', status: 'completed', output, usage })))
  const openai = createOpenAI({ apiKey: service.inferenceKey, baseURL: service.api })
  const answer = await generateText({ model: openai.responses('fake/one'), prompt: 'Hi', maxRetries: 0 })
  expect(answer.text).toBe('Hello')
  expect(answer.toolCalls).toMatchObject([{ toolCallId: 'call_1' }, { toolCallId: 'fc_1' }])
})

test('parallel calls without ids of their own reach a client of Chat Completions', async () => {
  const named = (id: string) => ({ type: 'function_call', call_id: id, name: 'weather', arguments: `{"city":"${id}"}` })
  const ids = ['call_1', 'call_2']
  stream(
    created,
    ...ids.flatMap((id) => [
      { type: 'response.output_item.added', item: { ...named(id), arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: id, delta: named(id).arguments },
    ]),
    ...ids.map((id) => ({ type: 'response.output_item.done', item: named(id) })),
    completed(...ids.map(named)),
  )
  const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } } as const
  const run = client.chat.completions.stream({ model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }], tools: [tool] })
  expect((await run.finalMessage()).tool_calls?.map((one) => [one.id, one.type === 'function' && one.function.arguments])).toEqual(
    ids.map((id) => [id, `{"city":"${id}"}`]),
  )
})

test('each choice of a Chat Completions stream begins with a role, for the helper of OpenAI', async () => {
  const chunk = (index: number, delta: object, finish_reason: string | null = null): object => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 5,
    choices: [{ index, delta, finish_reason }],
  })
  const say = (index: number) => ['A', 'B', 'C'].map((content) => chunk(index, { content }))
  const chunks = [...say(0), ...say(1), chunk(0, {}, 'stop'), chunk(1, {}, 'stop')].map((each) => JSON.stringify(each))
  upstream.script((exchange) => exchange.stream([...chunks, '[DONE]']))
  const run = client.chat.completions.stream({ model: 'fake/chat', n: 2, messages: [{ role: 'user', content: 'Hi' }] })
  const roles: [number, string][] = []
  run.on('chunk', ({ choices }) =>
    roles.push(...choices.flatMap(({ index, delta }): [number, string][] => (delta.role === undefined ? [] : [[index, delta.role]]))),
  )
  const { choices } = await run.finalChatCompletion()
  expect(choices.map(({ message }) => message.content)).toEqual(['ABC', 'ABC'])
  expect(roles).toEqual([
    [0, 'assistant'],
    [1, 'assistant'],
  ])
})

describe('a Messages stream', () => {
  const events = (block: object, use: object): Event[] => [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage: { input_tokens: 3 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', ...block } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', name: 'weather', ...use } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const whole = events({ text: '' }, { id: 'toolu', input: {} })

  test.each<[string, readonly Event[]]>([
    ['the places of blocks', whole.map(({ index: _index, ...event }) => event)],
    ['the types of events but in their names', whole.map(({ type, ...event }) => ({ name: type, ...event }))],
    ['the members of blocks', events({}, {})],
    ['the beginning of the message', whole.slice(1)],
    ['the beginning of a text', whole.toSpliced(1, 1)],
    ['the beginning of either', whole.slice(2)],
  ])('without %s is whole for the SDK of Anthropic and the AI SDK', async (_, lacking) => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      for (const { name, ...event } of lacking) {
        const named = typeof name === 'string' ? `event: ${name}\n` : ''
        await exchange.piece(`${named}data: ${JSON.stringify(event)}\n\n`)
      }
      await exchange.done()
    })
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }]
    const anthropic = new Anthropic({ apiKey: service.inferenceKey, baseURL: service.api.replace(/\/v1$/, ''), maxRetries: 0 })
    const { content } = await anthropic.messages
      .stream({ model: 'fake/messages', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], tools })
      .finalMessage()
    expect(content).toMatchObject([{ text: 'Hello' }, { id: 'toolu', name: 'weather', input: { city: 'Oslo' } }])

    const model = createAnthropic({ apiKey: service.inferenceKey, baseURL: service.api })('fake/messages')
    const offered: ToolSet = { weather: tool({ inputSchema: jsonSchema({ type: 'object' }) }) }
    const result = streamText({ model, prompt: 'Hi', tools: offered, maxOutputTokens: 100, maxRetries: 0, onError: () => {} })
    const parts: string[] = []
    for await (const part of result.fullStream) parts.push(part.type)
    expect(parts).not.toContain('error')
    expect([await result.text, (await result.toolCalls).map(({ input }): unknown => input)]).toEqual(['Hello', [{ city: 'Oslo' }]])
  })
})
