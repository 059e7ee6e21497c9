import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { ModelEvent } from '../../canonical/event.ts'
import { growth, LINEAR } from '../../../test/support/growth.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { createMessagesDecoder } from './decode.ts'
import { decodeUsage, mergeUsage } from './decode-usage.ts'

const RECORDED = join(import.meta.dir, '../../../test/fixtures/recorded/anthropic')
type Json = Record<string, unknown>

const events = (...given: readonly Json[]): ModelEvent[] => {
  const decoder = createMessagesDecoder('anthropic/it')
  return given.flatMap((event) => decoder.event(event))
}

const streamed = (name: string): ModelEvent[] =>
  events(
    ...readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Json),
  )

const whole = (name: string): ModelEvent[] =>
  createMessagesDecoder('anthropic/it').message(JSON.parse(readFileSync(join(RECORDED, `${name}.json`), 'utf8')) as Json)

const textOf = (given: readonly ModelEvent[], type: 'text' | 'reasoning' | 'refusal'): string =>
  given.map((event) => (event.type === type ? event.text : '')).join('')

const callsIn = (given: readonly ModelEvent[]): string[] => {
  const calls: string[] = []
  for (const event of given) {
    if (event.type === 'tool-call') calls[event.index] = `${event.name}(`
    if (event.type === 'tool-arguments') calls[event.index] += event.json
  }
  return calls.map((text) => `${text})`)
}

const lastUsage = (given: readonly ModelEvent[]): Usage | undefined => given.findLast((event) => event.type === 'usage')?.usage
const finishes = (given: readonly ModelEvent[]): string[] =>
  given.flatMap((event) => (event.type === 'finish' ? [`${event.reason} ${event.native}`] : []))

const start = (index: number, block: Json): Json => ({ type: 'content_block_start', index, content_block: block })
const delta = (index: number, type: string, more: Json): Json => ({ type: 'content_block_delta', index, delta: { type, ...more } })
const stop = (index: number): Json => ({ type: 'content_block_stop', index })

