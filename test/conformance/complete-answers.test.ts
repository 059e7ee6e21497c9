/**
 * An upstream of the client's own dialect that leaves out what strict clients need: the missing members are added, and nothing else is
 * changed (docs/contract/chat-completions.md#answer).
 */
import { describe, expect, test } from 'bun:test'

import { ChatResult$inboundSchema } from '@openrouter/sdk/models/chatresult.js'
import { ChatStreamChunk$inboundSchema } from '@openrouter/sdk/models/chatstreamchunk.js'
import { OpenResponsesResult$inboundSchema } from '@openrouter/sdk/models/openresponsesresult.js'
import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { at as memberAt } from '../support/json-at.ts'
import { anthropic, openAi } from '../support/answers.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import { OWN_DIALECT, type Reply, replayReply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

const ask = async (client: ClientDialect, reply: Reply): Promise<string> => (await replayReply(client, OWN_DIALECT[client], reply)).text

/** Everything must be known to the strict client: nothing is read as unknown. */
const strictly = (schema: { parse(value: unknown): unknown }, value: unknown): void =>
  expect(JSON.stringify(schema.parse(value))).not.toContain('"UNKNOWN"')

describe('chat', () => {
  const call = (id: string, name: string, json: string) => ({ id, function: { name, arguments: json } })

  test('a whole answer without index, role, type of a call, finish_reason, fingerprint, time', async () => {
    const message = { content: null, tool_calls: [call('c1', 'f', '{"n":1.0}')], x: 1.5 }
    const text = await ask('chat', whole({ id: 'u', model: 'm', choices: [{ message }] }))
    strictly(ChatResult$inboundSchema, JSON.parse(text))
    expect(text).toContain('"arguments":"{\\"n\\":1.0}"')
    const answer = await openAi(text, 'application/json').chat.completions.create({ model: 'm', messages: [] })
    expect(answer.choices).toMatchObject([
      { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', x: 1.5, tool_calls: [{ id: 'c1', type: 'function' }] } },
    ])
  })

  test('chunks without index, delta, finish_reason, index of a call, with a blank role', async () => {
    const chunk = (choice: object) => ({ id: 'u', model: 'm', choices: [choice] })
    const reply = reported(
      'openai-chat',
      chunk({ delta: { role: 'assistant', content: 'Hi ' } }),
      chunk({ index: 0, delta: { role: '', content: 'you' } }),
      chunk({ index: 0 }),
      chunk({ index: 0, delta: { tool_calls: [call('c1', 'f', '{"a":')] }, finish_reason: null }),
      chunk({ index: 0, delta: { tool_calls: [{ function: { arguments: '1}' } }] }, finish_reason: null }),
      chunk({ index: 0, delta: { tool_calls: [call('c2', 'g', '{}')] }, finish_reason: null }),
      chunk({ finish_reason: 'tool_calls' }),
    )
    const text = await ask('chat', reply)
    for (const { data } of streamEvents(text)) strictly(ChatStreamChunk$inboundSchema, data)
    expect(await readAnswer('openai-chat', true, text)).toMatchObject({
      text: 'Hi you',
      stop: 'tool_calls',
      calls: [
        { id: 'c1', name: 'f', arguments: { a: 1 } },
        { id: 'c2', name: 'g', arguments: {} },
      ],
    })
  })

  test('a call without a name has an empty one', async () => {
    const message = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { arguments: '{}' } }] }
    const text = await ask('chat', whole({ id: 'u', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
    strictly(ChatResult$inboundSchema, JSON.parse(text))
    expect(memberAt(JSON.parse(text), 'choices', 0, 'message', 'tool_calls', 0, 'function', 'name')).toBe('')
  })

  test('words of the model that look like what is looked for change nothing', async () => {
    const said = 'a "role":"" and "index" in "tool_calls" without "delta"'
    const reply = reported(
      'openai-chat',
      ...[{ role: 'assistant', content: said }, { content: said }].map((delta) => ({
        choices: [{ index: 0, delta, finish_reason: null }],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    )
    expect(await readAnswer('openai-chat', true, await ask('chat', reply))).toMatchObject({ text: said + said, calls: [] })
  })
})

describe('responses', () => {
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' }
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }

  test('a whole answer of nothing but its output', async () => {
    const text = await ask('responses', whole({ id: 'u', output: [message, call], usage, x: 1.5 }))
    strictly(OpenResponsesResult$inboundSchema, JSON.parse(text))
    const answer = await openAi(text, 'application/json').responses.create({ model: 'm', input: 'x' })
    expect(answer).toMatchObject({ status: 'completed', output: [message, call], parallel_tool_calls: true, x: 1.5 })
    expect(answer.tools).toHaveLength(1) // the tools of the request
  })

  test('events without numbers, chances, names and contents', async () => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const reply = reported(
      'openai-responses',
      { type: 'response.created', response: { id: 'u', status: 'in_progress' } },
      { type: 'response.in_progress', response: { id: 'u', status: 'in_progress' } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress' },
      },
      { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
      { type: 'response.output_text.delta', ...at, delta: 'H' },
      { type: 'response.output_text.delta', ...at, delta: 'i' },
      { type: 'response.output_text.done', ...at, text: 'Hi' },
      { type: 'response.content_part.done', ...at, part: { type: 'output_text', text: 'Hi', annotations: [] } },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{}' },
      { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 1, arguments: '{}' },
      { type: 'response.output_item.done', output_index: 1, item: call },
      { type: 'response.completed', response: { id: 'u', status: 'completed', output: [message, call], usage } },
    )
    const text = await ask('responses', reply)
    const events = streamEvents(text).map(({ data }) => data)
    for (const event of events) strictly(StreamEvents$inboundSchema, event)
    expect(events.map((event) => memberAt(event, 'sequence_number'))).toEqual(events.map((_, number) => number))
    expect(readStream('responses', text)).toEqual({ end: 'normal', faults: [] })
    const stream = openAi(text).responses.stream({ model: 'm', input: 'x' })
    expect((await stream.finalResponse()).output_text).toBe('Hi')
  })

  test('an end of our own, where the upstream leaves it to us, has all of them as well', async () => {
    const reply = reported('openai-responses', { type: 'response.created', response: { id: 'u' } }, { type: 'error', message: 'Broken.' })
    const events = streamEvents(await ask('responses', reply))
    strictly(StreamEvents$inboundSchema, events.at(-1)?.data)
  })
})

describe('messages', () => {
  const KEYS = ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'container', 'usage']
  const COUNTS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'cache_creation']

  test('a whole message of nothing but its content', async () => {
    const text = await ask('messages', whole({ id: 'u', content: [{ type: 'text', text: 'Hi', x: 1.5 }] }))
    const message = JSON.parse(text)
    for (const key of KEYS) expect(message).toHaveProperty(key)
    for (const key of COUNTS) expect(message.usage).toHaveProperty(key)
    const read = await anthropic(text, 'application/json').messages.create({ model: 'm', max_tokens: 1, messages: [] })
    expect(read.content).toMatchObject([{ type: 'text', text: 'Hi', x: 1.5 }])
  })

  test.each([undefined, null, ''])('the reason of an end that says none (%p) is the one that the content shows', async (stop_reason) => {
    const text = { type: 'text', text: 'Hi' }
    const call = { type: 'tool_use', id: 'toolu_1', input: {} }
    for (const [content, reason] of [
      [[text], 'end_turn'],
      [[text, call], 'tool_use'],
    ] as const) {
      expect(JSON.parse(await ask('messages', whole({ id: 'u', content, stop_reason }))).stop_reason).toBe(reason)
      const events = [
        { type: 'message_start', message: { id: 'u', content: [], stop_reason: null } },
        ...content.map((content_block, index) => ({ type: 'content_block_start', index, content_block })),
        { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ]
      const message = await anthropic(await ask('messages', reported('anthropic', ...events)))
        .messages.stream({ model: 'm', max_tokens: 1, messages: [] })
        .finalMessage()
      expect(message).toMatchObject({ stop_reason: reason, content })
    }
  })

  test('a call without a name has an empty one', async () => {
    const call = { type: 'tool_use', id: 'toolu_1' }
    const message = JSON.parse(await ask('messages', whole({ id: 'u', content: [call] })))
    expect(message.content).toEqual([{ ...call, name: '', input: {} }])
  })

  test('a stream whose start and end say the least', async () => {
    const reply = reported(
      'anthropic',
      { type: 'message_start', message: { id: 'u' } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    )
    const text = await ask('messages', reply)
    expect(readStream('messages', text)).toEqual({ end: 'normal', faults: [] })
    const [start] = streamEvents(text)
    for (const key of KEYS) expect(memberAt(start?.data, 'message')).toHaveProperty(key)
    for (const key of COUNTS) expect(memberAt(start?.data, 'message', 'usage')).toHaveProperty(key)
    const read = await anthropic(text, 'text/event-stream').messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
    expect(read).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', stop_sequence: null })
  })
})
