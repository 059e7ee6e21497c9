/** Faults that hurt the users of other gateways (docs/contract/streams.md#lifecycle): how streams are written, end and fail. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import {
  ALL_RECORDINGS,
  fails,
  recording,
  type SseDialect,
  streamBytes,
  UPSTREAM_DIALECTS,
  type UpstreamDialect,
} from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, replayReply } from '../support/replay.ts'
import { calling, chunk, everywhere, readings, reported, USAGE, whole } from '../support/upstream-replies.ts'

const encoder = new TextEncoder()

describe('streams', () => {
  test('arguments that come whole, and in the very first chunk, are not lost', async () => {
    const first = chunk({ role: 'assistant', ...calling(0, 'call_1', 'look', '{"at":"Zürich"}') })
    everywhere(await readings('openai-chat', reported('openai-chat', first, chunk({}, 'tool_calls'))), ({ calls }) =>
      expect(calls).toEqual([{ id: 'call_1', name: 'look', arguments: { at: 'Zürich' } }]),
    )
    const { text } = await replayReply('messages', 'openai-chat', reported('openai-chat', first, chunk({}, 'tool_calls')))
    expect(streamEvents(text).filter(({ data }) => at(data, 'delta', 'type') === 'input_json_delta')).not.toHaveLength(0)
  })

  test('text and a tool call in one delta: both, with the name', async () => {
    const both = chunk({ role: 'assistant', content: 'So. ', ...calling(0, 'call_1', 'look', '{}') })
    everywhere(await readings('openai-chat', reported('openai-chat', both, chunk({}, 'tool_calls'))), ({ text, calls }) => {
      expect(text).toBe('So. ')
      expect(calls).toEqual([{ id: 'call_1', name: 'look', arguments: {} }])
    })
  })

  test('two and three woven calls, one without arguments: dense, one block open at a time, the right end', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const reply = { type: 'text/event-stream', pieces: [recording(dialect, 'parallel-calls', true).bytes] } as const
      everywhere(await readings(dialect, reply), ({ calls, stop }) => {
        expect(calls.map(({ name, arguments: args }) => ({ name, args }))).toEqual([
          { name: 'get_weather', args: { city: 'Zürich' } },
          { name: 'get_time', args: { zone: 'Asia/東京' } },
          { name: 'list_all', args: {} },
        ])
        expect(stop).toBe('tool_calls')
      })
    }
  })

  test('every pair ends with its terminal event, also where the last chunk has no choices or usage comes after the end', async () => {
    const endings = [
      [chunk({}, 'stop'), { ...chunk({}), choices: [] }],
      [chunk({}, 'stop'), { ...chunk({}), choices: [], usage: USAGE }],
      [chunk({}, 'stop', { usage: USAGE })],
    ]
    for (const last of endings) await readings('openai-chat', reported('openai-chat', chunk({ role: 'assistant', content: 'x' }), ...last))
    for (const each of ALL_RECORDINGS.filter((one) => one.stream && !fails(one))) {
      for (const client of CLIENT_DIALECTS) {
        const { text } = await replayReply(client, each.dialect, { type: 'text/event-stream', pieces: [each.bytes] })
        expect(text).toMatch(TERMINAL[client])
      }
    }
  })

  const TERMINAL: Readonly<Record<ClientDialect, RegExp>> = {
    chat: /"finish_reason":"\w+"[\s\S]*\ndata: \[DONE\]\n\n$/,
    responses: /\nevent: response\.(?:completed|incomplete)\n.*\n\ndata: \[DONE\]\n\n$/,
    messages: /\nevent: message_delta\n.*\n\nevent: message_stop\n.*\n\ndata: \[DONE\]\n\n$/,
  }

  test('one message_start on passthrough, with the fields of the upstream', async () => {
    const [start, ...rest] = recording('anthropic', 'anthropic-text', true).payloads
    const { text } = await replayReply('messages', 'anthropic', reported('anthropic', start, start, ...rest))
    const starts = streamEvents(text).filter(({ name }) => name === 'message_start')
    expect(starts).toHaveLength(1)
    expect(at(starts[0]?.data, 'message', 'usage')).toMatchObject({ service_tier: 'standard', inference_geo: 'not_available' })
  })

  test('message_start tells an estimate of the input, message_delta the true counts with those of the cache', async () => {
    const usage = { prompt_tokens: 2048, completion_tokens: 64, total_tokens: 2112, prompt_tokens_details: { cached_tokens: 1920 } }
    const chunks = [chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop'), { ...chunk({}), choices: [], usage }]
    const pieces = chunks.map((each) => encoder.encode(`data: ${JSON.stringify(each)}\n\n`))
    const { text } = await replayReply('messages', 'openai-chat', { type: 'text/event-stream', pieces })
    const events = streamEvents(text)
    expect(at(events[0]?.data, 'message', 'usage', 'input_tokens')).toBeGreaterThan(0)
    expect(at(events.find(({ name }) => name === 'message_delta')?.data, 'usage')).toMatchObject({
      input_tokens: 128,
      cache_read_input_tokens: 1920,
      output_tokens: 64,
    })
  })

  test('a socket that breaks after n chunks is an error with its type, in every dialect', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const { payloads } = recording(dialect, 'parallel-calls', true)
      for (const client of CLIENT_DIALECTS) {
        for (let count = 0; count < payloads.length - 2; count += 1) {
          const pieces = [streamBytes(dialect, payloads.slice(0, count), true)]
          const { text: answer } = await replayReply(client, dialect, { type: 'text/event-stream', pieces, cut: true })
          expect(readStream(client, answer)).toEqual({ end: 'error', faults: [] })
          expect(answer).toContain('"error_type":"provider_unavailable"')
        }
      }
    }
  })

  const FAILURES: Readonly<Record<SseDialect, string>> = {
    'openai-chat': 'event: error\ndata: {"error":{"message":"Overloaded","type":"server_error","code":503}}\n\n',
    'openai-responses':
      'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null,"sequence_number":3}\n\n',
    anthropic: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    google: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
  }

  const failureOf = (dialect: UpstreamDialect): Uint8Array =>
    dialect === 'bedrock'
      ? streamBytes(dialect, ['{"serviceUnavailableException":{"message":"Overloaded"}}'])
      : encoder.encode(FAILURES[dialect])

  test('`event: error` first moves on to the next provider; later it ends the stream as our own error', async () => {
    const good = recording('openai-chat', 'length', true).bytes
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const client of CLIENT_DIALECTS) {
        const second = { dialect: 'openai-chat', reply: { type: 'text/event-stream', pieces: [good] } } as const
        const type = 'text/event-stream'
        const first = { dialect, reply: { type, pieces: [failureOf(dialect)] } } as const
        const moved = await replay({ client, upstreams: [first, second], body: question(client, true) })
        expect(moved.sent).toHaveLength(2)
        expect((await readAnswer(OWN_DIALECT[client], true, moved.text)).text).toBe('Once upon a time 🦊')

        const { payloads } = recording(dialect, 'length', true)
        const begun = streamBytes(dialect, payloads.slice(0, -2), true)
        const late = { dialect, reply: { type, pieces: [begun, failureOf(dialect)] } } as const
        const ended = await replay({ client, upstreams: [late, second], body: question(client, true) })
        // Google's stream is short: nothing was sent before the failure.
        if (ended.sent.length === 1) expect(readStream(client, ended.text)).toEqual({ end: 'error', faults: [] })
        else expect(dialect).toBe('google')
      }
    }
  })

  test('the error chunk of an upstream that is a router itself is a failure, not an empty success', async () => {
    const error = { code: 502, message: 'Upstream broke', metadata: { error_type: 'provider_unavailable' } }
    const shapes = [{ ...chunk({}), choices: [], error }, { ...chunk({ content: '' }, 'error'), error }, chunk({ content: '' }, 'error')]
    for (const shape of shapes) {
      for (const client of CLIENT_DIALECTS) {
        const { text } = await replayReply(
          client,
          'openai-chat',
          reported('openai-chat', chunk({ role: 'assistant', content: 'x' }), shape),
        )
        expect(readStream(client, text)).toEqual({ end: 'error', faults: [] })
        const alone = await replayReply(client, 'openai-chat', reported('openai-chat', shape))
        expect(readStream(client, alone.text).end).toBe('error')
      }
    }
    const body = await replayReply('chat', 'openai-chat', whole({ id: 'gen-1', error }))
    expect(JSON.parse(body.text)).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
  })
})
