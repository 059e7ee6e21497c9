/**
 * Turns that Claude pauses, and turns with Anthropic's own tools, in a loop of the service's tools, between a client and Anthropic's API.
 */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, createKey, type Dialect, DIALECTS, infer, PATHS, recordOf } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { type Reading, readAnswer } from '../support/read-answer.ts'
import { useServices, type StartedService } from '../support/started-service.ts'
import { refusedByAnthropic } from '../support/strict-anthropic.ts'

const services = useServices()
const claude = await startFakeUpstream()
const other = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  const prices = 'prices: { prompt: 10, completion: 100 }'
  service = await services.start({
    config: `
providers:
  anthropic: { name: Anthropic, dialects: [anthropic], base_url: "${claude.url}", api_key: k }
  other: { name: Other, dialects: [anthropic], base_url: "${other.url}", api_key: k }
models:
  t/claude: { endpoints: [{ provider: anthropic, model: claude-sonnet-4-5, ${prices} }, { provider: other, model: claude-sonnet-4-5, ${prices} }] }
`,
  })
})

type Json = Readonly<Record<string, unknown>>

interface Turn {
  readonly content: readonly Json[]
  readonly stop: string
  /** The status to send in place of 200. */
  readonly status?: number
}

const USAGE = { input_tokens: 20, output_tokens: 5 }

/** The initial state of a block, and its deltas. */
const grown = (block: Json): { readonly begun: Json; readonly deltas: readonly Json[] } => {
  if (block['type'] === 'text') {
    const text = String(block['text'])
    const citations = (block['citations'] ?? []) as readonly Json[]
    return {
      begun: { type: 'text', text: '', ...(block['citations'] === undefined ? {} : { citations: [] }) },
      deltas: [
        ...citations.map((citation) => ({ type: 'citations_delta', citation })),
        { type: 'text_delta', text: text.slice(0, 4) },
        { type: 'text_delta', text: text.slice(4) },
      ],
    }
  }
  if (block['type'] !== 'server_tool_use' && block['type'] !== 'tool_use') return { begun: block, deltas: [] }
  const json = JSON.stringify(block['input'])
  return {
    begun: { ...block, input: {} },
    deltas: [json.slice(0, 3), json.slice(3)].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  }
}

const speak = (exchange: Exchange, { content, stop, status }: Turn): Promise<void> => {
  if (status !== undefined)
    return exchange.answer(status, JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' }
  const ended = { stop_reason: stop, stop_sequence: null }
  if (exchange.body.stream !== true) return exchange.answer(200, JSON.stringify({ ...message, content, ...ended, usage: USAGE }))
  const events = content.flatMap((block, index): readonly Json[] => {
    const { begun, deltas } = grown(block)
    return [
      { type: 'content_block_start', index, content_block: begun },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
  })
  return exchange.stream(
    [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...USAGE, output_tokens: 1 } },
      },
      ...events,
      { type: 'message_delta', delta: ended, usage: USAGE },
      { type: 'message_stop' },
    ].map((event) => JSON.stringify(event)),
  )
}

const playing = (upstream: typeof claude, turns: readonly Turn[]): void => {
  let at = 0
  upstream.script((exchange) => {
    const refusal = refusedByAnthropic(exchange.body)
    const turn = turns[Math.min(at++, turns.length - 1)]
    if (refusal !== null || turn === undefined)
      return exchange.answer(400, JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: refusal } }))
    return speak(exchange, turn)
  })
}

const asking = (): (() => readonly Exchange[]) => {
  const before = claude.exchanges.length
  return () => claude.exchanges.slice(before)
}

const text = (said: string): Json => ({ type: 'text', text: said })
const search = (id: string, query: string): Json => ({
  type: 'server_tool_use',
  id: `srvtoolu_${id}`,
  name: 'web_search',
  input: { query },
})
const found = (id: string): Json => ({
  type: 'web_search_tool_result',
  tool_use_id: `srvtoolu_${id}`,
  content: [
    { type: 'web_search_result', url: 'https://quokka.example/', title: 'Quokkas', encrypted_content: `sealed-${id}`, page_age: null },
  ],
})
const CLOCK: Json = { type: 'tool_use', id: 'toolu_1', name: 'service_datetime', input: {} }
const SMALL = 'Quokkas are small.'
const CITED: Json = {
  ...text(SMALL),
  citations: [
    { type: 'web_search_result_location', url: 'https://quokka.example/', title: 'Quokkas', encrypted_index: 'x1', cited_text: 'Small.' },
  ],
}

/** The turn stops before the result of its second search. */
const PAUSED: Turn = { content: [text('I look. '), search('1', 'quokka'), found('1'), search('2', 'size')], stop: 'pause_turn' }
/** It calls a tool of the service beside a third search, which runs once it has the result of that tool. */
const MIXED: Turn = { content: [found('2'), CITED, search('3', 'age'), CLOCK], stop: 'tool_use' }
const ENDED: Turn = { content: [found('3'), text('Done.')], stop: 'end_turn' }

const NATIVE: Readonly<Record<Dialect, Json>> = {
  chat: { type: 'service:web_search', parameters: { engine: 'native' } },
  responses: { type: 'web_search' },
  messages: { type: 'web_search_20250305', name: 'web_search' },
}
const WAYS = DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const))

interface Asking {
  readonly dialect?: Dialect
  readonly key?: string
}

const ask = (more: Json = {}, { dialect = 'messages', key = service.inferenceKey }: Asking = {}): Promise<Answer> =>
  infer(
    service,
    {
      model: 't/claude',
      provider: { order: ['anthropic', 'other'] },
      ...conversationOf(dialect, 'Go.'),
      tools: [{ type: 'service:datetime' }, NATIVE[dialect]],
      ...more,
    },
    { path: PATHS[dialect], key },
  )

