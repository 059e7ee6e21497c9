/**
 * Every answer, translated or relayed, as the AI SDK's providers read it: their schemas refuse a whole answer for one member of a wrong
 * type.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type LanguageModel, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { ALL_RECORDINGS, fails, streamBytes } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply, typeOf } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

const MODELS: Readonly<Record<ClientDialect, (fetch: typeof globalThis.fetch) => LanguageModel>> = {
  chat: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('m'),
  responses: (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('m'),
  messages: (fetch) => createAnthropic({ apiKey: 'k', fetch })('m'),
}

const answering = (text: string, type: string): typeof globalThis.fetch =>
  (async () => new Response(text, { headers: { 'content-type': type } })) as unknown as typeof globalThis.fetch

/** Answers with members missing or null that upstreams of a client's own dialect leave out. */
const BARE: Readonly<Record<ClientDialect, readonly [whole: unknown, ...events: readonly unknown[]]>> = {
  chat: [
    { id: 'u', model: 'm', choices: [{ message: { content: 'Hi', tool_calls: null, annotations: null, refusal: null } }], usage: null },
    { choices: [{ delta: { role: null, content: 'Hi', tool_calls: null }, logprobs: null }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ],
  responses: [
    {
      id: 'u',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Hi' }] },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    { type: 'response.created', response: { id: 'u' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Hi' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Hi' }] },
    },
    { type: 'response.completed', response: { id: 'u', status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } } },
  ],
  messages: [
    { id: 'u', content: [{ type: 'text', text: 'Hi', citations: null }], usage: null },
    { type: 'message_start', message: { id: 'u', usage: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: null },
    { type: 'message_stop' },
  ],
}

const read = async (client: ClientDialect, text: string, stream: boolean): Promise<string> => {
  const model = MODELS[client](answering(text, typeOf(stream)))
  if (!stream) {
    const { finishReason, text: said } = await generateText({ model, prompt: 'Hi', maxRetries: 0 })
    expect(finishReason).not.toBe('error')
    return said
  }
  const errors: unknown[] = []
  const result = streamText({ model, prompt: 'Hi', maxRetries: 0, onError: ({ error }) => void errors.push(error) })
  await result.consumeStream()
  expect(errors).toEqual([])
  expect(await result.finishReason).not.toBe('error')
  return result.text
}

/** Typed clients of Responses, such as those of Rust and Java, refuse an answer for one missing member. */
const MESSAGE = { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }

describe('messages and texts of a Responses server that says the least have every member that typed clients need', () => {
  const [bare, ...events] = BARE.responses
  const eventsOf = (text: string): readonly Json[] =>
    [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json) as Json)

  test('whole', async () => {
    const { text } = await replayReply('responses', 'openai-responses', whole(bare))
    expect((JSON.parse(text) as { output: unknown[] }).output[1]).toMatchObject(MESSAGE)
  })

  test('streamed', async () => {
    const { text } = await replayReply('responses', 'openai-responses', reported('openai-responses', ...events))
    const seen = (type: string): unknown => eventsOf(text).find((event) => event['type'] === type)
    expect(seen('response.output_item.added')).toMatchObject({ item: { role: 'assistant', status: 'in_progress', content: [] } })
    expect(seen('response.content_part.done')).toMatchObject({ part: { annotations: [] } })
    expect(seen('response.output_item.done')).toMatchObject({ item: MESSAGE })
    expect(seen('response.completed')).toMatchObject({ response: { output: [MESSAGE] } })
  })

  test('streamed, and cut after the message', async () => {
    const pieces = [
      streamBytes(
        'openai-responses',
        events.slice(0, 4).map((event) => JSON.stringify(event)),
        true,
      ),
    ]
    const { text } = await replayReply('responses', 'openai-responses', { type: 'text/event-stream', pieces, cut: true })
    expect(eventsOf(text).at(-1)).toMatchObject({ type: 'response.failed', response: { output: [MESSAGE] } })
  })
})

type Json = Readonly<Record<string, unknown>>

for (const client of CLIENT_DIALECTS) {
  describe(client, () => {
    for (const { dialect, name, stream, bytes } of ALL_RECORDINGS.filter((each) => !fails(each))) {
      test(`${dialect} ${name}, ${stream ? 'stream' : 'whole'}: is read`, async () => {
        const { text } = await replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes] })
        expect(await read(client, text, stream)).toBeString()
      })
    }

    const [bare, ...events] = BARE[client]
    test('a whole answer of its own dialect that says the least: is read', async () => {
      const { text } = await replayReply(client, OWN_DIALECT[client], whole(bare))
      expect(await read(client, text, false)).toBe('Hi')
    })

    test('a stream of its own dialect that says the least: is read', async () => {
      const { text } = await replayReply(client, OWN_DIALECT[client], reported(OWN_DIALECT[client], ...events))
      expect(await read(client, text, true)).toBe('Hi')
    })
  })
}
