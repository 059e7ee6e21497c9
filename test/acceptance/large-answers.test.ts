/** Providers whose whole answers are large, and do not end. */
import { afterAll, expect, test } from 'bun:test'

import { conversationOf, type Dialect, infer, PATHS } from '../support/calls.ts'
import { dataEvent, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const MIB = 1024 * 1024
const upstream = await startFakeUpstream()
const ends = Promise.withResolvers<void>()
afterAll(() => ends.resolve())

const service = await useServices().start({
  config: `
limits: { answer_bytes_in_flight: ${64 * MIB} }
errors: { provider_failure: status }
providers:
  large: { dialects: [openai-chat], base_url: "${upstream.url}" }
  responses: { dialects: [openai-responses], base_url: "${upstream.url}" }
models:
  large/one: { endpoints: [{ provider: large, model: up }] }
  responses/one: { endpoints: [{ provider: responses, model: up }] }
`,
})

const heldBytes = async (): Promise<number> =>
  Number(/^patchbay_whole_answer_bytes (\d+)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1])

const ask = (signal?: AbortSignal) =>
  infer(service, { model: 'large/one', messages: [{ role: 'user', content: 'Hi' }] }, signal === undefined ? {} : { signal })

test.each(['application/json', 'text/event-stream'])(
  'whole answers that come as %s share one limit: one too many is 503, short ones are served, and all space is released',
  async (type) => {
    let begun = 0
    upstream.script(async (exchange) => {
      begun += 1
      await exchange.head(200, { 'content-type': type })
      const line = type === 'text/event-stream' ? `: ${'x'.repeat(MIB - 4)}\n\n` : ' '.repeat(MIB)
      for (let sent = 0; sent < 50; sent += 1) await exchange.piece(line)
      await Promise.race([ends.promise, exchange.gone])
    })
    const leaving = new AbortController()
    const first = ask(leaving.signal).catch(() => null)
    await until(async () => (await heldBytes()) === 49 * MIB, 'the first answer to be read')
    const second = await ask()
    expect([begun, second.status, second.json]).toMatchObject([2, 503, { error: { metadata: { reason: 'answer_bytes_in_flight' } } }])
    expect(second.headers.get('retry-after')).toBe('2')
    upstream.script(say('Hi.'))
    expect((await ask()).status).toBe(200)
    leaving.abort()
    await first
    await until(async () => (await heldBytes()) === 0, 'all room to be given back')
  },
  60_000,
)

test.each(['application/json', 'text/plain'])(
  'white space that comes as %s in place of a stream is read up to the limit of a whole answer, and no further',
  async (type) => {
    let sent = 0
    let isGone = false
    upstream.script(async (exchange) => {
      void exchange.gone.then(() => (isGone = true))
      await exchange.head(200, { 'content-type': type })
      for (; sent < 200 && !isGone; sent += 1) await exchange.piece(' '.repeat(MIB))
      if (!isGone) await exchange.done()
    })
    const { text } = await infer(service, { model: 'large/one', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    expect(text).toContain(`The provider's response is larger than ${64 * MIB} bytes.`)
    expect(sent).toBeLessThan(200)
  },
  60_000,
)

const MEBIBYTE = 'x'.repeat(MIB)
const spoken = proseChunk(MEBIBYTE)
const thought = JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: MEBIBYTE } }] })
const called = (index: number, args: string): string =>
  JSON.stringify({
    choices: [{ index: 0, delta: { tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: args } }] } }],
  })
const responsesEvent = (type: string, members: object): string => JSON.stringify({ type, output_index: 0, ...members })
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }

test.each<[dialect: Dialect, model: string, what: string, lines: readonly string[], keptMib: number]>([
  ['responses', 'large/one', 'text', [spoken, spoken, spoken], 2],
  ['responses', 'large/one', 'thinking', [thought, thought, thought], 2],
  [
    'responses',
    'responses/one',
    'relayed text',
    [
      responsesEvent('response.output_item.added', { item: MESSAGE }),
      ...[1, 2, 3].map(() => responsesEvent('response.output_text.delta', { item_id: 'msg_1', content_index: 0, delta: MEBIBYTE })),
    ],
    2,
  ],
  ['messages', 'large/one', 'thinking that nobody asked for', [thought, thought, thought], 2],
  [
    'messages',
    'large/one',
    'a call that comes between the arguments of another',
    [called(0, '{'), ...[1, 2, 3].map(() => called(1, MEBIBYTE))],
    2,
  ],
  ['messages', 'large/one', 'text', [spoken, spoken, spoken], 0],
  ['chat', 'large/one', 'text', [spoken, spoken, spoken], 0],
])(
  'a stream of %s from %s: %s counts as far as it is kept for later',
  async (dialect, model, _, lines, keptMib) => {
    const end = Promise.withResolvers<void>()
    let isSaid = false
    upstream.script(async (exchange) => {
      await exchange.head(200, { 'content-type': 'text/event-stream' })
      for (const line of [...lines, proseChunk('')]) await exchange.piece(dataEvent(line))
      isSaid = true
      await Promise.race([end.promise, exchange.gone])
      await exchange.done()
    })
    const leaving = new AbortController()
    const asked = infer(
      service,
      { model, stream: true, ...conversationOf(dialect, 'Hi') },
      { path: PATHS[dialect], signal: leaving.signal },
    ).catch(() => null)
    const kept = async (): Promise<number> => Math.floor((await heldBytes()) / MIB)
    await until(async () => isSaid && (await kept()) === keptMib, 'the text to be counted')
    leaving.abort()
    end.resolve()
    await asked
    await until(async () => (await heldBytes()) === 0, 'all room to be given back')
  },
  60_000,
)

test('an object of more members than a request may have fails as the answer of its provider, before it is built', async () => {
  const members = Array.from({ length: 20_000 }, (_, index) => `"a long name of member ${index}":1`)
  upstream.script((exchange) => exchange.answer(200, `{"choices":[],${members.join(',')}}`, { 'content-type': 'application/json' }))
  const { status, error } = await ask()
  expect([status, error.message]).toEqual([502, 'large answered with something that is not JSON.'])
})