describe('recordings of the provider', () => {
  test.each<[string, ModelEvent[], Partial<Usage>, string, number]>([
    ['text, streamed', streamed('anthropic-text'), { inputFresh: 12, output: 30 }, 'stop end_turn', 0],
    ['text, whole', whole('anthropic-text'), { inputFresh: 12, output: 29 }, 'stop end_turn', 0],
    ['thinking, streamed', streamed('anthropic-clear-thinking.1'), { inputFresh: 69, output: 53 }, 'stop end_turn', 0],
    ['thinking, whole', whole('anthropic-clear-thinking.1'), { inputFresh: 69, output: 33 }, 'stop end_turn', 0],
    ['a call, streamed', streamed('anthropic-json-tool.1'), { inputFresh: 849, output: 47 }, 'tool_calls tool_use', 1],
    ['a call without arguments, streamed', streamed('anthropic-tool-no-args'), { inputFresh: 565, output: 48 }, 'tool_calls tool_use', 1],
    ['a call without arguments, whole', whole('anthropic-tool-no-args'), { inputFresh: 602, output: 93 }, 'tool_calls tool_use', 1],
    ['a refusal, streamed', streamed('anthropic-refusal'), { inputFresh: 18, output: 5 }, 'content_filter refusal', 0],
    ['a refusal, whole', whole('anthropic-refusal'), { inputFresh: 18, output: 5 }, 'content_filter refusal', 0],
    // The counts at the end replace those of the beginning.
    [
      'a web search, streamed',
      streamed('anthropic-web-search-tool.1'),
      { inputFresh: 15_665, output: 795, webSearches: 1 },
      'stop end_turn',
      0,
    ],
  ])('%s', (_, given, counts, finish, calls) => {
    expect(lastUsage(given)).toEqual(usageOf({ servedTier: 'standard', ...counts }))
    expect([finishes(given), callsIn(given).length, given[0]?.type]).toEqual([[finish], calls, 'start'])
  })

  test('what was said is what they hold', () => {
    expect(textOf(streamed('anthropic-text'), 'text')).toStartWith("Hello! I'm doing well, thank you for asking. How are you")
    expect(textOf(streamed('anthropic-clear-thinking.1'), 'reasoning')).toBe(
      'The previous result was 925. Now I need to divide that by 5.\n\n925 ÷ 5 = 185',
    )
    expect(callsIn(streamed('anthropic-json-tool.1'))).toEqual([
      'json({"elements": [{"location": "San Francisco", "temperature": 58, "condition": "sunny"}]})',
    ])
    for (const given of [streamed('anthropic-tool-no-args'), whole('anthropic-tool-no-args')])
      expect(callsIn(given)).toEqual(['updateIssueList({})'])
    for (const given of [streamed('anthropic-refusal'), whole('anthropic-refusal')])
      expect(textOf(given, 'refusal')).toContain('was blocked under')
  })

  test('signatures survive to the byte, streamed and whole', () => {
    const signature = (text: string): string | undefined => /"signature": ?"([^"]{20,})"/.exec(text)?.[1]
    for (const [given, file] of [
      [streamed('anthropic-clear-thinking.1'), 'anthropic-clear-thinking.1.chunks.txt'],
      [whole('anthropic-clear-thinking.1'), 'anthropic-clear-thinking.1.json'],
    ] as const) {
      const data = signature(readFileSync(join(RECORDED, file), 'utf8')) ?? ''
      const proofs = given.flatMap((event) => (event.type === 'reasoning-end' ? [event.proof] : []))
      expect(proofs).toEqual([{ format: 'anthropic-claude-v1', kind: 'signature', data, model: 'anthropic/it' }])
    }
  })

  test('sources of a search are citations; the search itself is the provider’s own', () => {
    const given = streamed('anthropic-web-search-tool.1')
    const citations = given.flatMap((event) => (event.type === 'citation' ? [event.citation] : []))
    expect(citations.length).toBeGreaterThan(3)
    for (const { url, content } of citations) expect([url.startsWith('https://'), typeof content]).toEqual([true, 'string'])
    expect(given.flatMap((event) => (event.type === 'unknown' ? [event.kind] : []))).toEqual(['server_tool_use', 'web_search_tool_result'])
  })
})

