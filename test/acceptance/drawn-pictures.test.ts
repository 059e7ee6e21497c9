/** Pictures that OpenAI's own tool draws cost far more than the text of the answer, and are not in its counts (decisions/0224). */
import { expect, test } from 'bun:test'

import { call, createKey } from '../support/calls.ts'
import { dataEvent, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  fake: { dialects: [openai-responses], base_url: "${upstream.url}" }
models:
  fake/one: { endpoints: [{ provider: fake, model: up, prices: { prompt: 1, completion: 1 } }] }
  fake/cheaper: { endpoints: [{ provider: fake, model: up, prices: { prompt: 1, completion: 1, drawing: 8 } }] }
`,
})

const PICTURE = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==' }
const USAGE = { input_tokens: 10, output_tokens: 10, total_tokens: 20 }
const DRAWN = { input_tokens: 50, output_tokens: 950, output_tokens_details: { image_tokens: 950 }, total_tokens: 1000 }

const answering = (pictures: number, beside: object): void =>
  upstream.script((exchange) => {
    const output = Array.from({ length: pictures }, (_, index) => ({ ...PICTURE, id: `ig_${index}` }))
    const answer = { id: 'r', object: 'response', status: 'completed', model: 'up', output, usage: USAGE, ...beside }
    return exchange.answer(200, JSON.stringify(answer), { 'content-type': 'application/json' })
  })

const newKey = async (): Promise<string> => (await createKey(service, { name: 'draws', limit: 1 })).key

const draw = (key: string, body: object = {}) =>
  call(service, 'POST', '/responses', {
    key,
    body: { model: 'fake/one', input: 'A cat.', tools: [{ type: 'image_generation' }], max_output_tokens: 100, ...body },
  })

const spentBy = async (key: string): Promise<number> =>
  ((await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }).data.usage

test.each([
  // 20 tokens at $1 a million, and those of the pictures at $40, at the price of the file, or 6,240 for each that nobody counted.
  ['that are reported', 'fake/one', 1, { tool_usage: { image_gen: DRAWN } }, 0.04002],
  ['that are reported, at the price of the operator', 'fake/cheaper', 1, { tool_usage: { image_gen: DRAWN } }, 0.00802],
  ['that nobody counted', 'fake/one', 2, {}, 0.49922],
  ['that were counted as none', 'fake/one', 1, { tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0 } } }, 0.24962],
  ['that the model itself drew', 'fake/one', 1, { usage: { ...USAGE, output_tokens_details: { image_tokens: 5 } } }, 0.00002],
])('the tokens of pictures are charged: %s', async (_, model, pictures, beside, cost) => {
  answering(pictures, beside)
  const key = await newKey()
  const { json } = await draw(key, { model })
  expect((json as { usage: { cost: number } }).usage.cost).toBe(cost)
  expect(await spentBy(key)).toBe(cost)
})

test('a key draws no picture that its limit may not pay for', async () => {
  answering(2, {})
  const key = await newKey()
  const statuses: number[] = []
  for (let asked = 0; asked < 4; asked += 1) {
    statuses.push((await draw(key)).status)
    await spentBy(key)
  }
  expect(statuses).toEqual([200, 200, 403, 403])
})

test('402: requests that may each draw a picture do not run together beyond the limit', async () => {
  const open = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let running = 0
  upstream.script(async (exchange) => {
    running += 1
    if (running === 3) begun.resolve()
    await open.promise
    const answer = { id: 'r', object: 'response', status: 'completed', model: 'up', output: [PICTURE], usage: USAGE }
    return exchange.answer(200, JSON.stringify(answer), { 'content-type': 'application/json' })
  })
  const key = await newKey()
  const asked = Array.from({ length: 3 }, () => draw(key))
  try {
    // Three pictures cost $0.75, and a fourth beside their prompts has no room.
    await begun.promise
    expect((await draw(key)).status).toBe(402)
  } finally {
    open.resolve()
  }
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await spentBy(key)).toBeLessThanOrEqual(1)
})

test.each([
  ['a finished picture', { type: 'response.output_item.done', output_index: 0, item: PICTURE }],
  [
    'a partial one',
    {
      type: 'response.image_generation_call.partial_image',
      output_index: 0,
      item_id: 'ig_1',
      partial_image_index: 0,
      partial_image_b64: 'AA==',
    },
  ],
])('a client that leaves with %s pays for it', async (_, last) => {
  const begun = { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', model: 'up', output: [] } }
  // Without a word before it, a partial picture is not shown: another provider might still be asked.
  const said = { type: 'response.output_text.delta', output_index: 9, item_id: 'm', content_index: 0, delta: 'Here:' }
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...PICTURE, status: 'in_progress', result: null } }
  const leaving = new AbortController()
  upstream.script(async (exchange) => {
    await exchange.head(200, { 'content-type': 'text/event-stream' })
    for (const event of [begun, said, added, last]) await exchange.piece(dataEvent(JSON.stringify(event)))
    await exchange.gone
  })
  const key = await newKey()
  const response = await fetch(`${service.api}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fake/one', input: 'A cat.', stream: true, tools: [{ type: 'image_generation', partial_images: 1 }] }),
    signal: leaving.signal,
  })
  const reader = response.body?.getReader()
  let text = ''
  for (let ended = false; !ended && !text.includes('AA==');) {
    const piece = await reader?.read()
    ended = piece?.done !== false
    text += new TextDecoder().decode(piece?.value)
  }
  expect(text).toContain('AA==')
  leaving.abort()
  await until(async () => (await spentBy(key)) > 0.2496, 'the picture to be charged')
})
