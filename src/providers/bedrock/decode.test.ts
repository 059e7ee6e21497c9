import { describe, expect, test } from 'bun:test'

import type { ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import type { ErrorType } from '../../errors.ts'
import { answers, START, startBedrock, STREAM_HEAD, streams } from './ask.test-kit.ts'
import { begin, bytesOf, delta, end, event, exception, stop, toolStart, USAGE, wholeConversation } from './event-stream.test-kit.ts'

const { ask } = await startBedrock()

const usage = usageOf({ inputFresh: 12, inputCacheRead: 15, inputCacheWrite5m: 5, unsplitWrites: 5, output: 7 })

describe('a stream', () => {
  test('is told as thinking with its proof, text, calls, the end and the counts', async () => {
    const { events, error, frames } = await ask(streams(wholeConversation()))
    expect(events).toEqual([
      START,
      { type: 'reasoning', text: 'Weather, ' },
      { type: 'reasoning', text: 'then.' },
      { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'c2ln', model: 'bedrock/it' } },
      { type: 'text', text: 'Grüße 👋' },
      { type: 'tool-call', index: 0, id: 'tooluse_a', name: 'weather' },
      { type: 'tool-arguments', index: 0, json: '{"city":' },
      { type: 'tool-arguments', index: 0, json: '"Oslo"}' },
      { type: 'tool-call', index: 1, id: 'tooluse_b', name: 'now' },
      { type: 'tool-arguments', index: 1, json: '{}' },
      { type: 'finish', reason: 'tool_calls', native: 'tool_use' },
      { type: 'usage', usage },
    ])
    expect(error).toBeNull()
    expect(frames.every((frame) => frame.native === undefined)).toBe(true)
  })

  test.each<[string, Uint8Array[], ModelEvent[]]>([
    [
      'hidden thinking, whole and in pieces',
      [
        delta(0, { reasoningContent: { redactedContent: 'b3Bh+/==' } }),
        stop(0),
        delta(1, { reasoningContent: { redactedContent: 'YQ==' } }),
        delta(1, { reasoningContent: { redactedContent: 'Yg==' } }),
        stop(1),
      ],
      [
        { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'b3Bh+/==', model: 'bedrock/it' } },
        { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'YWI=', model: 'bedrock/it' } },
      ],
    ],
    [
      'thinking without a signature, in a block that is never closed',
      [delta(0, { reasoningContent: { text: 'Hm' } })],
      [
        { type: 'reasoning', text: 'Hm' },
        { type: 'reasoning-end', proof: null },
      ],
    ],
    [
      'sources of the web',
      [
        delta(0, { text: 'Grüße 👋' }),
        stop(0),
        delta(1, { text: 'a' }),
        delta(1, {
          citation: {
            title: 'T',
            sourceContent: [{ text: 'b' }, { text: 'c' }],
            location: { web: { url: 'https://a.example', domain: 'a.example' } },
          },
        }),
        delta(1, { citation: { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } } }),
        delta(1, { text: 'b' }),
        stop(1),
      ],
      [
        { type: 'text', text: 'Grüße 👋' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
        { type: 'citation', citation: { url: 'https://a.example', title: 'T', content: 'bc', start: 8, end: 10 } },
        { type: 'unknown', kind: 'citation' },
      ],
    ],
    [
      'a picture in pieces',
      [
        event('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'webp' } } }),
        delta(0, { image: { source: { bytes: 'YQ==' } } }),
        delta(0, { image: { source: { bytes: 'Yg==' } } }),
        stop(0),
      ],
      [{ type: 'image', url: 'data:image/webp;base64,YWI=' }],
    ],
    [
      'a picture that was held back',
      [
        event('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'png' } } }),
        delta(0, { image: { error: { message: 'blocked' } } }),
        stop(0),
      ],
      [{ type: 'unknown', kind: 'image' }],
    ],
    [
      'tools that the provider ran itself, and events of another day',
      [
        event('contentBlockStart', {
          contentBlockIndex: 0,
          start: { toolUse: { toolUseId: 'x', name: 'nova_grounding', type: 'server_tool_use' } },
        }),
        delta(0, { toolUse: { input: '{}' } }),
        stop(0),
        event('contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 'x' } } }),
        delta(1, { toolResult: [{ text: 'r' }] }),
        stop(1),
        event('brandNew', { any: 'thing' }),
      ],
      [
        { type: 'unknown', kind: 'toolUse' },
        { type: 'unknown', kind: 'toolResult' },
        { type: 'unknown', kind: 'toolResult' },
      ],
    ],
    [
      'pieces of another day, in a block that nothing announces',
      [delta(0, { hologram: {} }), stop(0), delta(1, { text: 'a' }), stop(1)],
      [
        { type: 'unknown', kind: 'hologram' },
        { type: 'text', text: 'a' },
      ],
    ],
    [
      'calls that overlap',
      [
        toolStart(0, 'a', 'f'),
        toolStart(1, 'b', 'g'),
        delta(1, { toolUse: { input: '{"b":1}' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        stop(0),
        stop(1),
      ],
      [
        { type: 'tool-call', index: 0, id: 'a', name: 'f' },
        { type: 'tool-call', index: 1, id: 'b', name: 'g' },
        { type: 'tool-arguments', index: 1, json: '{"b":1}' },
        { type: 'tool-arguments', index: 0, json: '{"a":1}' },
      ],
    ],
  ])('may hold %s', async (_, messages, expected) => {
    const { events, error } = await ask(streams([begin(), ...messages, ...end('end_turn')]))
    expect(error).toBeNull()
    expect(events).toEqual([START, ...expected, { type: 'finish', reason: 'stop', native: 'end_turn' }, { type: 'usage', usage }])
  })

  test('of a model that is no Claude keeps no proof that nobody would know', async () => {
    const messages = [begin(), delta(0, { reasoningContent: { text: 'x' } }), delta(0, { reasoningContent: { signature: 's' } }), stop(0)]
    const { events } = await ask(streams([...messages, ...end('end_turn')]), { model: 'us.deepseek.r1-v1:0' })
    expect(events[2]).toEqual({ type: 'reasoning-end', proof: null })
  })

  test('may end without its counts', async () => {
    const { events, error } = await ask(streams([begin(), delta(0, { text: 'a' }), stop(0), ...end('end_turn').slice(0, 1)]))
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', native: 'end_turn' })
    expect(error).toBeNull()
  })

  test('stays whole if the upstream fails after its end', async () => {
    const messages = [begin(), delta(0, { text: 'a' }), stop(0), ...end('end_turn').slice(0, 1)]
    const { events, error } = await ask(streams([...messages, exception('throttlingException', { message: 'Slow' })]))
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', native: 'end_turn' })
    expect(error).toBeNull()
  })

  test('stays whole if the connection breaks after its end, before its counts', async () => {
    const messages = [begin(), delta(0, { text: 'a' }), stop(0), ...end('end_turn').slice(0, 1)]
    // Bytes that arrive together with the break of the connection may be lost.
    const { promise: cut, resolve } = Promise.withResolvers<void>()
    const onRead = (read: readonly ModelEvent[]): void => {
      if (read.at(-1)?.type === 'finish') resolve()
    }
    const { events, error } = await ask(streams(messages, { cut }), { onRead })
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', native: 'end_turn' })
    expect(error).toBeNull()
  })

  test.each([
    ['openai.gpt-5.6-v1', 2],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 4995],
  ])('of %s counts tokens of a cache once: %d are fresh', async (model, inputFresh) => {
    const counts = { usage: { inputTokens: 4995, outputTokens: 19, cacheWriteInputTokens: 4993, totalTokens: 10_007 } }
    const { events } = await ask(streams([begin(), ...end('end_turn').slice(0, 1), event('metadata', counts)]), { model })
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { inputFresh, inputCacheWrite5m: 4993, output: 19 } })
  })

  test('of Claude counts its thinking apart', async () => {
    const fields = { additionalModelResponseFields: { usage: { output_tokens_details: { thinking_tokens: 3 } } } }
    const { events } = await ask(streams([begin(), ...end('end_turn', fields)]))
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { output: 4, outputReasoning: 3 } })
  })

  test('is not read for ever after its end', async () => {
    const { events, error } = await ask(async (exchange) => {
      await exchange.send(`${STREAM_HEAD}content-length: 10000000\r\n\r\n`)
      await exchange.send(bytesOf([begin(), ...end('end_turn').slice(0, 1), ...Array.from({ length: 200 }, () => event('ping', {}))]))
    })
    expect(events).toHaveLength(2)
    expect(error).toBeNull()
  })

  test('that comes byte by byte is the same', async () => {
    const { events } = await ask(streams(wholeConversation()))
    const slow = await ask(async (exchange) => {
      const bytes = bytesOf(wholeConversation())
      await exchange.send(`${STREAM_HEAD}content-length: ${bytes.length}\r\n\r\n`)
      for (let at = 0; at < bytes.length; at += 3) await exchange.send(bytes.subarray(at, at + 3))
    })
    expect(slow.events).toEqual(events)
  })

  test.each<[string, string, string | null]>([
    ['end_turn', 'stop', null],
    ['stop_sequence', 'stop', 'END'],
    ['tool_use', 'tool_calls', null],
    ['max_tokens', 'length', null],
    ['model_context_window_exceeded', 'length', null],
    ['guardrail_intervened', 'content_filter', null],
    ['content_filtered', 'content_filter', null],
    ['never_heard_of', 'stop', null],
  ])('that stops for %s ends with %s', async (native, reason, stopSequence) => {
    const more = stopSequence === null ? {} : { additionalModelResponseFields: { delta: { stop_sequence: stopSequence } } }
    const { events } = await ask(streams([begin(), ...end(native, more)]))
    expect(events.at(-2) as object).toEqual({ type: 'finish', reason, native, ...(stopSequence === null ? {} : { stopSequence }) })
  })
})

