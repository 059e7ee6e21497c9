/** Streams of answers with tools of the service: the vendors' own stream helpers read them, and build what the whole answer holds. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { HTTPClient } from '@openrouter/sdk/lib/http'
import { generateText, type LanguageModel, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'

import { anthropic, openAi, openAi7 } from '../support/answers.ts'
import { type Answer, call, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

type Json = Readonly<Record<string, unknown>>

interface Scenario {
  readonly script: readonly Json[]
  readonly tools: readonly Json[]
  /** The client has this function, too. */
  readonly books?: true
  readonly only?: Dialect
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
  return infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script },
      ...conversationOf(dialect, 'What time is it?'),
      tools: [...(books === true ? [FUNCTION[dialect]] : []), ...tools],
      stream,
    },
    { path: PATHS[dialect], headers },
  )
}

/** The contents of an answer, without its own ids, times, and members that helpers add. */
const said = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => {
      if (ADDED.has(key)) return undefined
      return typeof inner === 'string' ? inner.replaceAll(OWN_IDS, 'an id').replaceAll(TIMES, 'a time') : inner
    }),
  )
const ADDED = new Set(['parsed', 'parsed_arguments', 'parsed_output', 'encrypted_content'])
const OWN_IDS = /\b(?:[a-z]+_svc\d+p\d+b?_|msg_|fc_|rs_|ap_)[\w-]+/g
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g

interface Fold {
  /** The members of the whole answer that the vendor's helper knows. */
  given(whole: string): unknown
  /** The same members, as each version of the vendor's helper builds them from the stream. */
  folded(stream: string): Promise<readonly unknown[]>
}

const factsOf = ({ content, tool_calls = [] }: Json, finish: unknown): Json => ({
  content,
  finish,
  calls: (tool_calls as readonly { id: string; function: { name: string; arguments: string } }[]).map(({ id, function: called }) => [
    id,
    called.name,
    called.arguments,
  ]),
})

const FOLDS: Readonly<Record<Dialect, Fold>> = {
  chat: {
    given(whole) {
      const [choice] = (JSON.parse(whole) as { choices: { finish_reason: string; message: Json }[] }).choices
      return { ...factsOf(choice?.message ?? {}, choice?.finish_reason), reasoning: choice?.message['reasoning_details'] }
    },
    folded(stream) {
      const reasoning = streamEvents(stream).flatMap(({ data }) => {
        const [choice] = (data as { choices: { delta: { reasoning_details?: readonly unknown[] } }[] }).choices
        return choice?.delta.reasoning_details ?? []
      })
      const finals = [
        openAi(stream).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion(),
        openAi7(stream).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion(),
      ]
      return Promise.all(
        finals.map(async (final) => {
          const [choice] = (await final).choices
          return { ...factsOf((choice?.message ?? {}) as unknown as Json, choice?.finish_reason), reasoning }
        }),
      )
    },
  },
  responses: {
    given(whole) {
      const { output, status, usage } = JSON.parse(whole) as Json
      return { output, status, usage }
    },
    folded(stream) {
      const finals = [
        openAi(stream).responses.stream({ model: 'm', input: 'x' }).finalResponse(),
        openAi7(stream).responses.stream({ model: 'm', input: 'x' }).finalResponse(),
      ]
      return Promise.all(
        finals.map(async (final) => {
          const { output, status, usage } = await final
          return { output, status, usage }
        }),
      )
    },
  },
  messages: {
    given(whole) {
      const { content, stop_reason } = JSON.parse(whole) as Json
      return { content, stop_reason }
    },
    async folded(stream) {
      const { content, stop_reason } = await anthropic(stream).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
      return [{ content, stop_reason }]
    },
  },
}

const saying = (body: string): typeof fetch =>
  (async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })) as unknown as typeof fetch

const apiKey = 'k'
/** The headers by which the AI SDK is recognised. */
const AI_SDK = { 'user-agent': 'ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5' }
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
      const { given, folded } = FOLDS[dialect]
      for (const fold of await folded(stream)) expect(said(fold)).toEqual(said(given(whole)))
    })

    test('the AI SDK reads the text of it, and of calls only those of the client', async () => {
      const { status, text: stream } = await answerTo(dialect, scenario, true, AI_SDK)
      expect(status).toBe(200)
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

test('the AI SDK, which has no words for tools of the service, uses a preset that has them on every interface, streamed or not', async () => {
  const saved = await call(service, 'POST', '/presets/late/messages', {
    body: { model: 'sandbox/agent', max_tokens: 500, messages: [{ role: 'user', content: 'x' }], tools: [CLOCK] },
  })
  expect(saved.status).toBe(200)
  const script = [{ text: 'Let me look.', calls: [clock] }, DONE]
  const scripted = ((url: string, init: RequestInit & { readonly body: string }) =>
    fetch(url, { ...init, body: JSON.stringify({ ...(JSON.parse(init.body) as Json), sandbox: { script } }) })) as typeof fetch
  const own = { baseURL: service.api, fetch: scripted }
  const key = service.inferenceKey
  const models = [
    createOpenAI({ ...own, apiKey: key }).chat('@preset/late'),
    createOpenAI({ ...own, apiKey: key }).responses('@preset/late'),
    createAnthropic({ ...own, authToken: key })('@preset/late'),
  ]
  for (const model of models) {
    const asked = { model, prompt: 'How late is it?', maxRetries: 0 }
    for (const text of [(await generateText(asked)).text, await streamText(asked).text]) {
      expect(text).toContain('Let me look.')
      expect(text).toContain(DONE.text)
    }
  }
})

const WAYS = DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const))

test.each(WAYS)(
  '%s, stream %p: an answer of the response cache has the calls and results of the first, and no tool runs again',
  async (dialect, stream) => {
    const scenario: Scenario = { script: [{ text: 'Let me look.', calls: [clock] }, DONE], tools: [CLOCK] }
    const asked = (): Promise<Answer> => answerTo(dialect, scenario, stream, { 'x-service-cache': 'true' })
    const [first, second] = [await asked(), await asked()]
    expect([first, second].map(({ headers }) => headers.get('x-service-cache-status'))).toEqual(['MISS', 'HIT'])
    // The time in the cached answer is the time of the first one.
    const times = first.text.match(TIMES)
    expect(times?.length).toBeGreaterThan(0)
    expect(second.text.match(TIMES)).toEqual(times)
    expect(second.text).not.toMatch(/"(?:tool_calls_executed|tool_calls_requested)":\s*[1-9]/)
    expect(second.text).not.toMatch(/"cost":\s*[^0]/)
    const whole = await ask(dialect, scenario, false)
    const { given, folded } = FOLDS[dialect]
    const folds = stream ? await folded(second.text) : [second.json]
    const wanted = stream ? given(whole) : (JSON.parse(whole) as unknown)
    for (const fold of folds) expect(said(withoutUse(fold))).toEqual(said(withoutUse(wanted)))
  },
)

/** A cached answer has no usage, and has the time when it was first given. */
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
