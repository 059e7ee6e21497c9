/** Broken connections on either side: a cut is never a normal end, and a client that left causes no more costs. */
import { OpenRouter } from '@openrouter/sdk'
import type { ChatStreamChunk } from '@openrouter/sdk/models'
import { BadGatewayResponseError } from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { call, infer } from '../support/calls.ts'
import { type Exchange, dataEvent, FINISH_CHUNK, proseAnswer, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { patient } from '../support/patience.ts'

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
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
  })
  client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
  router = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
})

const messages: [{ role: 'user'; content: string }] = [{ role: 'user', content: 'Hello!' }]

interface Cut {
  /** Sends the events before the connection breaks. */
  readonly before: (exchange: Exchange) => Promise<void>
  /** Says whether the client sees content before the break. If so, the test waits for it, since a reset may overtake it. */
  readonly content: boolean
}

const event = dataEvent(proseChunk('Well, '))

const cuts: Readonly<Record<string, Cut>> = {
  'before any byte': { before: async () => {}, content: false },
  'in the middle of the status line': { before: (exchange) => exchange.send('HTTP/1.1 20'), content: false },
  'in the middle of the headers': { before: (exchange) => exchange.send('HTTP/1.1 200 OK\r\ncontent-type: text/ev'), content: false },
  'after the headers': { before: (exchange) => exchange.head(200), content: false },
  'in the middle of the first event': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event.slice(0, 40))
    },
    content: false,
  },
  'after content': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event)
    },
    content: true,
  },
  'in the middle of the event behind it': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event + event.slice(0, 40))
    },
    content: true,
  },
  'in the middle of a piece': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event)
      await exchange.send(`ff\r\n${event.slice(0, 20)}`)
    },
    content: true,
  },
  'behind an event that lacks its blank line': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event + event.trimEnd())
    },
    content: true,
  },
  'behind a complete body that never said finish': {
    before: async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event)
      await exchange.done()
    },
    content: true,
  },
}

/** Runs one stream to its end, and breaks the connection once the client has the content that it should have. */
const play = async (cut: Cut, how: 'end' | 'reset', read: (heard: () => void) => Promise<void>): Promise<unknown> => {
  upstream.script(async (exchange) => {
    await cut.before(exchange)
    if (!cut.content) exchange[how]()
  })
  try {
    await read(() => {
      if (cut.content) upstream.last[how]()
    })
    return null
  } catch (thrown) {
    return thrown
  }
}

for (const how of ['end', 'reset'] as const) {
  describe(`cut by ${how === 'end' ? 'FIN' : 'RST'}: never a normal end`, () => {
    for (const [where, cut] of Object.entries(cuts)) {
      test(`${where}: the openai client throws, raw`, async () => {
        let said = ''
        const thrown = await play(cut, how, async (heard) => {
          for await (const chunk of await client.chat.completions.create({ model: 'fake/one', messages, stream: true })) {
            said += chunk.choices[0]?.delta.content ?? ''
            heard()
          }
        })
        expect(thrown).toBeInstanceOf(OpenAI.APIError)
        expect(thrown).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
        expect(said.startsWith(cut.content ? 'Well, ' : '')).toBe(true)
      })

      test(`${where}: the openai client throws, with its helper`, async () => {
        const thrown = await play(cut, how, async (heard) => {
          const stream = client.chat.completions.stream({ model: 'fake/one', messages })
          stream.on('chunk', heard)
          await stream.finalChatCompletion()
        })
        expect(thrown).toBeInstanceOf(OpenAI.OpenAIError)
      })

      test(`${where}: @openrouter/sdk is told`, async () => {
        const chunks: ChatStreamChunk[] = []
        const thrown = await play(cut, how, async (heard) => {
          const stream = await router.chat.send({ chatRequest: { model: 'fake/one', messages, stream: true } })
          for await (const chunk of stream as AsyncIterable<ChatStreamChunk>) {
            chunks.push(chunk)
            heard()
          }
        })
        if (!cut.content) {
          expect(thrown).toBeInstanceOf(BadGatewayResponseError)
          expect(thrown).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
          return
        }
        expect(thrown).toBeNull()
        expect(chunks.at(-1)?.error).toMatchObject({ code: 502, metadata: { errorType: 'provider_unavailable' } })
        expect(chunks.flatMap(({ choices }) => choices[0]?.finishReason ?? [])).toEqual(['error'])
      })
    }

    const whole = proseAnswer('Well, well.')
    const bodies: Readonly<Record<string, (exchange: Exchange) => Promise<void>>> = {
      'before any byte': async () => {},
      'after the headers': (exchange) =>
        exchange.send(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n`),
      'in the middle of a body of known length': (exchange) =>
        exchange.send(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n${whole.slice(0, 100)}`),
      'in the middle of a body in pieces': async (exchange) => {
        await exchange.head(200, { 'content-type': 'application/json' })
        await exchange.piece(whole.slice(0, 100))
      },
      'behind a body in pieces whose last one is missing': async (exchange) => {
        await exchange.head(200, { 'content-type': 'application/json' })
        await exchange.piece(`${whole} `)
      },
    }
    for (const [where, before] of Object.entries(bodies)) {
      test(`whole answer, ${where}: 502`, async () => {
        upstream.script(async (exchange) => {
          await before(exchange)
          exchange[how]()
        })
        const answer = await infer(service, { model: 'fake/one', messages }, { headers: { 'x-service-provider-failure': 'status' } })
        expect(answer.status).toBe(502)
        expect(answer.error).toMatchObject({ code: 502, metadata: { error_type: 'provider_unavailable' } })
        expect(answer.json).not.toHaveProperty('choices')
      })
    }
  })
}

