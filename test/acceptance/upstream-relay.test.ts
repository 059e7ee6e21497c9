/** Relaying a provider's answers: recorded answers reach the clients, and unknown fields survive both ways. */
import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { OpenRouter } from '@openrouter/sdk'
import type { ChatRequest, ChatStreamChunk } from '@openrouter/sdk/models'

import { call, infer, streamChunks } from '../support/calls.ts'
import {
  FINISH_CHUNK,
  dataEvent,
  proseAnswer,
  proseChunk,
  recordedBody,
  recordedLines,
  say,
  startFakeUpstream,
} from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
let client: OpenAI
let router: OpenRouter

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one:
    endpoints: [{ provider: fake, model: up-one, prices: { prompt: 2, completion: 10, cache_read: 0.5 } }]
`,
  })
  client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
  router = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
})

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello!' }]

describe("headers are each side's own", () => {
  const vendors = {
    'set-cookie': '__cf_bm=secret; path=/; HttpOnly',
    'openai-organization': 'org-of-the-operator',
    'openai-project': 'proj-of-the-operator',
    'anthropic-organization-id': 'org-of-the-operator',
    'x-request-id': 'vendors-id',
    'request-id': 'vendors-id',
    'cf-ray': 'vendors-id',
    server: 'vendors-server',
    via: '1.1 vendors-proxy',
    'keep-alive': 'timeout=999',
    'proxy-authenticate': 'Basic realm="vendors"',
    'x-ratelimit-remaining-requests': '1',
    'access-control-allow-origin': '*',
    'x-generation-id': 'vendors-id',
    'x-preset': 'vendors@1',
  }
  const clients = {
    cookie: 'session=of-the-client',
    forwarded: 'for=client.example',
    via: '1.1 clients-proxy',
    te: 'trailers',
    'x-forwarded-for': '198.51.100.7',
    'x-forwarded-host': 'client.example',
    'x-real-ip': '198.51.100.7',
    'proxy-authorization': 'Basic clients',
    'x-api-key': 'clients-key',
    'openai-organization': 'org-of-the-client',
    referer: 'https://client.example/',
  }
  const own =
    /^(?:cache-control|content-length|content-type|date|request-id|transfer-encoding|x-accel-buffering|x-generation-id|x-request-id)$/

  test.each([
    ['an answer', false, 200],
    ['a stream', true, 200],
    ['a failure', false, 429],
  ])('of %s (stream: %p, %d)', async (_, stream, status) => {
    upstream.script(async (exchange) => {
      if (!stream) return exchange.answer(status, status === 200 ? proseAnswer('Hi.') : '{"error":{"message":"Slow down."}}', vendors)
      await exchange.head(200, { 'content-type': 'text/event-stream', ...vendors })
      await exchange.piece([proseChunk('Hi.'), FINISH_CHUNK].map(dataEvent).join(''))
      await exchange.done()
    })
    const answer = await infer(service, { model: 'fake/one', stream, messages }, { headers: clients })
    expect(answer.text).toContain(status === 200 ? 'Hi.' : 'Slow down.')
    expect([...answer.headers.keys()].filter((name) => !own.test(name))).toEqual([])
    for (const value of Object.values(vendors)) expect([...answer.headers.values()]).not.toContain(value)
    const sent = upstream.last.headers
    for (const value of Object.values(clients)) expect(Object.values(sent)).not.toContain(value)
  })
})

interface RecordedChoice {
  readonly finish_reason?: string | null
  readonly delta?: RecordedMessage
  readonly message?: RecordedMessage
}
interface RecordedMessage {
  readonly content?: unknown
  readonly tool_calls?: readonly {
    readonly index?: number
    readonly id?: string
    readonly function: { readonly name?: string; readonly arguments?: string }
  }[]
}
interface Recorded {
  readonly choices: readonly RecordedChoice[]
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
}

interface RecordedAnswer {
  text: string
  calls: { name: string; arguments: string }[]
  finish: string | null
  promptTokens: number
  completionTokens: number
}

/** The contents of a recording: text, calls, end and usage, read as the dialect defines them. */
const answerIn = (payloads: readonly Recorded[]): RecordedAnswer => {
  const said: RecordedAnswer = { text: '', calls: [], finish: null, promptTokens: 0, completionTokens: 0 }
  for (const { choices, usage } of payloads) {
    if (usage != null) [said.promptTokens, said.completionTokens] = [usage.prompt_tokens, usage.completion_tokens]
    const [choice] = choices
    const { content, tool_calls: calls = [] } = choice?.delta ?? choice?.message ?? {}
    // One vendor sends a list of parts, thinking among them, where the dialect has a string.
    const parts: readonly { readonly text?: unknown }[] = Array.isArray(content) ? content : [{ text: content }]
    for (const { text } of parts) if (typeof text === 'string') said.text += text
    for (const [position, { index = position, function: fn }] of (calls ?? []).entries()) {
      const known = (said.calls[index] ??= { name: '', arguments: '' })
      known.name += fn.name ?? ''
      known.arguments += fn.arguments ?? ''
    }
    said.finish = choice?.finish_reason ?? said.finish
  }
  return said
}

describe('recorded answers', () => {
  for (const name of ['openai-text', 'deepseek-tool-call', 'deepseek-reasoning', 'groq-tool-call', 'mistral-reasoning']) {
    test(`whole: ${name} reaches the openai client with text, calls, end and usage`, async () => {
      const body = recordedBody(name)
      upstream.script((exchange) => exchange.answer(200, body))
      const answer = await client.chat.completions.create({ model: 'fake/one', messages })
      const expected = answerIn([JSON.parse(body) as Recorded])
      expect(answerIn([answer as Recorded])).toEqual(expected)
      expect(typeof (answer.choices[0]?.message.content ?? '')).toBe('string')
      expect(answer).toMatchObject({ model: 'fake/one', id: expect.stringMatching(/^gen-/) })
    })

    test(`whole: ${name} passes the schemas of @openrouter/sdk`, async () => {
      upstream.script((exchange) => exchange.answer(200, recordedBody(name)))
      const answer = await router.chat.send({
        chatRequest: { model: 'fake/one', messages: [{ role: 'user', content: 'Hello!' }], stream: false },
      })
      expect(answer).toMatchObject({ model: 'fake/one', choices: [{ index: 0 }] })
    })
  }

  for (const name of [
    'openai-text',
    'deepseek-tool-call',
    'deepseek-reasoning',
    'groq-tool-call',
    'mistral-reasoning',
    'azure-model-router.1',
  ]) {
    const expected = answerIn(recordedLines(name).map((line) => JSON.parse(line) as Recorded))

    test(`stream: ${name} reaches the openai client with text, calls, end and usage`, async () => {
      upstream.script((exchange) => exchange.stream(recordedLines(name)))
      const chunks = await Array.fromAsync(await client.chat.completions.create({ model: 'fake/one', messages, stream: true }))
      expect(answerIn(chunks as Recorded[])).toEqual(expected)
      expect(chunks.filter(({ usage }) => usage != null)).toHaveLength(1)
      expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toHaveLength(1)
    })

    test(`stream: ${name} in single bytes is the same`, async () => {
      const bytes = [...recordedLines(name), '[DONE]'].map(dataEvent).join('')
      upstream.script(async (exchange) => {
        await exchange.head(200)
        // A few hundred pieces of one byte each; the rest in one piece.
        for (const character of bytes.slice(0, 300)) await exchange.piece(character)
        await exchange.piece(bytes.slice(300))
        await exchange.done()
      })
      const chunks = await Array.fromAsync(await client.chat.completions.create({ model: 'fake/one', messages, stream: true }))
      expect(answerIn(chunks as Recorded[])).toEqual(expected)
    })

    test(`stream: ${name} satisfies the helper of the openai client`, async () => {
      upstream.script((exchange) => exchange.stream(recordedLines(name)))
      const final = await client.chat.completions.stream({ model: 'fake/one', messages }).finalChatCompletion()
      expect(final.choices[0]?.finish_reason).toBe(expected.finish as 'stop')
      expect(final.choices[0]?.message.content ?? '').toBe(expected.text)
    })

    test(`stream: ${name} passes the schemas of @openrouter/sdk`, async () => {
      upstream.script((exchange) => exchange.stream(recordedLines(name)))
      const chatRequest: ChatRequest = { model: 'fake/one', messages: [{ role: 'user', content: 'Hello!' }], stream: true }
      const stream = (await router.chat.send({ chatRequest })) as AsyncIterable<ChatStreamChunk>
      const chunks = await Array.fromAsync(stream)
      expect(chunks.flatMap(({ choices }) => choices[0]?.finishReason ?? [])).toEqual([expected.finish as 'stop'])
    })
  }
})

describe('reasoning', () => {
  for (const [name, begins] of [
    ['deepseek-reasoning', ''],
    ['mistral-reasoning', 'The user is asking for 2+2.'],
  ] as const) {
    test(`${name}: whatever the vendor calls it, it is in the field reasoning, whole and as a stream`, async () => {
      upstream.script((exchange) =>
        exchange.body.stream === true ? exchange.stream(recordedLines(name)) : exchange.answer(200, recordedBody(name)),
      )
      const whole = await client.chat.completions.create({ model: 'fake/one', messages })
      const chunks = await Array.fromAsync(await client.chat.completions.create({ model: 'fake/one', messages, stream: true }))
      const texts = [reasoningOf(whole.choices[0]?.message), chunks.map(({ choices }) => reasoningOf(choices[0]?.delta)).join('')]
      for (const text of texts) {
        expect(text.length).toBeGreaterThan(20)
        expect(text.startsWith(begins)).toBe(true)
      }
    })
  }
})

const reasoningOf = (holder: unknown): string => (holder as { readonly reasoning?: string | null } | undefined)?.reasoning ?? ''

describe('bytes', () => {
  // Spellings that parsing and printing would change.
  const ODD = String.raw`"x_odd":{"big":12345678901234567890,"exact":1.0,"exponent":1E+2,"escape":"\u00e9\/\ud83d\ude00","empty":{},"nested":[[ ],{"a" : null}]}`

  test("unknown fields of a request reach the provider as the client wrote them, and so do the client's messages", async () => {
    upstream.script(say('Hi.'))
    const content = String.raw`[{"role":"user","content":"caf\u00e9 \/ 1","x_mark":1.50}]`
    const answer = await infer(service, `{"model":"fake/one",${ODD},"messages":${content},"seed":1}`)
    expect(answer.status).toBe(200)
    expect(upstream.last.text).toContain(ODD)
    expect(upstream.last.text).toContain(content)
  })

  test('unknown fields of a whole answer reach the client as the provider wrote them', async () => {
    upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi.').replace('"object"', `${ODD},"object"`)))
    const answer = await infer(service, { model: 'fake/one', messages })
    expect(answer.text).toContain(ODD)
    expect(answer.text).toContain('"content":"Hi."')
  })

  test('unknown fields of chunks, choices and deltas reach the client as the provider wrote them', async () => {
    const inDelta = proseChunk('Hi.').replace('"content"', `${ODD},"content"`)
    const inChoice = proseChunk('Ho.').replace('"delta"', `${ODD},"delta"`)
    const inChunk = proseChunk('Hu.').replace('"object"', `${ODD},"object"`)
    const atEnd = FINISH_CHUNK.replace('"object"', `${ODD},"object"`)
    upstream.script((exchange) => exchange.stream([inDelta, inChoice, inChunk, atEnd]))
    const answer = await infer(service, { model: 'fake/one', messages, stream: true })
    expect(answer.text.split(ODD)).toHaveLength(5)
  })

  test('text of the provider reaches the client as it was spelled', async () => {
    const spelled = String.raw`"content":"caf\u00e9 \ud83d\ude00 \/"`
    upstream.script((exchange) => exchange.stream([proseChunk('x').replace('"content":"x"', spelled), FINISH_CHUNK]))
    const answer = await infer(service, { model: 'fake/one', messages, stream: true })
    expect(answer.text).toContain(spelled)
  })

  test('what is ours stays here: routing fields, the preset and our key do not reach the provider', async () => {
    upstream.script(say('Hi.'))
    await infer(
      service,
      {
        model: 'fake/one',
        messages,
        provider: { order: ['fake'] },
        plugins: [],
        session_id: 's',
        trace: { trace_id: 't' },
        models: ['fake/one'],
      },
      { headers: { 'x-session-id': 's', 'x-service-metadata': 'enabled', 'http-referer': 'https://app.example' } },
    )
    for (const field of ['provider', 'plugins', 'session_id', 'trace', 'models']) expect(upstream.last.body).not.toHaveProperty(field)
    expect(upstream.last.body.model).toBe('up-one')
    expect(upstream.last.headers['authorization']).toBe('Bearer upstream-credential')
    expect(JSON.stringify(upstream.last.headers)).not.toContain(service.inferenceKey)
    expect(Object.keys(upstream.last.headers).filter((name) => name.startsWith('x-'))).toEqual([])
  })

  test('every chunk of a stream has the same id, time and model', async () => {
    upstream.script((exchange) => exchange.stream([proseChunk('a'), proseChunk('b'), FINISH_CHUNK]))
    const answer = await infer(service, { model: 'fake/one', messages, stream: true })
    expect(new Set(streamChunks(answer.text).map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1)
  })

  test('a stream is framed for every client: data lines and comments only, one end marker, nothing behind it', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(`\uFEFF: hello\r\nid: 7\r\nretry: 5\r\nevent: message\r\ndata: ${proseChunk('a')}\r\n\r\n`)
      await exchange.piece(`data:\r\r${dataEvent(FINISH_CHUNK)}${dataEvent('[DONE]')}${dataEvent(proseChunk('too late'))}`)
      await exchange.done()
    })
    const answer = await infer(service, { model: 'fake/one', messages, stream: true })
    expect(streamChunks(answer.text)[0]?.choices[0]?.delta.content).toBe('a')
    const lines = answer.text.split('\n').filter((line) => line !== '')
    expect(lines.filter((line) => !/^(?:data: (?:\{.*\}|\[DONE\])|:.*)$/.test(line))).toEqual([])
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(answer.text.split('[DONE]')).toHaveLength(2)
    expect(answer.text).not.toContain('too late')
  })

  test('pieces come through as they arrive, not when the answer is complete', async () => {
    const { promise: read, resolve: reading } = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('first')))
      await read
      await exchange.piece(dataEvent(FINISH_CHUNK) + dataEvent('[DONE]'))
      await exchange.done()
    })
    let text = ''
    for await (const chunk of await client.chat.completions.create({ model: 'fake/one', messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
      // The upstream waits for this call: if the answer were held back, it would never end.
      reading()
    }
    expect(text).toBe('first')
  })
})

describe('usage and cost', () => {
  test("the provider's count is the answer's and the record's, the cost follows from the prices", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, prompt_tokens_details: { cached_tokens: 400 } }
    upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi.', { usage })))
    const answer = await infer(service, { model: 'fake/one', messages })
    const cost = (600 * 2 + 400 * 0.5 + 100 * 10) / 1_000_000
    const saved = (400 * (2 - 0.5)) / 1_000_000
    expect(answer.json).toMatchObject({ usage: { ...usage, cost } })
    const record = await call(service, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`, { key: service.inferenceKey })
    expect(record.json).toMatchObject({
      data: {
        total_cost: cost,
        cache_discount: saved,
        tokens_prompt: 1000,
        tokens_completion: 100,
        native_tokens_cached: 400,
        provider_name: 'Fake',
      },
    })
  })

  test('usage is asked for in every stream, and sent though the client did not ask', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 }
    upstream.script((exchange) =>
      exchange.stream([proseChunk('a'), FINISH_CHUNK, JSON.stringify({ ...JSON.parse(FINISH_CHUNK), choices: [], usage })]),
    )
    const answer = await infer(service, { model: 'fake/one', messages, stream: true, stream_options: { include_usage: false } })
    expect(upstream.last.body['stream_options']).toMatchObject({ include_usage: true })
    expect(streamChunks(answer.text).at(-1)).toMatchObject({ choices: [], usage })
  })
})
