/**
 * Parts of answers besides text, from every dialect that has them to every client that can receive them, streamed and whole: probabilities,
 * pictures, stop sequences, cached tokens.
 */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, type Reply } from '../support/replay.ts'
import { chunk, reported, whole } from '../support/upstream-replies.ts'

/** Payloads of a stream, and the whole body, of one answer. */
type Answer = readonly [stream: readonly unknown[], whole: unknown]

const send = async (client: ClientDialect, dialect: UpstreamDialect, [payloads, body]: Answer, stream: boolean): Promise<string> => {
  const reply: Reply = stream ? reported(dialect, ...payloads) : whole(body)
  const model = dialect === 'bedrock' ? 'anthropic.claude-sonnet-4-5-20250929-v1:0' : 'm'
  const { text } = await replay({ client, upstreams: [{ dialect, reply, model }], body: question(client, stream) })
  if (stream) expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
  return text
}

/** The response, the joined choice, or the message, from a stream or a body. */
// Answers of three dialects.
// oxlint-disable-next-line typescript/no-explicit-any
const answerOf = (client: ClientDialect, text: string, stream: boolean): any => {
  if (!stream) return JSON.parse(text) as unknown
  // oxlint-disable-next-line typescript/no-explicit-any
  const events = streamEvents(text).map(({ data }) => data as any)
  if (client === 'responses') return events.at(-1).response
  if (client === 'chat') {
    const choices = events.flatMap(({ choices: [choice] }) => (choice === undefined ? [] : [choice]))
    return {
      choices: [
        {
          message: { images: choices.flatMap(({ delta }) => delta.images ?? []) },
          logprobs: { content: choices.flatMap(({ logprobs }) => logprobs?.content ?? []) },
          finish_reason: choices.at(-1).finish_reason,
        },
      ],
    }
  }
  const { stop_reason, stop_sequence } = events.find(({ type }) => type === 'message_delta').delta
  const content = events.flatMap(({ type, content_block: block }) => (type === 'content_block_start' ? [block] : []))
  for (const { type, index, delta } of events)
    if (type === 'content_block_delta' && delta.type === 'text_delta') content[index].text += delta.text
  return { content, stop_reason, stop_sequence }
}

const completion = (message: object, more: object = {}): object => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more }],
})
const response = (...output: readonly object[]): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output,
})
/** A stream that sends each item whole, as some servers do. */
const items = (...output: readonly object[]): object[] =>
  [
    { type: 'response.created', response: { ...response(), status: 'in_progress' } },
    { type: 'response.in_progress', response: { ...response(), status: 'in_progress' } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [], result: null, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: response(...output) },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
const gemini = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...more }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
})

describe('probabilities', () => {
  const token = { token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [{ token: 'Hi', logprob: -0.5, bytes: [72, 105] }] }
  const logprobs = { content: [token], refusal: null }
  const message = {
    type: 'message',
    id: 'm1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [token] }],
  }
  const google = gemini([{ text: 'Hi' }], {
    logprobsResult: {
      chosenCandidates: [{ token: 'Hi', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'Hi', logProbability: -0.5 }] }],
    },
  })
  const ANSWERS: readonly (readonly [UpstreamDialect, Answer])[] = [
    [
      'openai-chat',
      [
        [{ ...chunk({}), choices: [{ index: 0, delta: { content: 'Hi' }, logprobs, finish_reason: null }] }, chunk({}, 'stop')],
        completion({ content: 'Hi' }, { logprobs }),
      ],
    ],
    ['openai-responses', [items(message), response(message)]],
    ['google', [[google], google]],
  ]
  for (const [dialect, answer] of ANSWERS)
    for (const stream of [true, false]) {
      test(`${dialect} → chat, stream: ${stream}`, async () => {
        const [choice] = answerOf('chat', await send('chat', dialect, answer, stream), stream).choices
        expect(choice.logprobs.content).toEqual([token])
      })
      test(`${dialect} → responses, stream: ${stream}`, async () => {
        const { output } = answerOf('responses', await send('responses', dialect, answer, stream), stream)
        expect(output[0].content[0]).toMatchObject({ text: 'Hi', logprobs: [token] })
      })
    }
})

