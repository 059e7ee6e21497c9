/** Streams of answers with tools of the service: the vendors' own stream helpers take them, and make of them what the whole answer holds. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { HTTPClient } from '@openrouter/sdk/lib/http'
import { type LanguageModel, streamText } from 'ai'
import { beforeAll, describe, expect, test } from 'bun:test'

import { anthropic, openAi } from '../support/answers.ts'
import { infer, type Answer } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
let service: StartedService

beforeAll(async () => {
  service = await services.start()
})

type Json = Readonly<Record<string, unknown>>
const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const
type Dialect = keyof typeof PATHS
const DIALECTS = Object.keys(PATHS) as Dialect[]

interface Scenario {
  readonly script: readonly Json[]
  readonly tools: readonly Json[]
  /** The client has this function. */
  readonly books?: true
  readonly only?: Dialect
  /** Claude has such tools, so Messages has blocks for them that strict clients know. */
  readonly claudesOwn?: true
}

const clock = { name: 'service:datetime' }
const models = { name: 'service:experimental__search_models', arguments: { query: 'echo' } }
const CLOCK = { type: 'service:datetime', parameters: { timezone: 'Asia/Tokyo' } }
const MODELS = { type: 'service:experimental__search_models' }
const DONE = { text: 'It is late.' }

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'parallel calls behind words': {
    script: [{ text: 'Let me look.', calls: [clock, models, clock] }, { text: 'One more.', calls: [clock] }, DONE],
    tools: [CLOCK, MODELS],
  },
  'calls in the other spelling': { script: [{ calls: [clock] }, DONE], tools: [{ type: 'openrouter:datetime' }] },
  'a call that fails': {
    script: [{ calls: [{ name: 'service:web_fetch', arguments: { url: 'http://127.0.0.1/' } }] }, DONE],
    tools: [{ type: 'service:web_fetch' }],
    claudesOwn: true,
  },
  'a call of the client beside one of the service': {
    script: [{ text: 'Wait.', calls: [clock, { name: 'book', arguments: { seats: 2 } }] }],
    tools: [CLOCK],
    books: true,
  },
  'tools that ask models': {
    script: [
      {
        calls: [
          { name: 'service:advisor', arguments: { prompt: 'Which?' } },
          { name: 'service:fusion', arguments: { prompt: 'Which?' } },
        ],
      },
      DONE,
    ],
    tools: [
      { type: 'service:advisor', parameters: { model: 'sandbox/echo' } },
      { type: 'service:fusion', parameters: { analysis_models: ['sandbox/echo'], model: 'sandbox/echo', tools: [] } },
    ],
  },
  'a patch': {
    script: [{ calls: [{ name: 'service:apply_patch', arguments: { type: 'create_file', path: 'a', diff: '+a' } }] }],
    tools: [{ type: 'service:apply_patch' }],
    only: 'responses',
  },
}

const SCHEMA = { type: 'object', properties: { seats: { type: 'number' } } }
const FUNCTION: Readonly<Record<Dialect, Json>> = {
  chat: { type: 'function', function: { name: 'book', parameters: SCHEMA } },
  responses: { type: 'function', name: 'book', parameters: SCHEMA },
  messages: { name: 'book', input_schema: SCHEMA },
}

const ask = async (dialect: Dialect, scenario: Scenario, stream: boolean): Promise<string> => {
  const { status, text } = await answerTo(dialect, scenario, stream)
  expect(status).toBe(200)
  return text
}

const answerTo = (
  dialect: Dialect,
  { script, tools, books }: Scenario,
  stream: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const words = 'What time is it?'
  return infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script },
      ...(dialect === 'responses' ? { input: words } : { messages: [{ role: 'user', content: words }] }),
      ...(dialect === 'messages' ? { max_tokens: 500 } : {}),
      tools: [...(books === true ? [FUNCTION[dialect]] : []), ...tools],
      stream,
    },
    { path: PATHS[dialect], headers },
  )
}

/** The words of an answer, without ids of this answer, times, and what helpers add. */
const said = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => {
      if (ADDED.has(key)) return undefined
      return typeof inner === 'string' ? inner.replaceAll(OWN_IDS, 'an id').replaceAll(TIMES, 'a time') : inner
    }),
  )
const ADDED = new Set(['parsed', 'parsed_arguments', 'parsed_output', 'encrypted_content'])
const OWN_IDS = /\b(?:[a-z]+_svc\d+_|msg_|fc_|rs_|ap_)[\w-]+/g
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g

/** The whole answer, and what the vendor's helper makes of the stream, in the members that both have. */
const FOLDS: Readonly<Record<Dialect, (whole: string, stream: string) => Promise<readonly [unknown, unknown]>>> = {
  async chat(whole, stream) {
    const { choices } = await openAi(stream).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
    const [given] = (JSON.parse(whole) as { choices: { finish_reason: string; message: Json }[] }).choices
    const details = streamEvents(stream).flatMap(({ data }) => {
      const [choice] = (data as { choices: { delta: { reasoning_details?: readonly unknown[] } }[] }).choices
      return choice?.delta.reasoning_details ?? []
    })
    const facts = ({ content, tool_calls = [] }: Json, finish: unknown, reasoning: unknown): Json => ({
      content,
      finish,
      reasoning,
      calls: (tool_calls as readonly { id: string; function: { name: string; arguments: string } }[]).map(({ id, function: called }) => [
        id,
        called.name,
        called.arguments,
      ]),
    })
    return [
      facts(given?.message ?? {}, given?.finish_reason, given?.message['reasoning_details']),
      facts((choices[0]?.message ?? {}) as unknown as Json, choices[0]?.finish_reason, details),
    ]
  },
  async responses(whole, stream) {
    const final = await openAi(stream).responses.stream({ model: 'm', input: 'x' }).finalResponse()
    const { output, status, usage } = JSON.parse(whole) as Json
    return [
      { output, status, usage },
      { output: final.output, status: final.status, usage: final.usage },
    ]
  },
  async messages(whole, stream) {
    const final = await anthropic(stream).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
    const { content, stop_reason } = JSON.parse(whole) as Json
    return [
      { content, stop_reason },
      { content: final.content, stop_reason: final.stop_reason },
    ]
  },
}