test('a finish without an end marker is a normal end', async () => {
  upstream.script(async (exchange) => {
    await exchange.head(200)
    await exchange.piece(event + dataEvent(FINISH_CHUNK))
    await exchange.done()
  })
  const final = await client.chat.completions.stream({ model: 'fake/one', messages }).finalChatCompletion()
  expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Well, ' } })
})

test('the service goes on after all these cuts', async () => {
  upstream.script(say('Hi.'))
  expect((await infer(service, { model: 'fake/one', messages })).text).toContain('Hi.')
})

describe('client gone', () => {
  /** The promise is 100 ms; the scheduling of a busy machine must not fail the test. */
  const WITHIN_MS = patient(100)

  const leaveWhen = async (ready: () => Promise<unknown>, controller: AbortController): Promise<number> => {
    await ready()
    const leftAt = performance.now()
    controller.abort()
    return (await upstream.last.gone) - leftAt
  }

  test('stream: the connection to the provider is closed within 100 ms', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event)
    })
    const controller = new AbortController()
    const stream = await client.chat.completions.create({ model: 'fake/one', messages, stream: true }, { signal: controller.signal })
    const iterator = stream[Symbol.asyncIterator]()
    expect(await leaveWhen(() => iterator.next(), controller)).toBeLessThan(WITHIN_MS)
  })

  test('stream, before its first byte: the same', async () => {
    const asked = upstream.exchanges.length
    upstream.script((exchange) => exchange.head(200))
    const controller = new AbortController()
    const answer = infer(service, { model: 'fake/one', messages, stream: true }, { signal: controller.signal }).catch(() => null)
    expect(await leaveWhen(() => until(() => upstream.exchanges.length > asked, 'the request'), controller)).toBeLessThan(WITHIN_MS)
    expect(await answer).toBeNull()
  })

  test('whole answer: the same', async () => {
    const asked = upstream.exchanges.length
    upstream.script(() => {})
    const controller = new AbortController()
    const answer = infer(service, { model: 'fake/one', messages }, { signal: controller.signal }).catch(() => null)
    expect(await leaveWhen(() => until(() => upstream.exchanges.length > asked, 'the request'), controller)).toBeLessThan(WITHIN_MS)
    expect(await answer).toBeNull()
  })

  test('whole answer that has begun: the same', async () => {
    const asked = upstream.exchanges.length
    upstream.script(async (exchange) => {
      await exchange.head(200, { 'content-type': 'application/json' })
      await exchange.piece('{"choices":')
    })
    const controller = new AbortController()
    const answer = infer(service, { model: 'fake/one', messages }, { signal: controller.signal }).catch(() => null)
    expect(await leaveWhen(() => until(() => upstream.exchanges.length > asked, 'the request'), controller)).toBeLessThan(WITHIN_MS)
    expect(await answer).toBeNull()
  })

  test('the generation record says that it was cancelled', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(event)
    })
    const controller = new AbortController()
    const { data: stream, response } = await client.chat.completions
      .create({ model: 'fake/one', messages, stream: true }, { signal: controller.signal })
      .withResponse()
    await stream[Symbol.asyncIterator]().next()
    controller.abort()
    const path = `/generation?id=${response.headers.get('x-generation-id')}`
    await until(async () => (await call(service, 'GET', path, { key: service.inferenceKey })).status === 200, 'the record')
    const record = await call(service, 'GET', path, { key: service.inferenceKey })
    expect(record.json).toMatchObject({ data: { cancelled: true, streamed: true, provider_name: 'Fake' } })
  })
})

describe('a provider that goes on with the arguments of a call that is over', () => {
  const callChunk = (index: number, json: string, named: Readonly<Record<string, string>> = {}): string =>
    JSON.stringify({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up-one',
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index,
                ...(named['name'] === undefined ? {} : { id: `call_${index}`, type: 'function' }),
                function: { ...named, arguments: json },
              },
            ],
          },
          finish_reason: null,
        },
      ],
    })

  test.each([
    ['/responses', { input: 'Hello!' }, 'event: response.failed'],
    ['/messages', { max_tokens: 50, messages }, 'event: error'],
  ])('fails the answer in its own form: %s', async (path, asked, event) => {
    upstream.script((exchange) =>
      exchange.stream([callChunk(0, '{}', { name: 'f' }), callChunk(1, '{"a":', { name: 'g' }), callChunk(0, 'more')]),
    )
    const { text } = await infer(service, { model: 'fake/one', stream: true, ...asked }, { path })
    expect(text).toContain('The provider sent arguments of a tool call that is not open.')
    expect(text).toContain(event)
    expect(text).toEndWith('data: [DONE]\n\n')
  })
})