describe('blocks', () => {
  test('calls are counted densely, whatever stands between them', () => {
    const given = events(
      start(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(0, 'input_json_delta', { partial_json: '{"q":1}' }),
      stop(0),
      start(1, { type: 'tool_use', id: 'a', name: 'f', input: { n: 1 } }),
      stop(1),
      start(2, { type: 'text', text: 'x' }),
      stop(2),
      start(3, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      delta(3, 'input_json_delta', { partial_json: '' }),
      stop(3),
    )
    expect(given).toEqual([
      { type: 'unknown', kind: 'server_tool_use' },
      { type: 'tool-call', index: 0, id: 'a', name: 'f' },
      { type: 'tool-arguments', index: 0, json: '{"n":1}' },
      { type: 'text', text: 'x' },
      { type: 'tool-call', index: 1, id: 'b', name: 'g' },
      { type: 'tool-arguments', index: 1, json: '{}' },
    ])
  })

  test('redacted and unreadable thinking keep their signatures, unsigned thinking has none', () => {
    const given = events(
      start(0, { type: 'redacted_thinking', data: 'xyz==' }),
      stop(0),
      start(1, { type: 'thinking', thinking: '', signature: '' }),
      delta(1, 'signature_delta', { signature: 'sig' }),
      stop(1),
      start(2, { type: 'thinking', thinking: 'hm', signature: '' }),
      stop(2),
    )
    expect(given).toEqual([
      { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'xyz==', model: 'anthropic/it' } },
      { type: 'reasoning-end', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig', model: 'anthropic/it' } },
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning-end', proof: null },
    ])
  })

  test('sources wait for the text that they belong to; those in the client’s own documents have no address', () => {
    const given = events(
      start(0, { type: 'text', text: '' }),
      delta(0, 'citations_delta', { citation: { type: 'page_location', cited_text: 'x' } }),
      delta(0, 'citations_delta', {
        citation: { type: 'search_result_location', source: 'https://a.example', title: null, cited_text: 'y' },
      }),
      stop(0),
    )
    expect(given).toEqual([
      { type: 'unknown', kind: 'page_location' },
      { type: 'citation', citation: { url: 'https://a.example', title: null, content: 'y', start: 0, end: 0 } },
    ])
  })

  test('a piece of a later time is named, and the block goes on', () => {
    const novel = { type: 'unknown', kind: 'novel_delta' } as const
    expect(
      events(
        start(0, { type: 'text', text: 'a' }),
        delta(0, 'novel_delta', {}),
        delta(0, 'text_delta', { text: 'b' }),
        stop(0),
        start(1, { type: 'thinking', thinking: 'c', signature: '' }),
        delta(1, 'novel_delta', {}),
        stop(1),
        start(2, { type: 'tool_use', id: 'x', name: 'f', input: {} }),
        delta(2, 'novel_delta', {}),
        stop(2),
      ),
    ).toEqual([
      { type: 'text', text: 'a' },
      novel,
      { type: 'text', text: 'b' },
      { type: 'reasoning', text: 'c' },
      novel,
      { type: 'reasoning-end', proof: null },
      { type: 'tool-call', index: 0, id: 'x', name: 'f' },
      novel,
      { type: 'tool-arguments', index: 0, json: '{}' },
    ])
  })

  test('events that are senseless or of a later time say nothing', () => {
    expect(
      events(
        { type: 'ping' },
        { type: 'novelty' },
        start(0, { type: 'text', text: 'a' }),
        delta(7, 'text_delta', { text: 'lost' }),
        stop(9),
        { type: 'content_block_delta', index: 0 },
      ),
    ).toEqual([{ type: 'text', text: 'a' }])
  })
})

test.each<[string, string]>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'length'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['novel_reason', 'stop'],
])('%s is %s', (native, reason) => {
  expect(finishes(events({ type: 'message_delta', delta: { stop_reason: native } }, { type: 'message_stop' }))).toEqual([
    `${reason} ${native}`,
  ])
})

test('the stop sequence that ended it is reported; an end without a reason is an end', () => {
  expect(events({ type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } })).toEqual([
    { type: 'finish', reason: 'stop', native: 'stop_sequence', stopSequence: 'END' },
  ])
  expect(events({ type: 'message_delta', delta: { stop_reason: null }, usage: null }, { type: 'message_stop' })).toEqual([
    { type: 'finish', reason: 'stop', native: null },
  ])
})

