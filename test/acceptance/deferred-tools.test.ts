/** Tools that the model finds by searching, with an upstream that follows a script: what it is sent, and what the client gets. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, conversationOf, type Dialect, DIALECTS, infer, PATHS, savePreset } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  anthropic: { base_url: "${upstream.url}", api_key: upstream-credential }
models:
  anthropic/one:
    endpoints: [{ provider: anthropic, model: up-claude, prices: { prompt: 2, completion: 10 } }]
  fake/one:
    endpoints: [{ provider: fake, model: up-one, prices: { prompt: 2, completion: 10 } }]
`,
})

interface ScriptedTurn {
  readonly text?: string
  readonly calls?: readonly (readonly [name: string, args: unknown])[]
}

let asked: Exchange[] = []
let callsMade = 0

/** Sets the upstream's turns from now on, one for each request. */
const plays = (...turns: readonly ScriptedTurn[]): void => {
  let next = 0
  upstream.script((exchange) => {
    asked.push(exchange)
    return answerTurn(exchange, turns[next++] ?? { text: 'The script has no more turns.' })
  })
}

beforeEach(() => {
  asked = []
  callsMade = 0
})

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const answerTurn = (exchange: Exchange, { text, calls = [] }: ScriptedTurn): Promise<void> => {
  const toolCalls = calls.map(([name, args], index) => ({
    index,
    id: `call_${(callsMade += 1)}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  const finish = toolCalls.length > 0 ? 'tool_calls' : 'stop'
  const message = { role: 'assistant', content: text ?? null, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) }
  const head = { id: 'up', created: 1, model: 'up-one' }
  if (exchange.body.stream !== true) {
    const choices = [{ index: 0, message, finish_reason: finish }]
    return exchange.answer(200, JSON.stringify({ ...head, object: 'chat.completion', choices, usage: USAGE }), {
      'content-type': 'application/json',
    })
  }
  const chunk = (delta: object, reason: string | null = null) =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })
  return exchange.stream([
    chunk(message),
    chunk({}, finish),
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage: USAGE }),
  ])
}

type Json = Readonly<Record<string, unknown>>

interface Declared {
  readonly name: string
  readonly description?: string
  readonly schema?: unknown
  readonly deferred?: boolean
}

const CITY = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] }

const functionOf = (dialect: Dialect, { name, description = `Does ${name}.`, schema = CITY, deferred = true }: Declared): Json => {
  const mark = deferred ? { defer_loading: true } : {}
  if (dialect === 'chat') return { type: 'function', function: { name, description, parameters: schema }, ...mark }
  return dialect === 'responses'
    ? { type: 'function', name, description, parameters: schema, ...mark }
    : { name, description, input_schema: schema, ...mark }
}

const TOOLS: readonly Declared[] = [
  { name: 'get_weather', description: 'Tells the weather of a city.' },
  { name: 'loaded', deferred: false },
  { name: 'book_train' },
]
const DEFERRED = { profile: 'portable', protocol: 'v1', validation: 'runtime', search: { type: 'bm25' } }

interface Request {
  readonly stream?: boolean
  readonly tools?: readonly Declared[]
  readonly more?: Json
  readonly history?: readonly unknown[]
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (dialect: Dialect, { stream = false, tools = TOOLS, more = {}, history = [], headers = {} }: Request = {}): Promise<Answer> => {
  return infer(
    service,
    {
      model: 'fake/one',
      ...conversationOf(dialect, [{ role: 'user', content: 'Weather in Oslo?' }, ...history]),
      tools: tools.map((tool) => functionOf(dialect, tool)),
      deferred_tools: DEFERRED,
      stream,
      ...more,
    },
    { path: PATHS[dialect], headers },
  )
}

const SEARCH: ScriptedTurn = { calls: [['service_search_tools', { query: 'weather' }]] }
const CALL: ScriptedTurn = { calls: [['service_call_tool', { name: 'get_weather', arguments: { city: 'Oslo' } }]] }
const DONE: ScriptedTurn = { text: 'It rains.' }

interface SeenCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}

/** The calls that a client would have to run. */
const callsIn = (dialect: Dialect, answer: Answer, stream: boolean): readonly SeenCall[] => {
  if (stream) expect(readStream(dialect, answer.text)).toEqual({ end: 'normal', faults: [] })
  const json = stream ? foldedCalls(dialect, answer.text) : (answer.json as Json)
  if (dialect === 'chat') {
    const [choice] = json['choices'] as { message: { tool_calls?: { id: string; function: { name: string; arguments: string } }[] } }[]
    return (choice?.message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      arguments: JSON.parse(args),
    }))
  }
  if (dialect === 'responses') {
    return (json['output'] as { type: string; call_id: string; name: string; arguments: string }[])
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id, name, arguments: args }) => ({ id: call_id, name, arguments: JSON.parse(args) }))
  }
  return (json['content'] as { type: string; id: string; name: string; input: unknown }[])
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, arguments: input }))
}

/** The calls of a stream, in the form of a whole answer. Each call comes in one piece. */
const foldedCalls = (dialect: Dialect, text: string): Json => {
  const events = streamEvents(text).map(({ data }) => data as Json)
  if (dialect === 'chat') {
    const calls = events.flatMap(
      (event) =>
        (
          event['choices'] as {
            delta: { tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[] }
          }[]
        )?.[0]?.delta.tool_calls ?? [],
    )
    const whole = new Map<number, { id: string; function: { name: string; arguments: string } }>()
    for (const {
      index,
      id = '',
      function: { name = '', arguments: args = '' },
    } of calls) {
      const before = whole.get(index) ?? { id: '', function: { name: '', arguments: '' } }
      whole.set(index, { id: before.id + id, function: { name: before.function.name + name, arguments: before.function.arguments + args } })
    }
    return { choices: [{ message: { tool_calls: [...whole.values()] } }] }
  }
  if (dialect === 'responses') return events.findLast(({ type }) => type === 'response.completed')?.['response'] as Json
  const content: Record<string, unknown>[] = []
  for (const event of events) {
    if (event['type'] === 'content_block_start') content[event['index'] as number] = { ...(event['content_block'] as Json) }
    const delta = event['delta'] as { type?: string; partial_json?: string; text?: string } | undefined
    const block = content[event['index'] as number]
    if (block !== undefined && delta?.type === 'input_json_delta')
      block['json'] = `${(block['json'] as string | undefined) ?? ''}${delta.partial_json ?? ''}`
    if (block !== undefined && event['type'] === 'content_block_stop' && typeof block['json'] === 'string') {
      const { json, ...rest } = block
      content[event['index'] as number] = { ...rest, input: JSON.parse(json || '{}') }
    }
  }
  return { content }
}

const toolNames = ({ body }: Exchange): string[] => (body.tools ?? []).map(({ function: { name } }) => name)
const lastMessage = ({ body }: Exchange): { role: string; content: string } => body.messages.at(-1) as { role: string; content: string }

for (const dialect of DIALECTS) {
  for (const stream of [false, true]) {
    describe(`${dialect}${stream ? ', streamed' : ''}`, () => {
      test('the model sees the loaded tools and two wrappers, the same in every turn; the client gets an ordinary call', async () => {
        plays(SEARCH, SEARCH, CALL)
        const answer = await ask(dialect, { stream })
        expect(answer.status).toBe(200)
        expect(callsIn(dialect, answer, stream)).toEqual([{ id: 'call_3', name: 'get_weather', arguments: { city: 'Oslo' } }])
        expect(asked.map(toolNames)).toEqual(Array.from({ length: 3 }, () => ['loaded', 'service_search_tools', 'service_call_tool']))
        expect(new Set(asked.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1)
        const found = JSON.parse(lastMessage(asked[1] as Exchange).content) as { tools: { name: string; parameters: unknown }[] }
        expect(found.tools[0]).toMatchObject({ name: 'get_weather', parameters: CITY })
        // The answer shows the search with the catalogue that was searched, but never the wrapper tool.
        expect(answer.text).toMatch(/"catalog":"[0-9a-f]{64}"/)
        expect(answer.text).not.toContain('service_call_tool')
      })

      test('arguments that do not match the schema are returned to the model to correct, and the client does not see them', async () => {
        plays({ calls: [['service_call_tool', { name: 'get_weather', arguments: { city: 7 } }]] }, CALL)
        const answer = await ask(dialect, { stream })
        expect(callsIn(dialect, answer, stream)).toEqual([{ id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }])
        expect(answer.text).not.toContain('call_1')
        expect(JSON.parse(lastMessage(asked[1] as Exchange).content)).toMatchObject({
          error: 'invalid_tool_input',
          issues: [{ path: '$.city', message: 'must be string' }],
        })
      })

      test('three invalid calls in a row end in a last turn without calls', async () => {
        const wrong: ScriptedTurn = { calls: [['service_call_tool', { name: 'get_wether', arguments: {} }]] }
        plays(wrong, wrong, wrong, DONE)
        const answer = await ask(dialect, { stream })
        expect(answer.text).toContain('It rains.')
        expect(callsIn(dialect, answer, stream)).toEqual([])
        expect(asked).toHaveLength(4)
        expect(asked.map(({ body }) => body['tool_choice'] ?? 'auto')).toEqual(['auto', 'auto', 'auto', 'none'])
        expect(toolNames(asked[3] as Exchange)).toContain('service_call_tool')
        expect(JSON.parse(lastMessage(asked[1] as Exchange).content)).toMatchObject({ error: 'unknown_tool', nearest: ['get_weather'] })
      })

      test('valid ones of several parallel calls go to the client, beside a call of a loaded tool', async () => {
        plays({
          calls: [
            ['loaded', { city: 'Rome' }],
            ['service_call_tool', { name: 'get_weather', arguments: '{"city":"Oslo"}' }],
            ['service_call_tool', { name: 'get_weather', arguments: {} }],
            ['service_call_tool', { name: 'book_train', arguments: { city: 'Bergen' } }],
          ],
        })
        const answer = await ask(dialect, { stream })
        expect(callsIn(dialect, answer, stream)).toEqual([
          { id: 'call_1', name: 'loaded', arguments: { city: 'Rome' } },
          { id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } },
          { id: 'call_4', name: 'book_train', arguments: { city: 'Bergen' } },
        ])
        expect(asked).toHaveLength(1)
      })

      test('a withheld tool that the model calls by its own name is checked as through its wrapper, and the model is told so', async () => {
        plays({ calls: [['get_weather', { city: 7 }]] }, { calls: [['get_weather', { city: 'Oslo' }]] })
        const answer = await ask(dialect, { stream })
        expect(callsIn(dialect, answer, stream)).toEqual([{ id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }])
        expect(answer.text).not.toContain('call_1')
        expect(asked[1]?.body.messages.at(-2)).toMatchObject({
          tool_calls: [{ function: { name: 'service_call_tool', arguments: '{"name":"get_weather","arguments":{"city":7}}' } }],
        })
        expect(JSON.parse(lastMessage(asked[1] as Exchange).content)).toMatchObject({ issues: [{ path: '$.city' }] })
      })

      test('a search beside a call runs first, and the answer ends with only the call', async () => {
        plays({ calls: [...(SEARCH.calls ?? []), ...(CALL.calls ?? [])] })
        const answer = await ask(dialect, { stream })
        expect(callsIn(dialect, answer, stream)).toEqual([{ id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }])
        expect(answer.text).toMatch(/"catalog":"/)
      })
    })
  }

  describe(dialect, () => {
    test('a search and a failed call count as steps of max_tool_calls', async () => {
      plays(SEARCH, { calls: [['service_call_tool', { name: 'get_weather' }]] }, DONE)
      await ask(dialect, { more: { max_tool_calls: 2 } })
      expect(asked.map(({ body }) => body['tool_choice'] ?? 'auto')).toEqual(['auto', 'auto', 'none'])
    })

    test('a stop condition applies to the name of a withheld tool', async () => {
      plays({ calls: [['service_call_tool', { name: 'get_weather' }]] }, DONE)
      await ask(dialect, { more: { stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'get_weather' }] } })
      expect(asked.map(({ body }) => body['tool_choice'] ?? 'auto')).toEqual(['auto', 'none'])
    })

    test.each<[string, Request, string]>([
      ['nothing to defer', { tools: [{ name: 'loaded', deferred: false }] }, 'deferred_tools'],
      ['a name of two tools', { tools: [...TOOLS, { name: 'get_weather', deferred: false }] }, 'get_weather'],
      ['code mode', { more: { deferred_tools: { ...DEFERRED, interface: 'code_mode' } } }, 'deferred_tools.interface'],
      ['another protocol', { more: { deferred_tools: { ...DEFERRED, protocol: 'v2' } } }, 'deferred_tools.protocol'],
      ['a wrapper of the client', { tools: [...TOOLS, { name: 'service_search_tools', deferred: false }] }, 'service_search_tools'],
      [
        'a search that is not there',
        { more: { deferred_tools: { ...DEFERRED, search: { type: 'custom', tool_id: 'mine', result_key: 'k' } } } },
        'deferred_tools.search.tool_id',
      ],
    ])('400 without asking any provider: %s', async (_, request, word) => {
      plays(DONE)
      const answer = await ask(dialect, request)
      expect(answer.status).toBe(400)
      expect(answer.text).toContain(word)
      expect(asked).toHaveLength(0)
    })

    test('400: a tool_choice that requires a call', async () => {
      const choice = dialect === 'messages' ? { type: 'any' } : 'required'
      const answer = await ask(dialect, { more: { tool_choice: choice } })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('tool_choice')
    })

    test('400: tools marked defer_loading without a way to find them, and a provider that has none', async () => {
      const tools = TOOLS.filter(({ deferred = true }) => deferred || dialect !== 'messages')
      const answer = await ask(dialect, { tools, more: { deferred_tools: null } })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('tools[0].defer_loading')
    })

    test('a search by a client function makes the tools that it named known to the model', async () => {
      plays(CALL)
      const custom = { ...DEFERRED, search: { type: 'custom', tool_id: 'loaded', result_key: 'names' } }
      const output = JSON.stringify({ names: ['get_weather', 'nothing'] })
      const history: Readonly<Record<Dialect, readonly unknown[]>> = {
        chat: [
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'loaded', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c', content: output },
        ],
        responses: [
          { type: 'function_call', call_id: 'c', name: 'loaded', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output },
        ],
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'loaded', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: output }] },
        ],
      }
      const answer = await ask(dialect, { more: { deferred_tools: custom }, history: history[dialect] })
      expect(callsIn(dialect, answer, false)).toMatchObject([{ name: 'get_weather' }])
      expect(toolNames(asked[0] as Exchange)).toEqual(['loaded', 'service_call_tool'])
      const { content } = lastMessage(asked[0] as Exchange)
      expect(content.startsWith(output)).toBe(true)
      expect(content).toContain('"minLength":2')
    })

    test('universal: below the threshold, every tool is sent unchanged', async () => {
      plays({ calls: [['get_weather', { city: 'Oslo' }]] })
      const answer = await ask(dialect, { more: { deferred_tools: { ...DEFERRED, profile: 'universal', min_deferred_tools: 4 } } })
      expect(callsIn(dialect, answer, false)).toMatchObject([{ name: 'get_weather' }])
      expect(toolNames(asked[0] as Exchange)).toEqual(['get_weather', 'loaded', 'book_train'])
      expect(asked[0]?.text).not.toContain('defer')
    })
  })
}

/** The part of an answer that a client sends back, with the outputs of its calls. */
const replayOf = (dialect: Dialect, answer: Answer, outputs: Readonly<Record<string, string>>): readonly unknown[] => {
  const json = answer.json as Json
  if (dialect === 'chat') {
    const [choice] = json['choices'] as { message: Json }[]
    return [choice?.message, ...Object.entries(outputs).map(([id, content]) => ({ role: 'tool', tool_call_id: id, content }))]
  }
  if (dialect === 'responses') {
    const items = Object.entries(outputs).map(([id, output]) => ({ type: 'function_call_output', call_id: id, output }))
    return [...(json['output'] as unknown[]), ...items]
  }
  const results = Object.entries(outputs).map(([id, content]) => ({ type: 'tool_result', tool_use_id: id, content }))
  return [
    { role: 'assistant', content: json['content'] },
    { role: 'user', content: results },
  ]
}

describe.each(DIALECTS)('%s: a conversation that comes back', (dialect) => {
  const firstAnswer = async (): Promise<Answer> => {
    plays(SEARCH, CALL)
    const answer = await ask(dialect)
    expect(callsIn(dialect, answer, false)).toEqual([{ id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }])
    return answer
  }

  test('begins with the bytes that the provider has seen, and no search is repeated', async () => {
    const history = replayOf(dialect, await firstAnswer(), { call_2: 'Rain' })
    plays(DONE)
    const answer = await ask(dialect, { history })
    expect(answer.text).toContain('It rains.')
    expect(asked).toHaveLength(3)
    const [, before, now] = asked.map(({ body }) => JSON.stringify({ tools: body.tools, messages: body.messages }).slice(0, -2))
    expect(now?.startsWith(before ?? 'nothing')).toBe(true)
    expect(now?.length).toBeGreaterThan(before?.length ?? 0)
    const rewrapped = { name: 'service_call_tool', arguments: '{"name":"get_weather","arguments":{"city":"Oslo"}}' }
    expect(asked[2]?.body.messages.at(-2)).toMatchObject({ tool_calls: [{ id: 'call_2', function: rewrapped }] })
  })

  test('is refused if the catalogue changed, naming the change, and continues if the profile is universal', async () => {
    const history = replayOf(dialect, await firstAnswer(), { call_2: 'Rain' })
    const changed = TOOLS.map((tool) => (tool.name === 'book_train' ? { ...tool, description: 'Other words.' } : tool))
    plays(DONE)
    const refused = await ask(dialect, { history, tools: changed })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('catalog changed')
    expect(refused.text).toContain('"changed":["book_train"]')
    const more = { deferred_tools: { ...DEFERRED, profile: 'universal' } }
    expect((await ask(dialect, { history, tools: changed, more })).text).toContain('It rains.')
  })

  test('has the same catalogue in whatever order its tools are listed', async () => {
    const history = replayOf(dialect, await firstAnswer(), { call_2: 'Rain' })
    plays(DONE)
    expect((await ask(dialect, { history, tools: TOOLS.toReversed() })).text).toContain('It rains.')
  })

  test('continues if the client dropped the search', async () => {
    plays(DONE)
    const history: Readonly<Record<Dialect, readonly unknown[]>> = {
      chat: [
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'Rain' },
      ],
      responses: [
        { type: 'function_call', call_id: 'c', name: 'get_weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'c', output: 'Rain' },
      ],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'get_weather', input: { city: 'Oslo' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'Rain' }] },
      ],
    }
    expect((await ask(dialect, { history: history[dialect] })).text).toContain('It rains.')
    expect(JSON.stringify(asked[0]?.body.messages)).toContain('service_call_tool')
  })
})

describe('tool search', () => {
  const CASES = [
    ['responses', 'service:tool_search'],
    ['responses', 'openrouter:tool_search'],
    ['responses', 'tool_search'],
    ['messages', 'service:tool_search'],
    ['messages', 'tool_search_tool_regex_20251119'],
    ['messages', 'tool_search_tool_bm25_20251119'],
  ] as const
  const REPORT = { type: 'object', properties: { place: { type: 'string', description: 'Where the weather is told.' } } }
  const HIDDEN: readonly Declared[] = [{ name: 'loaded', deferred: false }, { name: 'get_report', schema: REPORT }, { name: 'book_train' }]

  const askSearch = (dialect: Dialect, type: string, { more = {}, ...request }: Request = {}): Promise<Answer> => {
    const search = { type, ...(type.startsWith('tool_search_tool') ? { name: type.replace(/_\d+$/, '') } : {}) }
    const tools = [search, ...HIDDEN.map((tool) => functionOf(dialect, tool))]
    return ask(dialect, { ...request, more: { deferred_tools: null, tools, ...more } })
  }

  const searchFor = (type: string, words: string): ScriptedTurn => ({
    calls: [['service_tool_search', type.includes('bm25') ? { query: words } : { pattern: words }]],
  })

  describe.each(CASES)('%s, %s', (dialect, type) => {
    test.each([false, true])(
      'what is found by the description of an argument may be called from then on (streamed: %p)',
      async (stream) => {
        plays(searchFor(type, 'WEATHER'), { calls: [['get_report', { place: 'Oslo' }]] })
        const answer = await askSearch(dialect, type, { stream })
        expect(asked.map(toolNames)).toEqual([
          ['loaded', 'service_tool_search'],
          ['loaded', 'service_tool_search', 'get_report'],
        ])
        expect(callsIn(dialect, answer, stream)).toEqual([{ id: 'call_2', name: 'get_report', arguments: { place: 'Oslo' } }])
      },
    )

    test('a found tool stays found when the conversation comes back', async () => {
      plays(searchFor(type, 'weather'), { calls: [['get_report', { place: 'Oslo' }]] })
      const history = replayOf(dialect, await askSearch(dialect, type), { call_2: 'Rain' })
      plays(DONE)
      expect((await askSearch(dialect, type, { history })).text).toContain('It rains.')
      expect(toolNames(asked[2] as Exchange)).toEqual(['loaded', 'service_tool_search', 'get_report'])
      const [before, now] = asked.slice(1).map(({ body }) => JSON.stringify(body.messages).slice(0, -1))
      expect(now?.startsWith(before ?? 'nothing')).toBe(true)
    })

    test('a tool that was not searched for cannot be called', async () => {
      plays({ calls: [['get_report', {}]] }, DONE)
      const answer = await askSearch(dialect, type)
      expect(callsIn(dialect, answer, false)).toEqual([])
      expect(lastMessage(asked[1] as Exchange).content).toContain('search for it first')
    })
  })

  const ALLOWED = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_report' }] }

  test('a choice among functions that must be searched for keeps the search, and the found ones are included', async () => {
    plays(searchFor('service:tool_search', '.*'), { calls: [['get_report', { place: 'Oslo' }]] })
    const answer = await askSearch('responses', 'service:tool_search', { more: { tool_choice: ALLOWED } })
    expect(answer.status).toBe(200)
    expect(asked.map(toolNames)).toEqual([['service_tool_search'], ['service_tool_search', 'get_report']])
  })

  test('a choice of null counts as absent', async () => {
    plays(DONE)
    expect((await askSearch('responses', 'service:tool_search', { more: { tool_choice: null } })).status).toBe(200)
  })

  test('400: without a search, the function is named by its position in the request, whatever tool_choice leaves of the list', async () => {
    const tools = HIDDEN.map((tool) => functionOf('responses', tool))
    const answer = await ask('responses', { more: { deferred_tools: null, tools, tool_choice: ALLOWED } })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('tools[1].defer_loading')
  })

  test.each(['[', '(?=x)', 'x'.repeat(201)])('the pattern %s is reported to the model as an error', async (pattern) => {
    plays({ calls: [['service_tool_search', { pattern }]] }, DONE)
    expect((await askSearch('responses', 'service:tool_search')).status).toBe(200)
    expect(lastMessage(asked[1] as Exchange).content).toContain('invalid_tool_input')
  })

  test.each<[string, Dialect, Json, string]>([
    ['on chat', 'chat', {}, 'deferred_tools'],
    ['a choice that demands a call', 'responses', { tool_choice: 'required' }, 'tool_choice'],
    ['a search that is deferred itself', 'responses', { tools: [{ type: 'service:tool_search', defer_loading: true }] }, 'defer_loading'],
    ['too many results', 'responses', { tools: [{ type: 'service:tool_search', parameters: { max_results: 51 } }] }, 'max_results'],
    ['beside deferred_tools', 'responses', { deferred_tools: DEFERRED }, 'deferred_tools'],
  ])('400: %s', async (_, dialect, more, word) => {
    plays(DONE)
    const answer = await askSearch(dialect, 'service:tool_search', { more })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(word)
    expect(asked).toHaveLength(0)
  })
})

describe('a client that searches its tools itself, by the references of Messages', () => {
  const found = (...names: readonly string[]): readonly unknown[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'loaded', input: { query: 'weather' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: names.map((name) => ({ type: 'tool_reference', tool_name: name })) }],
    },
  ]

  test('has its search alone in the list of a model of any provider, before it has found something', async () => {
    plays({ calls: [['loaded', { query: 'weather' }]] })
    const answer = await ask('messages', { more: { deferred_tools: null } })
    expect(callsIn('messages', answer, false)).toMatchObject([{ name: 'loaded' }])
    expect(toolNames(asked[0] as Exchange)).toEqual(['loaded'])
  })

  test('finds a function for the model, which reads that it was found and may call it', async () => {
    plays({ calls: [['get_weather', { city: 'Oslo' }]] })
    const answer = await ask('messages', { more: { deferred_tools: null }, history: found('get_weather', 'unknown') })
    expect(callsIn('messages', answer, false)).toMatchObject([{ name: 'get_weather', arguments: { city: 'Oslo' } }])
    expect(toolNames(asked[0] as Exchange)).toEqual(['loaded', 'get_weather'])
    expect(lastMessage(asked[0] as Exchange)).toMatchObject({
      role: 'tool',
      content: 'The tool get_weather was found. It is in your list now.\nThe tool unknown was found. It is in your list now.',
    })
    expect(answer.headers.get('x-service-warning')).toBeNull()
  })

  test('may demand a call of a function that was not found yet', async () => {
    plays({ calls: [['book_train', { city: 'Oslo' }]] })
    const more = { deferred_tools: null, tool_choice: { type: 'tool', name: 'book_train' } }
    expect(callsIn('messages', await ask('messages', { more }), false)).toMatchObject([{ name: 'book_train' }])
    expect(toolNames(asked[0] as Exchange)).toEqual(['loaded', 'book_train'])
  })
})

test('a pattern that takes other engines exponential time is checked, and the model corrects arguments that do not match it', async () => {
  const tools = [{ name: 'evil', schema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } } }]
  const withText = (text: string): ScriptedTurn => ({ calls: [['service_call_tool', { name: 'evil', arguments: { text } }]] })
  // A backtracking engine would not finish this one.
  plays(withText(`${'a'.repeat(60)}!`), withText('a'.repeat(40)))
  const answer = await ask('chat', { tools })
  expect(callsIn('chat', answer, false)).toMatchObject([{ name: 'evil' }])
  expect(asked).toHaveLength(2)
})

test('a part of a schema that cannot be checked causes a warning, and the tool can still be called', async () => {
  plays({ calls: [['service_call_tool', { name: 'odd', arguments: {} }]] })
  const tools = [{ name: 'odd', schema: { type: 'object', unevaluatedProperties: false } }]
  const answer = await ask('chat', { tools, headers: { 'X-OpenRouter-Metadata': 'enabled' } })
  expect(callsIn('chat', answer, false)).toMatchObject([{ name: 'odd' }])
  expect(answer.text).toContain('unevaluatedProperties')
})

describe('tool searches of Anthropic’s own', () => {
  const CLAUDE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up-claude', content: [{ type: 'text', text: 'Yes.' }] }
  const marked = functionOf('messages', { name: 'get_weather' })

  test.each<[string, readonly Json[]]>([
    ['no search in the request', [marked]],
    ['its own search', [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }, marked]],
  ])('are sent as they were written: %s', async (_, tools) => {
    upstream.script((exchange) => {
      asked.push(exchange)
      const usage = { input_tokens: 1, output_tokens: 1 }
      return exchange.answer(200, JSON.stringify({ ...CLAUDE, stop_reason: 'end_turn', stop_sequence: null, usage }), {
        'content-type': 'application/json',
      })
    })
    const answer = await ask('messages', { more: { model: 'anthropic/one', deferred_tools: null, tools } })
    expect(answer.status).toBe(200)
    expect(asked.map(({ body }) => body['tools'] as unknown)).toEqual([tools])
  })
})

test('a preset can defer the tools of the requests that use it', async () => {
  const saved = await savePreset(
    service,
    'finder',
    {
      model: 'fake/one',
      messages: [{ role: 'user', content: 'x' }],
      tools: TOOLS.map((tool) => functionOf('chat', tool)),
      deferred_tools: DEFERRED,
    },
    'chat/completions',
  )
  expect(saved.status).toBe(200)
  plays(SEARCH, CALL)
  const answer = await infer(service, { model: '@preset/finder', messages: [{ role: 'user', content: 'Weather in Oslo?' }] })
  expect(callsIn('chat', answer, false)).toEqual([{ id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }])
  expect(toolNames(asked[0] as Exchange)).toEqual(['loaded', 'service_search_tools', 'service_call_tool'])
})

describe('docs/deferred-tools.md', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/deferred-tools.md'), 'utf8')
  const commands = [...page.matchAll(/```sh\ncurl "\$PATCHBAY_URL\/api\/v1(\S+)".*?-d '(.*?)'\n```/gs)]

  test('has a command for each variant', () => {
    expect(commands.map(([, path]) => path)).toEqual(['/chat/completions', '/responses'])
  })

  test.each(commands.map(([, path = '', body = '']) => [path, body] as const))(
    'the command to %s ends with a call of get_weather',
    async (path, body) => {
      const answer = await infer(service, body, { path })
      expect(answer.status).toBe(200)
      const calls = callsIn(path === '/responses' ? 'responses' : 'chat', answer, false)
      expect(calls).toMatchObject([{ name: 'get_weather', arguments: { city: 'Oslo' } }])
    },
  )
})
