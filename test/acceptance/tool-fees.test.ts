/** Fees for what a provider's own tools do: they are held before, charged by the calls that the answer shows, and bound streams (decisions/0231). */
import { expect, test } from 'bun:test'

import { call, createKey } from '../support/calls.ts'
import { dataEvent, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  openai: { base_url: "${upstream.url}", api_key: none, stored_objects: true }
  claudes: { dialects: [anthropic], base_url: "${upstream.url}" }
models:
  fake/one: { endpoints: [{ provider: openai, model: up, prices: { prompt: 1, completion: 1, web_search: 0.01 } }] }
  fake/dearer: { endpoints: [{ provider: openai, model: up, prices: { prompt: 1, completion: 1, file_search: 0.01, container: 0.1 } }] }
  fake/claude: { endpoints: [{ provider: claudes, model: claude-sonnet-4-6, prices: { prompt: 1, completion: 1, container: 0.05 } }] }
`,
})

const USAGE = { input_tokens: 10, output_tokens: 10, total_tokens: 20 }
const TOKENS = 0.00002
const PICTURE = { type: 'image_generation_call', status: 'completed', result: 'AA==' }

const answeringWith = (output: readonly object[]): void =>
  upstream.script((exchange) =>
    exchange.answer(200, JSON.stringify({ id: 'r', object: 'response', status: 'completed', model: 'up', output, usage: USAGE }), {
      'content-type': 'application/json',
    }),
  )

const keyOf = async (limit: number | null): Promise<string> => (await createKey(service, { name: 'tools', limit })).key

const ask = (key: string, tools: readonly object[], body: object = {}) =>
  call(service, 'POST', '/responses', { key, body: { model: 'fake/one', input: 'Hi.', tools, max_output_tokens: 100, ...body } })

const costOf = ({ json }: { readonly json: unknown }): number => (json as { usage: { cost: number } }).usage.cost

const spentBy = async (key: string): Promise<number> =>
  ((await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }).data.usage

const SEARCH = { type: 'file_search', vector_store_ids: ['vs_1'] }
const code = (memory?: string) => ({
  type: 'code_interpreter',
  container: { type: 'auto', ...(memory === undefined ? {} : { memory_limit: memory }) },
})
const searched = (id: string) => ({ type: 'file_search_call', id, status: 'completed', queries: ['a'], results: null })
const ran = (id: string, container: string) => ({
  type: 'code_interpreter_call',
  id,
  status: 'completed',
  code: '1',
  container_id: container,
  outputs: null,
})

test.each([
  ['two searches of files', 'fake/one', [SEARCH], [searched('fs_1'), searched('fs_2')], 0.005],
  ['a search of files at the price of the operator', 'fake/dearer', [SEARCH], [searched('fs_1')], 0.01],
  ['two runs of code in one container of 1 GB', 'fake/one', [code()], [ran('ci_1', 'c'), ran('ci_2', 'c')], 0.03],
  ['code in two containers of 4 GB', 'fake/one', [code('4g')], [ran('ci_1', 'c'), ran('ci_2', 'd')], 0.24],
  ['code at the price of the operator', 'fake/dearer', [code('16g')], [ran('ci_1', 'c')], 1.6],
  [
    'a shell in a container of the provider',
    'fake/one',
    [{ type: 'shell', environment: { type: 'container_auto' } }],
    [
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'c',
        status: 'completed',
        action: { commands: ['ls'] },
        environment: { type: 'container_reference', container_id: 'c' },
      },
    ],
    0.03,
  ],
  ['tools that were not used', 'fake/one', [SEARCH, code('64g')], [], 0],
] as const)('charged beside the tokens: %s', async (_, model, tools, output, fee) => {
  answeringWith(output)
  const key = await keyOf(10)
  expect(costOf(await ask(key, tools, { model }))).toBeCloseTo(fee + TOKENS, 9)
  expect(await spentBy(key)).toBeCloseTo(fee + TOKENS, 9)
})

test.each([
  ['ten searches of files', [SEARCH], 0.024],
  ['a container of the memory that the tool names', [code('64g')], 1.91],
])('403: a limit that cannot pay for %s', async (_, tools, limit) => {
  answeringWith([])
  expect((await ask(await keyOf(limit), tools)).status).toBe(403)
  expect((await ask(await keyOf(limit + 0.02), tools)).status).toBe(200)
})

test('403: a limit that cannot pay for searches with a tool that the input adds', async () => {
  answeringWith([])
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [SEARCH] },
    { role: 'user', content: 'Hi.' },
  ]
  expect((await ask(await keyOf(0.024), [], { input })).status).toBe(403)
  expect((await ask(await keyOf(0.044), [], { input })).status).toBe(200)
})

test('code that Claude ran in a container of its own is charged for the container, unless a search of the web makes it free', async () => {
  const container = { id: 'c', expires_at: '2026-11-29T00:00:00Z' }
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 10 },
    container,
  }
  upstream.script((exchange) => exchange.answer(200, JSON.stringify(message), { 'content-type': 'application/json' }))
  const messages = [{ role: 'user', content: 'Hi.' }]
  const askClaude = async (tools: readonly object[]): Promise<number> =>
    costOf(
      await call(service, 'POST', '/messages', {
        key: await keyOf(10),
        body: { model: 'fake/claude', max_tokens: 100, messages, tools },
      }),
    )
  const runs = { type: 'code_execution_20250825', name: 'code_execution' }
  expect(await askClaude([runs])).toBeCloseTo(0.05 + TOKENS, 9)
  expect(await askClaude([runs, { type: 'web_search_20260209', name: 'web_search' }])).toBeCloseTo(TOKENS, 9)
})

const CREATED = { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', model: 'up', output: [] } }
const added = (index: number, item: object) => ({
  type: 'response.output_item.added',
  output_index: index,
  item: { ...item, id: `i_${index}` },
})
const done = (index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index: index,
  item: { ...item, id: `i_${index}` },
})

const BEGUN = { ...PICTURE, status: 'in_progress', result: null }

/** A stream that does this work again and again until it is stopped, or has done it this often. */
const streaming = (item: object, times: number) => {
  const stopped = Promise.withResolvers<number>()
  upstream.script(async (exchange) => {
    await exchange.head(200, { 'content-type': 'text/event-stream' })
    const send = (event: object) => exchange.piece(dataEvent(JSON.stringify(event)))
    await send(CREATED)
    const begun = { ...item, status: 'in_progress', result: null }
    await send(added(0, begun))
    for (let index = 0; index < times; index += 1) {
      await send(done(index, item))
      await send(added(index + 1, begun))
    }
    stopped.resolve(await exchange.gone)
  })
  return stopped.promise
}

const streamed = async (key: string, tools: readonly object[], body: object = {}): Promise<string> => {
  const response = await fetch(`${service.api}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fake/one', input: 'Hi.', stream: true, tools, max_output_tokens: 100, ...body }),
  })
  return response.text()
}

