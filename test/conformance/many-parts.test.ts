/** A provider that sends more calls or blocks than a model can write is broken: the answer is refused before it is decoded. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { question, replay, type Replayed, type Reply } from '../support/replay.ts'

const MOST = 10_000

type Dialect = Exclude<UpstreamDialect, 'bedrock'>
const DIALECTS: readonly Dialect[] = ['openai-chat', 'openai-responses', 'anthropic', 'google']

const list = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at))

const chatCall = (at: number): object => ({ index: at, id: `c${at}`, type: 'function', function: { name: 'get_weather', arguments: '{}' } })

const message = (content: readonly object[]): object => ({
  id: 'a',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** A whole answer with this many calls; the choice of Chat Completions, or Google's candidate, counts as one part more. */
const calls: Readonly<Record<Dialect, (count: number) => object>> = {
  'openai-chat': (count) => ({
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', tool_calls: list(count - 1, chatCall) }, finish_reason: 'tool_calls' }],
  }),
  'openai-responses': (count) => ({
    id: 'a',
    status: 'completed',
    output: list(count, (at) => ({ type: 'function_call', id: `f${at}`, call_id: `c${at}`, name: 'get_weather', arguments: '{}' })),
  }),
  anthropic: (count) => message(list(count, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'get_weather', input: {} }))),
  google: (count) => ({
    candidates: [
      {
        content: { role: 'model', parts: list(count - 1, (at) => ({ functionCall: { id: `c${at}`, name: 'get_weather', args: {} } })) },
        finishReason: 'STOP',
      },
    ],
  }),
}

const blocks: typeof calls = {
  'openai-chat': (count) => ({
    id: 'a',
    choices: [{ message: { role: 'assistant', content: list(count - 1, () => ({ type: 'text', text: 'Hi' })) }, finish_reason: 'stop' }],
  }),
  'openai-responses': (count) => ({
    id: 'a',
    status: 'completed',
    output: list(count / 2, (at) => ({
      type: 'message',
      id: `m${at}`,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    })),
  }),
  anthropic: (count) => message(list(count, () => ({ type: 'text', text: 'Hi' }))),
  google: (count) => ({ candidates: [{ content: { parts: list(count - 1, () => ({ text: 'Hi' })) }, finishReason: 'STOP' }] }),
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const whole = (body: object): Reply => ({ type: 'application/json', pieces: [bytes(JSON.stringify(body))] })
const stream = (events: readonly object[]): Reply => ({
  type: 'text/event-stream',
  pieces: events.map((event) => bytes(`data: ${JSON.stringify(event)}\n\n`)),
})

const ask = (client: ClientDialect, dialect: Dialect, reply: Reply, asked = false): Promise<Replayed> =>
  replay({ client, upstreams: [{ dialect, reply }], body: question(client, asked) })

describe.each(DIALECTS)('from %s', (dialect) => {
  test.each(CLIENT_DIALECTS)(
    '%s: a whole answer of 10,000 calls or blocks arrives, and of two more is a failure of the provider',
    async (client) => {
      for (const answer of [calls[dialect], blocks[dialect]]) {
        for (const asked of [false, true]) {
          const most = await ask(client, dialect, whole(answer(MOST)), asked)
          expect(most.run?.log.error ?? null).toBeNull()
          const { text, run, internalErrors } = await ask(client, dialect, whole(answer(MOST + 2)), asked)
          expect(text).toContain(`Provider 0 sent an answer of more than ${MOST} parts.`)
          expect(run?.log.error?.type).toBe('provider_unavailable')
          expect(internalErrors).toEqual([])
        }
      }
    },
  )
})

/** Each support names the source twice, so that it counts for three. */
const google = (candidate: object): object => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP', ...candidate }],
})
const supported = (count: number): object =>
  google({
    groundingMetadata: {
      groundingChunks: [{ web: { uri: 'https://a.example/' } }],
      groundingSupports: list(Math.floor(count / 3) - 1, () => ({
        segment: { startIndex: 0, endIndex: 2 },
        groundingChunkIndices: [0, 0],
      })),
    },
  })
const cited = (count: number): object =>
  google({
    citationMetadata: { citationSources: list(count - 2, (at) => ({ uri: `https://a.example/${at}`, startIndex: 0, endIndex: 2 })) },
  })

test("Google's sources, and the places that they support, are parts too", async () => {
  for (const answer of [supported, cited]) {
    expect((await ask('chat', 'google', whole(answer(MOST)))).run?.log.error ?? null).toBeNull()
    expect((await ask('chat', 'google', whole(answer(MOST + 3)))).text).toContain(`more than ${MOST} parts.`)
  }
})

test('another provider is asked in place of one that sends more', async () => {
  const upstreams = [
    { dialect: 'openai-chat', reply: whole(calls['openai-chat'](MOST + 1)) },
    { dialect: 'anthropic', reply: whole(blocks.anthropic(1)) },
  ] as const
  const { status, text } = await replay({ client: 'chat', upstreams, body: question('chat', false) })
  expect(status).toBe(200)
  expect(text).toContain('"content":"Hi"')
})

describe('a stream has the same bound', () => {
  const chunk = (delta: object, finish: string | null = null): object => ({
    id: 'a',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const ended = [chunk({}, 'tool_calls')]
  const one = (count: number): Reply => stream([chunk({ tool_calls: list(count, chatCall) }), ...ended])
  const each = (count: number): Reply => stream([...list(count, (at) => chunk({ tool_calls: [chatCall(at)] })), ...ended])

  test.each(CLIENT_DIALECTS)('%s: for the calls of one event, and for all of them together', async (client) => {
    for (const answer of [one, each]) {
      const { run: most } = await ask(client, 'openai-chat', answer(MOST - 1), true)
      expect(most?.log.error ?? null).toBeNull()
      const { text, run, broken } = await ask(client, 'openai-chat', answer(MOST + 1), true)
      expect(text).toContain(`more than ${MOST} parts.`)
      expect(run?.log.error?.type).toBe('provider_unavailable')
      expect(broken).toBe(false)
    }
  })
})

test.each(CLIENT_DIALECTS)('%s: log probabilities, members that nobody knows and what a call holds count for nothing', async (client) => {
  const many = list(2 * MOST, () => ({ token: 'a', logprob: -1 }))
  const call = { id: 'c', type: 'function', function: { name: 'get_weather', arguments: JSON.stringify(many) } }
  const said = { role: 'assistant', content: 'Hi', tool_calls: [call] }
  const body = {
    id: 'a',
    choices: [{ index: 0, message: said, logprobs: { content: many }, finish_reason: 'stop' }],
    prompt_token_ids: many,
  }
  expect((await ask(client, 'openai-chat', whole(body))).status).toBe(200)
})