describe('a whole answer', () => {
  const body = (content: readonly object[], more: object = {}): string =>
    JSON.stringify({
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: USAGE,
      metrics: { latencyMs: 1 },
      ...more,
    })

  test('is told in one frame', async () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'b3Bh' } },
      { text: 'Hi' },
      { citationsContent: { content: [{ text: ' there' }], citations: [{ source: 'https://a.example', title: 'T' }] } },
      { toolUse: { toolUseId: 'a', name: 'f', input: { x: [1, 'ü'] } } },
      { toolUse: { toolUseId: 'b', name: 'g', input: {}, type: 'tool_use' } },
      { image: { format: 'png', source: { bytes: 'AA==' } } },
      { image: { format: 'png', source: { bytes: '' }, error: { message: 'blocked' } } },
      { hologram: {} },
    ]
    const proof = { format: 'anthropic-claude-v1', model: 'bedrock/it' } as const
    const { events, frames, error } = await ask(answers(200, body(content, { stopReason: 'tool_use' })), { stream: false })
    expect(error).toBeNull()
    expect(frames).toHaveLength(1)
    expect(events).toEqual([
      START,
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning-end', proof: { ...proof, kind: 'signature', data: 'c2ln' } },
      { type: 'reasoning-end', proof: { ...proof, kind: 'encrypted', data: 'b3Bh' } },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' there' },
      { type: 'citation', citation: { url: 'https://a.example', title: 'T', content: null, start: 2, end: 8 } },
      { type: 'tool-call', index: 0, id: 'a', name: 'f' },
      { type: 'tool-arguments', index: 0, json: '{"x":[1,"ü"]}' },
      { type: 'tool-call', index: 1, id: 'b', name: 'g' },
      { type: 'tool-arguments', index: 1, json: '{}' },
      { type: 'image', url: 'data:image/png;base64,AA==' },
      { type: 'unknown', kind: 'image' },
      { type: 'unknown', kind: 'hologram' },
      { type: 'usage', usage },
      { type: 'finish', reason: 'tool_calls', native: 'tool_use' },
    ])
  })

  test('tells which sequence ended it', async () => {
    const more = { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } }
    const { events } = await ask(answers(200, body([], more)), { stream: false })
    expect(events.at(-1) as object).toMatchObject({ stopSequence: 'END' })
  })

  test.each([
    [3, { output: 4, outputReasoning: 3, estimated: false }],
    [8, { output: 7, outputReasoning: 0, estimated: true }],
  ])('of Claude counts %d tokens of its thinking apart, if there are as many', async (thinking, expected) => {
    const more = { additionalModelResponseFields: { usage: { output_tokens_details: { thinking_tokens: thinking } } } }
    const { events } = await ask(answers(200, body([], more)), { stream: false })
    expect(events.at(-2)).toMatchObject({ type: 'usage', usage: expected })
  })

  test('counts the tokens of each cache once', async () => {
    const reported = {
      ...USAGE,
      cacheWriteInputTokens: 9,
      cacheDetails: [
        { ttl: '1h', inputTokens: 4 },
        { ttl: '5m', inputTokens: 5 },
      ],
    }
    const { events } = await ask(answers(200, body([], { usage: reported })), { stream: false })
    const expected = usageOf({ inputFresh: 12, inputCacheRead: 15, inputCacheWrite1h: 4, inputCacheWrite5m: 5, output: 7 })
    expect(events.at(-2)).toEqual({ type: 'usage', usage: expected })
  })

  test('tells that counts make no sense', async () => {
    const reported = { inputTokens: -1, outputTokens: 1e300, cacheReadInputTokens: '7', cacheDetails: 'x' }
    const { events } = await ask(answers(200, body([], { usage: reported })), { stream: false })
    expect(events.at(-2)).toEqual({ type: 'usage', usage: usageOf({ unreportedInput: true, unreportedOutput: true }) })
  })

  test('to a request for a stream is taken as well', async () => {
    expect((await ask(answers(200, body([{ text: 'Hi' }])))).events).toContainEqual({ type: 'text', text: 'Hi' })
  })

  test.each<[string, string, ErrorType]>([
    ['is empty', '', 'provider_unavailable'],
    ['is a page', '<html></html>', 'provider_unavailable'],
    ['is no object', '[]', 'provider_unavailable'],
    ['has no message', '{"stopReason":"end_turn"}', 'provider_unavailable'],
    ['is an error after all', '{"__type":"com.amazon.coral.service#ThrottlingException","message":"Slow"}', 'rate_limit_exceeded'],
    ['was malformed by the model', body([{ text: '<tool' }], { stopReason: 'malformed_model_output' }), 'provider_unavailable'],
  ])('that %s is a failure', async (_, text, type) => {
    expect((await ask(answers(200, text), { stream: false })).error?.type).toBe(type)
  })
})