test('a stream in which one more picture is begun than the limit can pay for ends with the refusal, and costs the pictures that came', async () => {
  const stopped = streaming(PICTURE, 2)
  const key = await keyOf(0.6)
  const text = await streamed(key, [{ type: 'image_generation' }])
  await stopped
  expect(text).toContain('service_key_limit')
  expect(text.match(/"response.output_item.done"/g)).toHaveLength(2)
  const spent = await spentBy(key)
  expect(spent).toBeGreaterThan(2 * 0.2496)
  expect(spent).toBeLessThanOrEqual(0.6)
})

test('a stream ends once the models that write its drawings cost more than the limit can pay for', async () => {
  const svg_usage = { model: 'up', input_tokens: 0, output_tokens: 400_000, total_tokens: 400_000 }
  const stopped = streaming({ ...PICTURE, output_format: 'svg', svg_usage }, 2)
  const key = await keyOf(1)
  expect(await streamed(key, [{ type: 'image_generation', output_format: 'svg' }])).toContain('service_key_limit')
  await stopped
  expect(await spentBy(key)).toBeGreaterThan(0.8)
})

test('a stream ends once it has searched more often than the limit can pay for', async () => {
  const stopped = streaming({ type: 'file_search_call', status: 'completed' }, 30)
  const key = await keyOf(0.05)
  expect(await streamed(key, [SEARCH])).toContain('service_key_limit')
  await stopped
  // No text came, yet the searches are charged, also those that came together with the one that had no room.
  const spent = await spentBy(key)
  expect(spent).toBeGreaterThan(20 * 0.0025)
  expect(spent).toBeLessThan(31 * 0.0025 + 0.001)
})

