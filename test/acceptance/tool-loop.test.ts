/** The limits, costs and failures of a loop of server tools, between a client and the providers of a model. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, createKey, type Dialect, DIALECTS, infer, PATHS, recordOf } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { type Exchange, type Script, startFakeUpstream } from '../support/fake-upstream.ts'
import { ledgerRows } from '../support/ledger-rows.ts'
import { until, useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const first = await startFakeUpstream()
const second = await startFakeUpstream()
const engine = await startFakeUpstream()
let service: StartedService
let sticking: StartedService

const PRICES = '{ prompt: 10, completion: 100 }'
const CONFIG = `
providers:
  one: { name: One, dialects: [openai-chat], base_url: "${first.url}", api_key: k, prices: {} }
  two: { name: Two, dialects: [openai-chat], base_url: "${second.url}", api_key: k }
  claude: { name: Claude, dialects: [anthropic], base_url: "${second.url}", api_key: k }
  draining: { name: Draining, dialects: [openai-chat], base_url: "${first.url}", api_key: k, on_cancel: drain }
models:
  t/claude: { endpoints: [{ provider: claude, model: claude-opus-4-8, prices: ${PRICES} }] }
  t/agent: { endpoints: [{ provider: one, model: a, prices: ${PRICES} }, { provider: two, model: a, prices: ${PRICES} }] }
  t/drained: { endpoints: [{ provider: draining, model: a, prices: ${PRICES} }] }
  t/other: { endpoints: [{ provider: two, model: other, prices: ${PRICES} }] }
  t/unpriced: { endpoints: [{ provider: one, model: a }] }
tools:
  loop: { parallel: 2, seconds: SECONDS, failover: FAILOVER }
  web_search: { engines: { house: { kind: searxng, url: "${engine.url.slice(0, -'/v1'.length)}", price_per_request: 0.005 } } }
`.replace(', prices: {}', '')

const configOf = (seconds: number, failover: string): string => CONFIG.replace('SECONDS', String(seconds)).replace('FAILOVER', failover)

beforeAll(async () => {
  service = await services.start({ config: configOf(60, 'same_model') })
  // Timers count whole milliseconds, so they fire before this time is over.
  sticking = await services.start({ config: configOf(0.5009, 'never') })
})

type Json = Readonly<Record<string, unknown>>
interface Called {
  readonly name: string
  readonly json?: string
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }

const toolCalls = (calls: readonly Called[], at: number): Json[] =>
  calls.map(({ name, json = '{}' }, index) => ({ index, id: `call_${at}_${index}`, type: 'function', function: { name, arguments: json } }))

/** Answers with calls, or with text: whole or as a stream. */
const speak = async (
  exchange: Exchange,
  content: string,
  calls: readonly Called[],
  at: number,
  finish = calls.length > 0 ? 'tool_calls' : 'stop',
): Promise<void> => {
  const head = { id: 'chatcmpl-1', created: 1, model: 'a' }
  const tools = calls.length > 0 ? { tool_calls: toolCalls(calls, at) } : {}
  if (exchange.body.stream === true) {
    const chunk = (delta: Json, more: Json = {}): string =>
      JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })
    return exchange.stream([
      chunk({ role: 'assistant', content }),
      ...(calls.length > 0 ? [chunk(tools)] : []),
      chunk({}, { finish_reason: finish }),
      JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage: USAGE }),
    ])
  }
  const message = { role: 'assistant', content, ...tools }
  return exchange.answer(
    200,
    JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE }),
  )
}

/** The number of the model's turns in a conversation as it is sent. */
const turnOf = ({ body }: Exchange): number => body.messages.filter(({ role }) => role === 'assistant').length

type Turn = readonly Called[] | string | Script

const playing =
  (...turns: readonly Turn[]): Script =>
  (exchange) => {
    const at = turnOf(exchange)
    const turn = turns[at] ?? 'Done.'
    if (typeof turn === 'function') return turn(exchange)
    return typeof turn === 'string' ? speak(exchange, turn, [], at) : speak(exchange, `Step ${at + 1}.`, turn, at)
  }