const UPSTREAM = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic' } as const

/** As the SDK of the dialect reads it. */
const reading = async (dialect: Dialect, stream: boolean, answer: Answer): Promise<Reading> => {
  expect([answer.text.slice(0, 500), answer.status]).toEqual([answer.text.slice(0, 500), 200])
  if (stream) expect(readStream(dialect, answer.text)).toEqual({ end: 'normal', faults: [] })
  return readAnswer(UPSTREAM[dialect], stream, answer.text)
}

const saidIn = ({ body }: Exchange): readonly unknown[] =>
  body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)

describe.each(WAYS)('%s, stream %p', (dialect, stream) => {
  test('a paused turn continues with everything that Claude said, even if it also calls a tool of the service', async () => {
    playing(claude, [PAUSED, MIXED, ENDED])
    const asked = asking()
    const answer = await ask({ stream }, { dialect })
    const read = await reading(dialect, stream, answer)
    expect(asked().map(saidIn)).toEqual([[], [PAUSED.content], [[...PAUSED.content, ...MIXED.content]]])
    expect(asked()[1]?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(asked()[2]?.body.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] })
    expect(read.text.replaceAll(/\s+/g, ' ')).toContain(`I look. ${SMALL}`)
    expect(read.text).toEndWith('Done.')
    expect(read.stop).toBe('stop')
    expect(read.calls).toEqual([])
    expect(read.sources).toEqual(['https://quokka.example/'])
    expect(read.usage).toMatchObject({ input: 60, output: 15 })
    expect(answer.text).not.toContain('pause_turn')
    const record = await recordOf(service, answer)
    expect(record).toMatchObject({ steps: 1, stopped_by: 'model', tokens_prompt: 60, tokens_completion: 15 })
    expect(record['total_cost']).toBeCloseTo((60 * 10 + 15 * 100) / 1e6, 9)
  })

  test('it continues eight times, and then ends as a truncated turn', async () => {
    playing(claude, [PAUSED])
    const asked = asking()
    const answer = await ask({ stream }, { dialect })
    const read = await reading(dialect, stream, answer)
    expect(asked()).toHaveLength(9)
    expect(answer.text).not.toContain('"stop_reason":"pause_turn"')
    expect(read.stop).toBe('length')
    expect(read.text).toBe('I look. '.repeat(9))
  })

  test('without a tool of the service, a pause is given to the client', async () => {
    playing(claude, [PAUSED])
    const asked = asking()
    const answer = await ask({ stream, tools: [NATIVE[dialect]] }, { dialect })
    const read = await reading(dialect, stream, answer)
    expect(asked()).toHaveLength(1)
    expect(read.stop).toBe('length')
    if (dialect === 'messages') expect(answer.text).toContain('"stop_reason":"pause_turn"')
  })
})

test('sources of a continued turn have positions in the text of the whole answer', async () => {
  playing(claude, [PAUSED, { content: [found('2'), CITED], stop: 'end_turn' }])
  const { json } = await ask({}, { dialect: 'chat' })
  const { message } =
    (json as { choices: readonly { message: { content: string; annotations: readonly { url_citation: Json }[] } }[] }).choices[0] ?? {}
  expect(message?.content).toBe(`I look. ${SMALL}`)
  expect(message?.annotations[0]?.url_citation).toMatchObject({ start_index: 8, end_index: 8 + SMALL.length })
})

test('another provider of the model gets the conversation without what Claude’s own tools did', async () => {
  playing(claude, [PAUSED, MIXED, { ...ENDED, status: 529 }])
  playing(other, [{ content: [text('Done.')], stop: 'end_turn' }])
  const answer = await ask({ tools: [{ type: 'service:datetime' }, { type: 'service:web_search', parameters: { engine: 'auto' } }] })
  expect([answer.text.slice(0, 500), answer.status]).toEqual([answer.text.slice(0, 500), 200])
  expect(saidIn(other.last)).toEqual([[text('I look. '), text(SMALL), CLOCK]])
})

test('a stop condition that applies at a pause leads to a last turn, with no call left unanswered', async () => {
  playing(claude, [PAUSED, { content: [text('Done.')], stop: 'end_turn' }])
  const answer = await ask({ stop_server_tools_when: [{ type: 'max_tokens_used', max_tokens: 20 }] })
  expect((await reading('messages', false, answer)).stop).toBe('stop')
  expect(claude.last.body['tool_choice']).toEqual({ type: 'none' })
  expect(saidIn(claude.last)).toEqual([[text('I look.')]])
  expect(await recordOf(service, answer)).toMatchObject({ stopped_by: 'max_tokens_used' })
})

test('a pause that the budget cannot cover ends in a last turn without the results, and nothing is overspent', async () => {
  const long = { ...found('1'), content: [{ ...(found('1')['content'] as readonly Json[])[0], encrypted_content: 'x'.repeat(30_000) }] }
  playing(claude, [
    { content: [text('I look. '), search('1', 'quokka'), long], stop: 'pause_turn' },
    { content: [text('Done.')], stop: 'end_turn' },
  ])
  const { key } = await createKey(service, { name: 'limited', limit: 0.2 })
  const asked = asking()
  const answer = await ask({ max_tokens: 100, provider: { only: ['anthropic'] } }, { key })
  expect((await reading('messages', false, answer)).text).toContain('Done.')
  expect(asked()).toHaveLength(2)
  expect(asked()[1]?.body['tool_choice']).toEqual({ type: 'none' })
  expect(saidIn(claude.last)).toEqual([[text('I look.')]])
  expect(await recordOf(service, answer)).toMatchObject({ stopped_by: 'budget' })
  const { data } = (await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }
  expect(data.usage).toBeLessThanOrEqual(0.2)
})