describe('usage', () => {
  test.each<[Json, Partial<Usage>]>([
    [{}, {}],
    [
      {
        input_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 7,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        output_tokens: 5,
      },
      { inputFresh: 1, inputCacheRead: 2, inputCacheWrite5m: 3, inputCacheWrite1h: 4, output: 5 },
    ],
    [{ cache_creation_input_tokens: 7 }, { inputCacheWrite5m: 7, unsplitWrites: 7 }],
    [{ cache_creation: { ephemeral_1h_input_tokens: 4 } }, { inputCacheWrite1h: 4 }],
    [
      { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      { output: 5, outputReasoning: 4 },
    ],
    [
      { output_tokens: 3, output_tokens_details: { thinking_tokens: 4 } },
      { output: 3, estimated: true },
    ],
    [
      { input_tokens: -1, output_tokens: 1.5, cache_read_input_tokens: 'x' },
      { unreportedInput: true, unreportedOutput: true },
    ],
  ])('%j', (given, counts) => {
    expect(decodeUsage({ input_tokens: 0, output_tokens: 0, ...given })).toEqual(usageOf(counts))
  })

  test('later counts replace earlier ones; nulls, zeros and what is no count leave them', () => {
    const earlier = { input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 9, output_tokens: 1, x: 2 }
    const later = { input_tokens: null, cache_read_input_tokens: 0, cache_creation_input_tokens: 'x', output_tokens: 4 }
    const known = { ...earlier }
    mergeUsage(known, later)
    expect(known).toEqual({ ...earlier, output_tokens: 4 })
  })
})

test.each([
  ['members that nobody knows', (at: number) => ({ output_tokens: at, [`x${at}`]: 1 })],
  [
    'counts behind a list of calls as long',
    (at: number, size: number) =>
      at === 0 ? { iterations: Array.from({ length: size }, () => ({ type: 'compaction', input_tokens: 1 })) } : { output_tokens: at },
  ],
])('a stream may report usage thousands of times: %s', (_, usageAt) => {
  expect(
    growth(
      (size) => () => {
        const decoder = createMessagesDecoder('anthropic/it')
        for (let at = 0; at < size; at += 1) decoder.event({ type: 'message_delta', delta: {}, usage: usageAt(at, size) })
      },
      1500,
    ),
  ).toBeLessThan(LINEAR)
})

test('calls that shortened the conversation are counted apart, since the counts at the top leave them out', () => {
  const call = { type: 'compaction', input_tokens: 180_000, output_tokens: 3500, cache_read_input_tokens: 7 }
  const usage = {
    input_tokens: 23_000,
    output_tokens: 1000,
    iterations: [call, call, { type: 'message', input_tokens: 23_000, output_tokens: 1000 }],
  }
  expect(decodeUsage(usage)).toEqual(
    usageOf({
      inputFresh: 23_000,
      output: 1000,
      beside: usageOf({ inputFresh: 360_000, inputCacheRead: 14, output: 7000 }),
    }),
  )
})

test('a stream that begins with the call that shortened the conversation counts its tokens once', () => {
  const read = { input_tokens: 100, cache_read_input_tokens: 55_096, cache_creation_input_tokens: 0 }
  const answered = { input_tokens: 181, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 8 }
  const used = events(
    { type: 'message_start', message: { usage: { ...read, output_tokens: 7, inference_geo: 'global' } } },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: {
        ...answered,
        iterations: [
          { type: 'compaction', ...read, output_tokens: 83 },
          { type: 'message', ...answered },
        ],
      },
    },
  )
  expect(lastUsage(used)).toEqual(
    usageOf({
      inputFresh: 181,
      output: 8,
      inferenceGeo: 'global',
      beside: usageOf({ inputFresh: 100, inputCacheRead: 55_096, output: 83 }),
    }),
  )
})

test('calls of an advisor are counted apart too, and the cost is an estimate, since its prices may be others', () => {
  const usage = {
    input_tokens: 2414,
    output_tokens: 3200,
    iterations: [
      { type: 'message', input_tokens: 1051, output_tokens: 35 },
      { type: 'advisor_message', model: 'claude-opus-4-7', input_tokens: 2728, output_tokens: 874 },
      { type: 'message', input_tokens: 1363, output_tokens: 3165 },
    ],
  }
  expect(decodeUsage(usage)).toEqual(
    usageOf({ inputFresh: 2414, output: 3200, estimated: true, beside: usageOf({ inputFresh: 2728, output: 874 }) }),
  )
})

test('a server that leaves blocks open loses neither a signature nor the order', () => {
  const decoder = createMessagesDecoder('acme/one')
  const events = [
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'S' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ].flatMap((event) => decoder.event(event))
  expect(events).toMatchObject([
    { type: 'reasoning', text: 'hm' },
    { type: 'reasoning-end', proof: { data: 'S' } },
    { type: 'text', text: 'Hi' },
    { type: 'finish', reason: 'stop' },
  ])
})

test('the container in which Claude ran code counts as soon as there is a result', () => {
  const usages = events(
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 's', name: 'bash_code_execution', input: {} } },
    { type: 'content_block_start', index: 1, content_block: { type: 'bash_code_execution_tool_result', tool_use_id: 's', content: {} } },
  ).flatMap((event) => (event.type === 'usage' ? [event.usage.containers] : []))
  expect(usages).toEqual([0, 1])
})