const CLOCK: Called = { name: 'service_datetime' }
const SEARCH: Called = { name: 'service_web_search', json: '{"query":"quokka-marker"}' }
const PAGES = JSON.stringify({ query: 'q', results: [{ url: 'https://quokka.example/', title: 'Quokkas', content: 'Small.' }] })

beforeEach(() => {
  first.script(playing([CLOCK], 'Done.'))
  second.script(playing([CLOCK], 'Done.'))
  engine.script((exchange) => exchange.answer(200, PAGES))
})

interface Asking {
  readonly to?: StartedService
  readonly dialect?: Dialect
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

const METADATA = { 'x-service-metadata': 'enabled' }

const ask = (
  more: Json = {},
  { to = service, dialect = 'chat', key = to.inferenceKey, headers = METADATA }: Asking = {},
): Promise<Answer> =>
  infer(
    to,
    {
      model: 't/agent',
      provider: { order: ['one', 'two'] },
      ...conversationOf(dialect, 'Go.'),
      tools: [{ type: 'service:datetime' }, { type: 'service:web_search', parameters: { engine: 'house' } }],
      ...more,
    },
    { path: PATHS[dialect], headers, key },
  )

interface AnswerWire {
  readonly usage: Json & { readonly cost: number; readonly cost_details: Json }
  readonly choices: readonly {
    readonly message: { readonly content: string; readonly tool_calls?: unknown }
    readonly finish_reason: string
  }[]
  readonly service_metadata: Json & { readonly pipeline?: readonly Json[]; readonly attempts: readonly Json[] }
}
const wire = ({ json }: Answer): AnswerWire => json as AnswerWire

/** The queries of the searches in a Responses stream, as they begin. */
const announcedIn = (text: string): readonly (string | undefined)[] =>
  streamEvents(text).flatMap(({ data }) => {
    const { type, item } = data as Reported
    return type === 'response.output_item.added' && item?.type === 'service:web_search' ? [item.action?.query] : []
  })

interface Reported {
  readonly type: string
  readonly item?: { readonly type: string; readonly action?: { readonly query?: string } }
}

/** The requests at both providers since this call. */
const watching = (): (() => readonly Exchange[]) => {
  const [ones, twos] = [first.exchanges.length, second.exchanges.length]
  return () => [...first.exchanges.slice(ones), ...second.exchanges.slice(twos)]
}

describe('counting', () => {
  test.each(DIALECTS)(
    '%s: usage, record and metadata have the calls, their engine and their cost, and nothing of what was asked',
    async (dialect) => {
      first.script(playing([SEARCH, CLOCK], [SEARCH], 'Done.'))
      const answer = await ask({}, { dialect })
      expect(answer.status).toBe(200)
      const { usage, service_metadata: metadata } = wire(answer)
      expect(usage).toMatchObject({
        server_tool_use_details: { tool_calls_requested: 3, tool_calls_executed: 3, web_search_requests: 2 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
        cost_details: { server_tool_cost: 0.01 },
      })
      // Three turns of 20 tokens in and 5 out, and two searches.
      expect(usage.cost).toBeCloseTo(3 * (20 * 10 + 5 * 100) * 1e-6 + 0.01, 9)
      expect(metadata.pipeline).toMatchObject([
        {
          type: 'server_tools',
          name: 'server-tools',
          summary: 'web_search ×2, datetime ×1',
          cost_usd: 0.01,
          data: { steps: 3, stopped_by: 'model' },
        },
      ])
      expect(metadata.attempts.map(({ step }) => step)).toEqual([1, 2, 3])
      const record = await recordOf(service, answer)
      expect(record).toMatchObject({
        steps: 3,
        stopped_by: 'model',
        num_search_results: 2,
        web_search_engine: 'house',
        total_cost: usage.cost,
      })
      expect(record['server_tool_calls']).toMatchObject([
        { tool: 'web_search', status: 'completed', engine: 'house', cost: 0.005, step: 1 },
        { tool: 'datetime', status: 'completed', engine: null, cost: 0, step: 2 },
        { tool: 'web_search', status: 'completed', step: 3 },
      ])
      expect(JSON.stringify([record, metadata])).not.toMatch(/quokka/)
    },
  )

  test('a loop is one row of the ledger, with each turn and each fee in it once', async () => {
    first.script(playing([SEARCH, CLOCK], [SEARCH], 'Done.'))
    const asked = watching()
    const searches = engine.exchanges.length
    const { key } = await createKey(service, { name: 'counted', limit: 10 })
    const answer = await ask({}, { key })
    const cost = asked().length * (20 * 10 + 5 * 100) * 1e-6 + (engine.exchanges.length - searches) * 0.005
    const record = await recordOf(service, answer)
    expect(asked()).toHaveLength(3)
    expect(ledgerRows(service.dataDir, answer.headers.get('x-generation-id'))).toMatchObject([
      { kind: 'final', amount_n: Math.round(cost * 1e9) },
    ])
    expect(wire(answer).usage.cost).toBeCloseTo(cost, 9)
    expect(record['total_cost']).toBeCloseTo(cost, 9)
    const { data } = (await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }
    expect(data.usage).toBeCloseTo(cost, 9)
  })

  test.each(DIALECTS)('%s: without the header that asks for them, an answer has no routing metadata', async (dialect) => {
    const reported = await ask({}, { dialect })
    const untold = await ask({}, { dialect, headers: {} })
    expect([reported.status, untold.status]).toEqual([200, 200])
    expect(reported.text).toContain('server_tools')
    for (const words of ['service_metadata', 'pipeline', 'stopped_by']) expect(untold.text).not.toContain(words)
  })

  test('a call that was refused counts as requested, and not as executed', async () => {
    first.script(playing([SEARCH], [SEARCH], 'Done.'))
    const { usage } = wire(await ask({ tools: [{ type: 'service:web_search', parameters: { max_uses: 1 } }] }))
    expect(usage).toMatchObject({ server_tool_use_details: { tool_calls_requested: 2, tool_calls_executed: 1, web_search_requests: 1 } })
  })

  test("a request with only the client's own functions is sent byte for byte as the client wrote it, except for the model", async () => {
    first.script((exchange) => speak(exchange, 'Done.', [], 0))
    const written =
      '{ "model": "t/unpriced",  "messages": [{"role":"user","content":"Go.\\u0041"}], "tools" : [ {"type":"function","function":{"name":"f","parameters":{"type":"object"}}} ], "temperature": 1.0 }'
    expect((await infer(service, written)).status).toBe(200)
    expect(first.last.text).toBe(written.replace('"t/unpriced"', '"a"'))
  })

  test.each([false, true])(
    'successful steps of an answer are not attempts: the last step was answered at its first attempt (streamed: %p)',
    async (stream) => {
      first.script(playing([CLOCK], [CLOCK], 'Done.'))
      const answer = await ask({ stream })
      const last = streamEvents(answer.text).findLast(({ data }) => typeof data === 'object' && data !== null && 'service_metadata' in data)
      const { service_metadata: metadata } = stream ? ((last?.data ?? {}) as AnswerWire) : wire(answer)
      expect(metadata).toMatchObject({ attempt: 1, summary: 'One answered at the first attempt.' })
      expect(metadata.attempts).toHaveLength(3)
    },
  )

  test("a request without tools reports none, and the service's figures report those that ran", async () => {
    const { usage, service_metadata: metadata } = wire(await ask({ tools: [] }))
    expect(usage).not.toHaveProperty('server_tool_use_details')
    expect(usage.cost_details).not.toHaveProperty('server_tool_cost')
    expect(metadata).not.toHaveProperty('pipeline')
    await ask()
    const metrics = await (await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.managementKey}` } })).text()
    expect(metrics).toMatch(/patchbay_tool_calls_total\{tool="datetime",engine="none",status="completed"\} [1-9]/)
    expect(metrics).toMatch(/patchbay_tool_loop_steps_count/)
  })
})

describe('limits', () => {
  const choices = (exchanges: readonly Exchange[]): readonly unknown[] => exchanges.map(({ body }) => body['tool_choice'] ?? 'auto')

  test.each([0, 31, -1, 1.5])('400: max_tool_calls %p, on each interface', async (max_tool_calls) => {
    for (const dialect of DIALECTS) expect([dialect, (await ask({ max_tool_calls }, { dialect })).status]).toEqual([dialect, 400])
  })

  test('max_tool_calls: one of two calls runs, the other is told the limit, and the last turn keeps the tools and may call none', async () => {
    first.script(playing([CLOCK, CLOCK], 'Done.'))
    const asked = watching()
    const answer = await ask({ max_tool_calls: 1 })
    const exchanges = asked()
    expect(choices(exchanges)).toEqual(['auto', 'none'])
    expect(exchanges[1]?.body.tools).toHaveLength(2)
    const results = exchanges[1]?.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(results).toEqual([expect.stringContaining('datetime'), expect.stringContaining('max_uses_exceeded')])
    expect((await recordOf(service, answer))['stopped_by']).toBe('max_tool_calls')
  })

  test.each([[[]], [[{ type: 'nonsense' }]], [[{ type: 'step_count_is', step_count: -1 }]]])(
    '400: stop_server_tools_when %j',
    async (conditions) => {
      expect((await ask({ stop_server_tools_when: conditions })).status).toBe(400)
    },
  )

  const CONDITIONS: readonly [Json, number][] = [
    [{ type: 'step_count_is', step_count: 2 }, 3],
    [{ type: 'has_tool_call', tool_name: 'openrouter:datetime' }, 2],
    [{ type: 'has_tool_call', tool_name: 'service_datetime' }, 2],
    [{ type: 'finish_reason_is', reason: 'tool_calls' }, 2],
    [{ type: 'finish_reason_is', reason: 'tool_use' }, 2],
    [{ type: 'max_tokens_used', max_tokens: 40 }, 3],
    [{ type: 'max_cost', max_cost_in_dollars: 0.001 }, 3],
  ]
  test.each(CONDITIONS)('%j ends the loop with one last turn, also beyond max_tool_calls', async (condition, calls) => {
    first.script(playing([CLOCK], [CLOCK], [CLOCK], [CLOCK], [CLOCK]))
    const asked = watching()
    const answer = await ask({ stop_server_tools_when: [condition], max_tool_calls: 1 })
    expect(answer.status).toBe(200)
    expect(asked()).toHaveLength(calls)
    expect(asked().at(-1)?.body['tool_choice']).toBe('none')
    // The model makes a call in its last turn too: the call is left out, and reported.
    expect(wire(answer).choices[0]).toMatchObject({ finish_reason: 'stop' })
    expect(wire(answer).choices[0]?.message).not.toHaveProperty('tool_calls')
    expect(answer.text).toContain('tool_call_after_limit')
    expect((await recordOf(service, answer))['stopped_by']).toBe(condition['type'])
  })

  test.each([
    ['length', { type: 'none' }, 'finish_reason_is'],
    ['max_tokens', { type: 'none' }, 'finish_reason_is'],
    ['stop', undefined, 'model'],
  ])('finish_reason_is reads the reason in the words of the provider and of the service: %s', async (reason, choice, stoppedBy) => {
    second.script((exchange) => {
      const ends = exchange.body.messages.some(({ role }) => role === 'assistant')
      return exchange.answer(
        200,
        JSON.stringify({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-opus-4-8',
          content: ends ? [{ type: 'text', text: 'Done.' }] : [{ type: 'tool_use', id: 'toolu_1', name: 'service_datetime', input: {} }],
          stop_reason: ends ? 'end_turn' : 'max_tokens',
          stop_sequence: null,
          usage: { input_tokens: 20, output_tokens: 5 },
        }),
      )
    })
    const answer = await ask({ model: 't/claude', provider: {}, stop_server_tools_when: [{ type: 'finish_reason_is', reason }] })
    expect(answer.status).toBe(200)
    expect(second.last.body['tool_choice']).toEqual(choice)
    expect((await recordOf(service, answer))['stopped_by']).toBe(stoppedBy)
  })

  test('max_cost counts the cost of the customer’s own key', async () => {
    const own = await services.start({ config: configOf(60, 'same_model') })
    for (const provider of ['one', 'two']) await call(own, 'POST', '/byok', { body: { provider, key: 'sk-of-the-customer' } })
    first.script(playing([CLOCK], [CLOCK], [CLOCK], [CLOCK]))
    const asked = watching()
    const answer = await ask({ stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 0.001 }] }, { to: own })
    expect([answer.status, asked().length, wire(answer).usage]).toMatchObject([200, 3, { cost: 0, is_byok: true }])
  })

  test('400: max_cost if the price of the model is unknown', async () => {
    const { status, error } = await ask({
      model: 't/unpriced',
      provider: {},
      stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 1 }],
    })
    expect(status).toBe(400)
    expect(error.message).toContain('stop_server_tools_when[0]')
  })

  test('a choice that requires a call holds for the first turn, and one that names a server tool forces it', async () => {
    const asked = watching()
    const answers = [
      await ask({ tool_choice: 'required' }),
      await ask({ tool_choice: { type: 'service:datetime' } }),
      await ask({ tool_choice: { type: 'service:datetime' } }, { dialect: 'responses' }),
      await ask({ tool_choice: { type: 'tool', name: 'service:datetime' } }, { dialect: 'messages' }),
    ]
    expect(answers.map(({ text }) => text)).toEqual(answers.map(() => expect.stringContaining('Done.') as string))
    expect(answers.map(({ headers }) => headers.get('x-service-warnings'))).toEqual(answers.map(() => null))
    const forced = { type: 'function', function: { name: 'service_datetime' } }
    expect(choices(asked())).toEqual(['required', 'auto', forced, 'auto', forced, 'auto', forced, 'auto'])
  })

  test('a field of Chat Completions that the service does not know reaches a provider of chat in every turn, as without tools', async () => {
    const fields = { guided_regex: '[a-z]+', house_options: { deep: [1, 'two'] } }
    const asked = watching()
    for (const more of [{ tools: [] }, {}]) {
      const answer = await ask({ ...fields, ...more })
      expect([answer.status, answer.headers.get('x-service-warnings')]).toEqual([200, null])
    }
    expect(asked().map(({ body }) => ({ guided_regex: body['guided_regex'], house_options: body['house_options'] }))).toEqual(
      asked().map(() => fields),
    )
    expect(asked().length).toBeGreaterThan(2)
  })

  test('three turns of invalid JSON arguments end in an answer, and the record has this reason', async () => {
    const broken = { name: 'service_datetime', json: '{"a' }
    first.script(playing([broken], [broken], [broken], 'Done.'))
    const asked = watching()
    const answer = await ask()
    expect(wire(answer).usage).toMatchObject({ server_tool_use_details: { tool_calls_requested: 3, tool_calls_executed: 0 } })
    expect(choices(asked())).toEqual(['auto', 'auto', 'auto', 'none'])
    expect((await recordOf(service, answer))['stopped_by']).toBe('malformed_calls')
  })

  test.each(DIALECTS)(
    '%s: a call of the model in its last turn is left out with a warning, and the record has the end that the client received',
    async (dialect) => {
      first.script(playing([CLOCK], [CLOCK]))
      const asked = watching()
      const answer = await ask({ max_tool_calls: 1 }, { dialect })
      expect(choices(asked())).toEqual(['auto', 'none'])
      expect(wire(answer).service_metadata['warnings']).toMatchObject([{ code: 'tool_call_after_limit' }])
      expect(await recordOf(service, answer)).toMatchObject({ steps: 1, stopped_by: 'max_tool_calls', finish_reason: 'stop' })
    },
  )

  test.each(DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const)))(
    '%s: a turn that the provider withholds ends the answer, and none of its calls runs (stream: %p)',
    async (dialect, stream) => {
      first.script((exchange) => speak(exchange, 'I will look.', [SEARCH, CLOCK], 0, 'content_filter'))
      const [asked, searches] = [watching(), engine.exchanges.length]
      const answer = await ask({ stream }, { dialect })
      expect(answer.status).toBe(200)
      expect(asked()).toHaveLength(1)
      expect(engine.exchanges.length - searches).toBe(0)
      expect(await recordOf(service, answer)).toMatchObject({ steps: 0, stopped_by: 'model', finish_reason: 'content_filter' })
    },
  )

  test.each(DIALECTS)('%s: if the client wants no calls, none runs, even if the model makes one', async (dialect) => {
    first.script(playing([SEARCH, CLOCK], 'Done.'))
    const [asked, searches] = [watching(), engine.exchanges.length]
    const answer = await ask({ tool_choice: dialect === 'messages' ? { type: 'none' } : 'none' }, { dialect })
    expect([answer.status, choices(asked())]).toEqual([200, ['none']])
    expect(engine.exchanges.length - searches).toBe(0)
    expect(await recordOf(service, answer)).toMatchObject({ steps: 0, stopped_by: 'model', finish_reason: 'stop' })
  })

  const WAYS = DIALECTS.flatMap((dialect) => [true, false].map((stream) => [dialect, stream] as const))
  test.each(WAYS)(
    '%s, stream %p: two of four searches run at once at most, and results go up in the order of the calls',
    async (dialect, stream) => {
      let running = 0
      let most = 0
      const waiting: (() => void)[] = []
      engine.script(async (exchange) => {
        running += 1
        most = Math.max(most, running)
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        if (waiting.length === 2) {
          // By the time that the service has answered this, whatever else it had begun would be here.
          for (let round = 0; round < 3; round += 1) await fetch(`${service.url}/health/live`)
          // The later call ends first.
          for (const end of waiting.splice(0).toReversed()) end()
        }
        await promise
        running -= 1
        await exchange.answer(200, PAGES)
      })
      const queries = ['alpha', 'beta', 'gamma', 'delta']
      first.script(
        playing(
          queries.map((query) => ({ ...SEARCH, json: JSON.stringify({ query }) })),
          'Done.',
        ),
      )
      const answer = await ask(dialect === 'messages' ? { stream, max_tokens: 500 } : { stream }, { dialect })
      expect(answer.status).toBe(200)
      expect(most).toBe(2)
      // Items are announced in the order of the calls, whichever ends first.
      if (stream && dialect === 'responses') expect(announcedIn(answer.text)).toEqual(queries)
      for (const query of queries) expect(answer.text).toContain(query)
      const results = first.last.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
      expect(results.map((text) => /"query":"(\w+)"/.exec(text)?.[1])).toEqual(queries)
    },
  )

  test.each(WAYS)(
    '%s, stream %p: a tool that hangs is stopped when the time of tools is over, and the answer comes, in one turn more',
    async (dialect, stream) => {
      engine.script(() => undefined)
      first.script(playing([SEARCH], 'Done.'))
      const asked = watching()
      const answer = await ask({ stream }, { to: sticking, dialect })
      expect(answer.text).toContain('Done.')
      expect(JSON.stringify(first.last.body.messages)).toContain('execution_time_exceeded')
      expect(choices(asked())).toEqual(['auto', 'none'])
      expect((await recordOf(sticking, answer))['stopped_by']).toBe('time')
    },
  )
})

describe('failures', () => {
  const failing: Script = (exchange) => exchange.answer(503, '{"error":{"message":"down"}}')

  test.each(DIALECTS)(
    '%s: a provider that fails before the second turn is followed by another of the same model, and no tool runs again',
    async (dialect) => {
      first.script(playing([SEARCH], failing))
      second.script(playing([SEARCH], 'Done.'))
      const searches = engine.exchanges.length
      const answer = await ask({ models: ['t/agent', 't/other'] }, { dialect })
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('Done.')
      expect(second.last.body.model).toBe('a')
      expect(engine.exchanges.length - searches).toBe(1)
      const { attempts, attempt, summary } = wire(answer).service_metadata
      const ofLastStep = attempts.filter(({ step }) => step === 2).length
      expect([attempt, summary]).toEqual([ofLastStep, `Two answered at attempt ${ofLastStep}.`])
      expect(attempts.at(0)).toMatchObject({ provider: 'One', status: 200, step: 1 })
      expect(attempts.at(-1)).toMatchObject({ provider: 'Two', status: 200, step: 2 })
    },
  )

  test('never: the request fails, no other provider is asked, and the work done is charged', async () => {
    first.script(playing([CLOCK], failing))
    const others = second.exchanges.length
    const asked = watching()
    const answer = await ask({}, { to: sticking })
    expect(wire(answer).choices[0]).toMatchObject({ finish_reason: 'error', message: { content: 'Step 1.' } })
    expect(asked().length).toBeGreaterThan(1)
    expect(second.exchanges).toHaveLength(others)
    expect(await recordOf(sticking, answer)).toMatchObject({ stopped_by: 'error', steps: 1, total_cost: (20 * 10 + 5 * 100) * 1e-6 })
  })

  test.each(DIALECTS)(
    '%s: a provider that dies within the second turn ends the stream with an error, once, and the first turn stays and is charged',
    async (dialect) => {
      first.script(
        playing([CLOCK], async (exchange) => {
          await exchange.head(200, { 'content-type': 'text/event-stream' })
          const chunk = {
            id: 'c',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'a',
            choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }],
          }
          await exchange.piece(`data: ${JSON.stringify(chunk)}\n\n`)
          await exchange.piece('data: {"error":{"message":"out of memory","code":500}}\n\n')
          await exchange.done()
        }),
      )
      const answer = await ask({ stream: true, provider: { only: ['one'] } }, { dialect })
      expect(readStream(dialect, answer.text)).toEqual({ end: 'error', faults: [] })
      expect(answer.text).toContain('Half')
      expect(answer.text).toContain('+00:00')
      const record = await recordOf(service, answer)
      expect(record).toMatchObject({ stopped_by: 'error', steps: 1 })
      expect(Number(record['total_cost'])).toBeGreaterThanOrEqual((20 * 10 + 5 * 100) * 1e-6)
    },
  )

  test('a client that leaves while a tool runs: the tool is stopped, no model is asked again, and the first turn is charged', async () => {
    first.script(playing([SEARCH], 'Done.'))
    const asked = watching()
    const { promise: searching, resolve } = Promise.withResolvers<Exchange>()
    engine.script(resolve)
    const leaving = new AbortController()
    const response = await fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 't/agent',
        provider: { order: ['one'] },
        stream: true,
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'service:web_search', parameters: { engine: 'house' } }],
      }),
    })
    const exchange = await searching
    leaving.abort()
    await exchange.gone
    const path = `/generation?id=${response.headers.get('x-generation-id')}`
    await until(async () => (await call(service, 'GET', path)).status === 200, 'the record')
    const data = { cancelled: true, stopped_by: 'cancelled', total_cost: (20 * 10 + 5 * 100) * 1e-6 }
    expect((await call(service, 'GET', path)).json).toMatchObject({ data })
    expect(asked()).toHaveLength(1)
  })

  test('a client that leaves a turn that is drained: it is charged, and none of its calls is run', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<Exchange>()
    first.script(resolve)
    const { key } = await createKey(service, { name: 'leaving' })
    const leaving = new AbortController()
    const searches = engine.exchanges.length
    const request = infer(
      service,
      { model: 't/drained', ...conversationOf('chat', 'Go.'), tools: [{ type: 'service:web_search', parameters: { engine: 'house' } }] },
      { key, signal: leaving.signal },
    ).catch(() => null)
    const turn = await asked
    leaving.abort()
    await request
    await Bun.sleep(100)
    await speak(turn, 'Step 1.', [SEARCH], 0)
    await until(
      async () => ((await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }).data.usage > 0,
      'the charge',
    )
    expect(engine.exchanges.length).toBe(searches)
  })

  test('SIGTERM while a tool hangs: it is stopped when half of the drain is over, and the model answers', async () => {
    const ending = await services.start({ config: configOf(60, 'same_model'), flags: ['--drain-seconds', '4'] })
    first.script(playing([SEARCH], 'Done.'))
    const { promise: searching, resolve } = Promise.withResolvers<Exchange>()
    engine.script(resolve)
    const answer = ask({}, { to: ending })
    const { gone } = await searching
    ending.signal('SIGTERM')
    await gone
    expect(wire(await answer).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.stringContaining('Done.') } })
    expect(JSON.stringify(first.last.body.messages)).toContain('execution_time_exceeded')
    expect(first.last.body['tool_choice']).toBe('none')
    expect(await ending.exited).toBe(0)
  })

  test('SIGTERM during a loop: the model answers without further calls, and the process ends', async () => {
    const ending = await services.start({ config: configOf(60, 'same_model'), flags: ['--drain-seconds', '20'] })
    first.script(playing([SEARCH], [CLOCK], [CLOCK], [CLOCK]))
    const { promise: searching, resolve } = Promise.withResolvers<Exchange>()
    engine.script(resolve)
    const answer = ask({}, { to: ending })
    const exchange = await searching
    ending.signal('SIGTERM')
    await until(
      async () =>
        (await fetch(`${ending.url}/ready`).then(
          ({ status }) => status,
          () => 0,
        )) !== 200,
      'the drain',
    )
    await exchange.answer(200, PAGES)
    expect((await answer).status).toBe(200)
    expect(first.last.body['tool_choice']).toBe('none')
    expect(await ending.exited).toBe(0)
  })
})

describe('money', () => {
  const keyOf = async (limit: number): Promise<string> => (await createKey(service, { name: 'limited', limit })).key

  test('a budget for one turn and a last one ends in an answer, and is not overspent', async () => {
    // Each turn has used little, so the next may use all that is left.
    const long = 'x'.repeat(30_000)
    first.script(playing([{ ...SEARCH, json: JSON.stringify({ query: 'q' }) }], [CLOCK], [CLOCK], 'Done.'))
    engine.script((exchange) =>
      exchange.answer(200, JSON.stringify({ query: 'q', results: [{ url: 'https://q.example/', title: 'Q', content: long }] })),
    )
    const key = await keyOf(0.09)
    const asked = watching()
    const answer = await ask({ max_tokens: 100 }, { key })
    expect(answer.text).toContain('"choices"')
    expect(answer.status).toBe(200)
    expect(asked().at(-1)?.body['tool_choice']).toBe('none')
    const { data } = (await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }
    expect(data.usage).toBeLessThanOrEqual(0.09)
    expect(wire(answer).service_metadata.pipeline).toMatchObject([{ data: { stopped_by: 'budget' } }])
  })

  test('searches that the budget cannot cover are not made', async () => {
    first.script(
      playing(
        Array.from({ length: 10 }, () => SEARCH),
        'Done.',
      ),
    )
    const key = await keyOf(0.065)
    const searches = engine.exchanges.length
    const answer = await ask({ max_tokens: 100 }, { key })
    expect(answer.status).toBe(200)
    expect(engine.exchanges.length).toBe(searches)
    expect(wire(answer).service_metadata.pipeline).toMatchObject([{ data: { stopped_by: 'budget' } }])
  })
})