const saying = (body: string): typeof fetch =>
  (async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })) as unknown as typeof fetch

const apiKey = 'k'
const AI_MODELS: Readonly<Record<Dialect, readonly ((body: string) => LanguageModel)[]>> = {
  chat: [
    (body) => createOpenAI({ apiKey, fetch: saying(body) }).chat('m'),
    (body) => createOpenRouter({ apiKey, fetch: saying(body) }).chat('m'),
  ],
  responses: [(body) => createOpenAI({ apiKey, fetch: saying(body) }).responses('m')],
  messages: [(body) => createAnthropic({ apiKey, fetch: saying(body) })('m')],
}

describe.each(DIALECTS)('%s', (dialect) => {
  describe.each(Object.entries(SCENARIOS).filter(([, { only = dialect }]) => only === dialect))('%s', (_, scenario) => {
    test("the stream is well formed, and the vendor's helper makes of it what the whole answer holds", async () => {
      const [whole, stream] = [await ask(dialect, scenario, false), await ask(dialect, scenario, true)]
      expect(readStream(dialect, stream)).toEqual({ end: 'normal', faults: [] })
      const [given, folded] = await FOLDS[dialect](whole, stream)
      expect(said(folded)).toEqual(said(given))
    })

    // Its reader of Messages refuses blocks that Claude does not have, and it has no way to ask for such tools there.
    if (dialect === 'messages' && scenario.claudesOwn !== true) return

    test('the AI SDK reads the text of it, and of calls only those of the client', async () => {
      const stream = await ask(dialect, scenario, true)
      for (const modelOf of AI_MODELS[dialect]) {
        const errors: unknown[] = []
        const read = streamText({ model: modelOf(stream), prompt: 'x', maxRetries: 0, onError: ({ error }) => void errors.push(error) })
        await read.consumeStream()
        expect(errors).toEqual([])
        const words = scenario.script.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        const text = await read.text
        for (const word of words) expect(text).toContain(word)
        const calls = (await read.toolCalls).filter(({ providerExecuted }) => providerExecuted !== true).map(({ toolName }) => toolName)
        expect(calls).toEqual(scenario.books === true ? ['book'] : [])
      }
    })
  })
})

const WAYS = DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const))

test.each(WAYS)(
  '%s, stream %p: an answer of the response cache has the calls and results of the first, and no tool runs again',
  async (dialect, stream) => {
    const scenario: Scenario = { script: [{ text: 'Let me look.', calls: [clock] }, DONE], tools: [CLOCK] }
    const asked = (): Promise<Answer> => answerTo(dialect, scenario, stream, { 'x-service-cache': 'true' })
    const [first, second] = [await asked(), await asked()]
    expect([first, second].map(({ headers }) => headers.get('x-service-cache-status'))).toEqual(['MISS', 'HIT'])
    // The time that the tool told is that of the first.
    const times = first.text.match(TIMES)
    expect(times?.length).toBeGreaterThan(0)
    expect(second.text.match(TIMES)).toEqual(times)
    expect(second.text).not.toMatch(/"(?:tool_calls_executed|tool_calls_requested)":\s*[1-9]/)
    expect(second.text).not.toMatch(/"cost":\s*[^0]/)
    const whole = await ask(dialect, scenario, false)
    const [given, folded] = stream ? await FOLDS[dialect](whole, second.text) : [JSON.parse(whole), second.json]
    expect(said(withoutUse(folded))).toEqual(said(withoutUse(given)))
  },
)

/** A kept answer has used nothing, and says when it was given. */
const withoutUse = (value: unknown): unknown => ({
  ...(value as Json),
  usage: null,
  id: null,
  created: null,
  created_at: null,
  completed_at: null,
  service_tier: null,
  provider: null,
})

describe('the SDK of OpenRouter', () => {
  const reading = (body: string): OpenRouter =>
    new OpenRouter({ apiKey, retryConfig: { strategy: 'none' }, httpClient: new HTTPClient({ fetcher: saying(body) }) })

  test.each(Object.entries(SCENARIOS).filter(([, { only }]) => only === undefined))(
    '%s: each chunk fits its schemas',
    async (_, scenario) => {
      const stream = await ask('chat', scenario, true)
      const chunks = await reading(stream).chat.send({ chatRequest: { model: 'm', messages: [], stream: true } })
      let text = ''
      for await (const { choices } of chunks as AsyncIterable<{ choices: { delta: { content?: string | null } }[] }>)
        text += choices[0]?.delta.content ?? ''
      for (const { text: word } of scenario.script) if (typeof word === 'string') expect(text).toContain(word)
    },
  )
})