describe('pictures', () => {
  const PNG = 'iVBORw0KGgo='
  const url = `data:image/png;base64,${PNG}`
  const images = [{ type: 'image_url', image_url: { url } }]
  const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG, output_format: 'png' }
  const google = gemini([{ inlineData: { mimeType: 'image/png', data: PNG } }])
  const image = { format: 'png', source: { bytes: PNG } }
  const ANSWERS: readonly (readonly [UpstreamDialect, Answer])[] = [
    ['openai-chat', [[chunk({ role: 'assistant', content: '', images }), chunk({}, 'stop')], completion({ content: '', images })]],
    ['openai-responses', [items(drawn), response(drawn)]],
    ['google', [[google], google]],
    [
      'bedrock',
      [
        [
          { messageStart: { role: 'assistant' } },
          { contentBlockStart: { contentBlockIndex: 0, start: { image: { format: 'png' } } } },
          { contentBlockDelta: { contentBlockIndex: 0, delta: { image: { source: { bytes: PNG } } } } },
          { contentBlockStop: { contentBlockIndex: 0 } },
          { messageStop: { stopReason: 'end_turn' } },
        ],
        { output: { message: { role: 'assistant', content: [{ image }] } }, stopReason: 'end_turn' },
      ],
    ],
  ]
  for (const [dialect, answer] of ANSWERS)
    for (const stream of [true, false]) {
      test(`${dialect} → chat, stream: ${stream}`, async () => {
        const [{ message }] = answerOf('chat', await send('chat', dialect, answer, stream), stream).choices
        expect(message.images).toMatchObject(images)
      })
      test(`${dialect} → responses, stream: ${stream}`, async () => {
        const { output } = answerOf('responses', await send('responses', dialect, answer, stream), stream)
        expect(output).toMatchObject([{ type: 'image_generation_call', status: 'completed', result: PNG }])
      })
      test(`${dialect} → messages, stream: ${stream}`, async () => {
        const { content } = answerOf('messages', await send('messages', dialect, answer, stream), stream)
        expect(content).toMatchObject([{ type: 'text', text: `![image](data:image/png;base64,${PNG})` }])
      })
    }
})

describe('a stop sequence that ended the answer', () => {
  const usage = { input_tokens: 3, output_tokens: 2 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage }
  const end = { stop_reason: 'stop_sequence', stop_sequence: 'END' }
  const ANSWERS: readonly (readonly [UpstreamDialect, Answer])[] = [
    [
      'anthropic',
      [
        [
          { type: 'message_start', message },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: end, usage },
          { type: 'message_stop' },
        ],
        { ...message, content: [{ type: 'text', text: 'Hi' }], ...end },
      ],
    ],
    [
      'bedrock',
      [
        [
          { messageStart: { role: 'assistant' } },
          { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hi' } } },
          { contentBlockStop: { contentBlockIndex: 0 } },
          { messageStop: { stopReason: 'stop_sequence', additionalModelResponseFields: { delta: { stop_sequence: 'END' } } } },
        ],
        {
          output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
          stopReason: 'stop_sequence',
          additionalModelResponseFields: { stop_sequence: 'END' },
        },
      ],
    ],
  ]
  for (const [dialect, answer] of ANSWERS)
    for (const stream of [true, false]) {
      test(`${dialect} → messages, stream: ${stream}: is named`, async () => {
        expect(answerOf('messages', await send('messages', dialect, answer, stream), stream)).toMatchObject(end)
      })
      test.each(['chat', 'responses'] as const)(`${dialect} → %s, stream: ${stream}: is a normal end`, async (client) => {
        expect((await readAnswer(OWN_DIALECT[client], stream, await send(client, dialect, answer, stream))).stop).toBe('stop')
      })
    }
})

describe('cached tokens of a whole answer', () => {
  const ANSWERS: readonly (readonly [UpstreamDialect, unknown])[] = [
    [
      'openai-chat',
      {
        ...completion({ content: 'Hi' }),
        usage: { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22, prompt_tokens_details: { cached_tokens: 16 } },
      },
    ],
    [
      'openai-responses',
      {
        ...response({
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
        }),
        usage: {
          input_tokens: 20,
          input_tokens_details: { cached_tokens: 16 },
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 22,
        },
      },
    ],
    [
      'google',
      { ...gemini([{ text: 'Hi' }]), usageMetadata: { promptTokenCount: 20, cachedContentTokenCount: 16, candidatesTokenCount: 2 } },
    ],
  ]
  for (const [dialect, body] of ANSWERS)
    test.each(['chat', 'responses', 'messages'] as const)(`${dialect} → %s`, async (client) => {
      const { usage } = await readAnswer(OWN_DIALECT[client], false, await send(client, dialect, [[], body], false))
      expect(usage).toMatchObject({ input: 20, cacheRead: 16, output: 2 })
    })
})
