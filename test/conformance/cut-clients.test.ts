/** An upstream that is cut at any byte: no official client of any interface takes the result for a complete answer. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { HTTPClient } from '@openrouter/sdk/lib/http'
import { type LanguageModel, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { anthropic, openAi } from '../support/answers.ts'
import { bytesUntilEnd } from '../support/cut-points.ts'
import { ALL_RECORDINGS, type Recording } from '../support/recordings.ts'
import { replayReply } from '../support/replay.ts'

/** Says whether a client that reads this stream reports a normal end of the answer. */
type Reader = (body: string) => Promise<boolean>

const saying = (body: string): typeof fetch =>
  (async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })) as unknown as typeof fetch

/** A thrown error is not a normal end. */
const unlessThrown = async (read: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await read()
  } catch {
    return false
  }
}

const ai =
  (model: (fetcher: typeof fetch) => LanguageModel): Reader =>
  async (body) => {
    let failed = false
    const result = streamText({
      model: model(saying(body)),
      prompt: 'x',
      maxOutputTokens: 100,
      maxRetries: 0,
      onError: () => void (failed = true),
    })
    await result.consumeStream()
    return !failed && !['error', 'other', 'unknown'].includes(await result.finishReason)
  }

const openrouter = (body: string): OpenRouter =>
  new OpenRouter({ apiKey: 'k', retryConfig: { strategy: 'none' }, httpClient: new HTTPClient({ fetcher: saying(body) }) })

// Chunks and events of several libraries.
// oxlint-disable-next-line typescript/no-explicit-any
const lastOf = async (stream: unknown): Promise<any> => (await Array.fromAsync(stream as AsyncIterable<unknown>)).at(-1)

const ENDED: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])
const apiKey = 'k'

const READERS: Readonly<Record<ClientDialect, Readonly<Record<string, Reader>>>> = {
  chat: {
    'openai, events': async (body) => {
      await lastOf(await openAi(body).chat.completions.create({ model: 'm', messages: [], stream: true }))
      return true
    },
    'openai, helper': async (body) => {
      await openAi(body).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
      return true
    },
    '@openrouter/sdk': async (body) => {
      const last = await lastOf(await openrouter(body).chat.send({ chatRequest: { model: 'm', messages: [], stream: true } }))
      return last?.error === undefined && last?.choices[0]?.finishReason !== 'error'
    },
    'ai, of OpenAI': ai((fetcher) => createOpenAI({ apiKey, fetch: fetcher }).chat('m')),
    'ai, of OpenRouter': ai((fetcher) => createOpenRouter({ apiKey, fetch: fetcher }).chat('m')),
  },
  responses: {
    'openai, events': async (body) =>
      ENDED.has((await lastOf(await openAi(body).responses.create({ model: 'm', input: 'x', stream: true })))?.type),
    'openai, helper': async (body) => (await openAi(body).responses.stream({ model: 'm', input: 'x' }).finalResponse()).status !== 'failed',
    '@openrouter/sdk': async (body) =>
      ENDED.has(
        (await lastOf(await openrouter(body).responses.send({ responsesRequest: { model: 'm', input: 'x', stream: true } })))?.type,
      ),
    'ai, of OpenAI': ai((fetcher) => createOpenAI({ apiKey, fetch: fetcher }).responses('m')),
  },
  messages: {
    '@anthropic-ai/sdk, events': async (body) => {
      await lastOf(await anthropic(body).messages.create({ model: 'm', max_tokens: 1, messages: [], stream: true }))
      return true
    },
    '@anthropic-ai/sdk, helper': async (body) => {
      await anthropic(body).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
      return true
    },
    'ai, of Anthropic': ai((fetcher) => createAnthropic({ apiKey, fetch: fetcher })('m')),
  },
}

/** For every upstream dialect, a stream with text and two calls, small enough to be cut at every byte. */
const CUT = ALL_RECORDINGS.filter(({ stream, name }) => stream && name === 'parallel-calls')

/** The streams that a client gets if the upstream is cut at each byte; equal streams once, with the first such byte. */
const cutAnswers = async ({ dialect, bytes, ...recording }: Recording, client: ClientDialect): Promise<Map<string, number>> => {
  const answers = new Map<string, number>()
  const end = bytesUntilEnd({ dialect, bytes, ...recording })
  for (let at = 0; at < end; at += 1) {
    for (const cut of [false, true]) {
      const { text, broken } = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes.subarray(0, at)], cut })
      expect(broken).toBe(false)
      if (!answers.has(text)) answers.set(text, at)
    }
  }
  return answers
}

test('there is one of every upstream dialect', () => {
  expect(CUT.map(({ dialect }) => dialect).toSorted()).toEqual(['anthropic', 'bedrock', 'google', 'openai-chat', 'openai-responses'])
})

for (const recording of CUT) {
  describe(`${recording.dialect}, cut at every byte`, () => {
    for (const client of CLIENT_DIALECTS) {
      test(`${client}: none of its clients reports a normal finish`, async () => {
        const answers = await cutAnswers(recording, client)
        expect(answers.size).toBeGreaterThan(1)
        for (const [body, at] of answers) {
          for (const [name, read] of Object.entries(READERS[client])) {
            if (await unlessThrown(() => read(body))) throw new Error(`${name} takes a cut at byte ${at} for an end:\n${body}`)
          }
        }
      }, 300_000)

      test(`${client}: each of its clients reads the whole one to a normal finish`, async () => {
        const { text } = await replayReply(client, recording.dialect, { type: 'text/event-stream', pieces: [recording.bytes] })
        for (const [name, read] of Object.entries(READERS[client])) {
          expect({ name, ended: await read(text) }).toEqual({ name, ended: true })
        }
      })
    }
  })
}