test('a stream that ends with the refusal before any content asks no other model, and costs the picture that was at work', async () => {
  const asked = upstream.exchanges.length
  upstream.script(async (exchange) => {
    await exchange.head(200, { 'content-type': 'text/event-stream' })
    const partial = { type: 'response.image_generation_call.partial_image', output_index: 0, partial_image_b64: 'AA==' }
    for (const event of [CREATED, added(0, BEGUN), partial, added(1, BEGUN)]) await exchange.piece(dataEvent(JSON.stringify(event)))
    await exchange.gone
  })
  const key = await keyOf(0.4)
  const text = await streamed(key, [{ type: 'image_generation' }], { models: ['fake/one', 'fake/dearer'], model: undefined })
  expect(text).toContain('service_key_limit')
  expect(upstream.exchanges.length - asked).toBe(1)
  expect(await spentBy(key)).toBeGreaterThan(0.2496)
})

test('a stream that is complete stays so, whatever its last counts cost', async () => {
  upstream.script(async (exchange) => {
    await exchange.head(200, { 'content-type': 'text/event-stream' })
    const item = { ...PICTURE, id: 'i_0' }
    const drawn = { tool_usage: { image_gen: { input_tokens: 9000, output_tokens: 9000 } } }
    const response = { id: 'r', object: 'response', status: 'completed', model: 'up', output: [item], usage: USAGE, ...drawn }
    const events = [CREATED, added(0, BEGUN), done(0, PICTURE), { type: 'response.completed', response }]
    for (const event of events) await exchange.piece(dataEvent(JSON.stringify(event)))
    await exchange.done()
  })
  const key = await keyOf(0.6)
  const text = await streamed(key, [{ type: 'image_generation' }])
  expect(text).toContain('"response.completed"')
  expect(text).not.toContain('service_key_limit')
  expect(await spentBy(key)).toBeCloseTo(18_000 * 40e-6 + TOKENS, 9)
})

test('a turn behind the tools of the service that ends with the refusal is charged, and none follows it', async () => {
  const asked = upstream.exchanges.length
  const clock = { type: 'function_call', call_id: 'c', name: 'service_datetime', arguments: '{}', status: 'completed' }
  upstream.script(async (exchange) => {
    await exchange.head(200, { 'content-type': 'text/event-stream' })
    const send = (event: object) => exchange.piece(dataEvent(JSON.stringify(event)))
    await send(CREATED)
    if (upstream.exchanges.length - asked === 1) {
      for (const event of [added(0, clock), done(0, clock)]) await send(event)
      const response = { id: 'r', object: 'response', status: 'completed', model: 'up', output: [{ ...clock, id: 'i_0' }], usage: USAGE }
      await send({ type: 'response.completed', response })
      return exchange.done()
    }
    for (let index = 0; index < 20; index += 1) for (const event of [added(index, BEGUN), done(index, PICTURE)]) await send(event)
    await exchange.gone
  })
  const key = await keyOf(2)
  const text = await streamed(key, [{ type: 'image_generation' }, { type: 'service:datetime' }])
  expect(text).toContain('service_key_limit')
  expect(upstream.exchanges.length - asked).toBe(2)
  expect(await spentBy(key)).toBeGreaterThan(1)
})

test.each([
  ['four if the limit can pay for them', 2, {}, 4],
  ['one if it cannot', 0.9, {}, 1],
  ['as many as the request allows', 0.9, { max_tool_calls: 2 }, 2],
  ['one if the limit cannot pay for as many as the request allows', 0.9, { max_tool_calls: 30 }, 1],
  ['any number without a limit', null, {}, undefined],
])('how many pictures OpenAI may draw for a whole answer: %s', async (_, limit, body, calls) => {
  answeringWith([{ ...PICTURE, id: 'ig_1' }])
  expect((await ask(await keyOf(limit), [{ type: 'image_generation' }], body)).status).toBe(200)
  expect(upstream.last.body['max_tool_calls']).toBe(calls)
})
