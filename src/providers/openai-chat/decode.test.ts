import { describe, expect, test } from 'bun:test'

import type { ModelEvent } from '../../canonical/event.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { createChatDecoder } from './decode.ts'
import { decodeUsage } from './decode-usage.ts'

const MODEL = 'acme/one'

/** All events except the start. */
const decode = (...chunks: readonly JsonObject[]): readonly ModelEvent[] => {
  const decoder = createChatDecoder(MODEL)
  return chunks.flatMap((chunk) => decoder.events({ ...chunk })).filter(({ type }) => type !== 'start')
}

const delta = (said: JsonObject, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject => ({
  id: 'x',
  ...chunk,
  choices: [{ index: 0, delta: said, ...choice }],
})

const claude = { format: 'anthropic-claude-v1', index: 0 }
const proof = { format: 'anthropic-claude-v1', kind: 'signature', data: 'EqQB', model: MODEL } as const
const page = (url: string, more: object = {}): object => ({ url, title: null, content: null, start: null, end: null, ...more })

describe('thinking with proofs', () => {
  test('comes in pieces, its signature last, and is not sent twice', () => {
    expect(
      decode(
        delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', ...claude }] }),
        delta({ reasoning: null, reasoning_details: [{ type: 'reasoning.text', signature: 'EqQB', ...claude }] }),
        delta({ content: 'a' }),
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning-end', proof },
      { type: 'text', text: 'a' },
    ])
  })

  test('may be a summary and what only its maker can read', () => {
    const openai = { format: 'openai-responses-v1', id: 'rs_1', index: 0 }
    expect(
      decode(
        delta({
          reasoning_details: [
            { type: 'reasoning.summary', summary: 'Sum.', ...openai },
            { type: 'reasoning.encrypted', data: 'gAAA', ...openai },
          ],
        }),
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Sum.', summary: true },
      { type: 'reasoning-end', proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAA', id: 'rs_1', model: MODEL } },
    ])
  })

  test.each<[string, JsonObject]>([
    [
      'of the router',
      {
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'CiQB', id: 'c1', format: 'google-gemini-v1' }],
        tool_calls: [{ id: 'c1', function: { name: 'f' } }],
      },
    ],
    ['of Google', { tool_calls: [{ id: 'c1', function: { name: 'f' }, extra_content: { google: { thought_signature: 'CiQB' } } }] }],
  ])('may be that of a call, in the words %s', (_, said) => {
    expect(decode(delta(said))).toEqual([
      {
        type: 'tool-call',
        index: 0,
        id: 'c1',
        name: 'f',
        proof: { format: 'google-gemini-v1', kind: 'signature', data: 'CiQB', model: MODEL },
      },
    ])
  })

  test('of a format without a word here is only said to be there; what can be read of it is read', () => {
    expect(
      decode(delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'xai-responses-v1' }] })),
    ).toEqual([
      { type: 'unknown', kind: 'reasoning.encrypted' },
      { type: 'reasoning', text: 'Hm' },
    ])
  })
})

describe('what stands beside the text', () => {
  test('sources of it', () => {
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', content: 'aa', start_index: 0, end_index: 5 } },
      { type: 'file_citation', file_id: 'f' },
    ]
    expect(decode(delta({ content: 'a', annotations }))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'citation', citation: { url: 'https://a.example', title: 'A', content: 'aa', start: 0, end: 5 } },
      { type: 'unknown', kind: 'file_citation' },
    ])
  })

  test('sources of the whole answer come once each and after it, however often the provider sends them', () => {
    const reported = {
      citations: ['https://a.example', 'https://b.example'],
      search_results: [{ url: 'https://a.example', title: 'A', date: '2026-01-01' }],
    }
    expect(decode(delta({ content: 'a' }, {}, reported), delta({ content: 'b' }, { finish_reason: 'stop' }, reported))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'citation', citation: page('https://a.example', { title: 'A' }) as never },
      { type: 'citation', citation: page('https://b.example') as never },
      { type: 'finish', reason: 'stop', native: 'stop' },
    ])
  })

  test('pictures, speech that has no word here, and log probabilities', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    const logprobs = { content: [{ token: 'a', logprob: 0, bytes: [97], top_logprobs: [] }], refusal: null }
    expect(decode(delta({ content: 'a', images: [image], audio: { data: 'AA' } }, { logprobs }), delta({ audio: { data: 'BB' } }))).toEqual(
      [
        { type: 'text', text: 'a' },
        { type: 'logprobs', content: logprobs.content },
        { type: 'image', url: 'data:image/png;base64,AA' },
        { type: 'unknown', kind: 'audio', characters: 1 },
        { type: 'unknown', kind: 'audio', characters: 1 },
      ],
    )
  })

  test('parts of a list, each in its turn', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'a' },
      { type: 'reference', reference_ids: [1] },
      null,
    ]
    expect(decode(delta({ content }))).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'a' },
      { type: 'unknown', kind: 'reference' },
    ])
  })
})

describe('the end', () => {
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }

  test.each<[string, JsonObject, string]>([
    ['stop', {}, 'stop'],
    ['stop', { tool_calls: [call] }, 'tool_calls'],
    ['length', { tool_calls: [call] }, 'length'],
    ['constructor', {}, 'stop'],
  ])('%s, after %o, is %s', (native, said, reason) => {
    expect(decode(delta(said), delta({}, { finish_reason: native })).at(-1)).toEqual({ type: 'finish', reason: reason as never, native })
  })

  test.each(['error', 'insufficient_system_resource', 'network_error', 'abort', ''])('%p is none', (native) => {
    expect(decode(delta({}, { finish_reason: native }))).toEqual([])
  })
})

describe('usage', () => {
  test.each<[string, JsonObject, object]>([
    [
      'counts reasoning within the completion',
      { prompt_tokens: 10, completion_tokens: 30, total_tokens: 40, completion_tokens_details: { reasoning_tokens: 20 } },
      { inputFresh: 10, output: 10, outputReasoning: 20 },
    ],
    [
      'counts it beside the completion where the total says so',
      { prompt_tokens: 10, completion_tokens: 30, total_tokens: 60, completion_tokens_details: { reasoning_tokens: 20 } },
      { inputFresh: 10, output: 30, outputReasoning: 20 },
    ],
    [
      "counts it beside a completion that it exceeds by far (Gemini behind Vercel's gateway)",
      { prompt_tokens: 61, completion_tokens: 10, total_tokens: 71, completion_tokens_details: { reasoning_tokens: 96 } },
      { inputFresh: 61, output: 10, outputReasoning: 96, estimated: false },
    ],
    [
      'believes neither where it exceeds the completion by little',
      { prompt_tokens: 43, completion_tokens: 10, total_tokens: 53, completion_tokens_details: { reasoning_tokens: 11 } },
      { inputFresh: 43, output: 10, outputReasoning: 0, estimated: true },
    ],
    [
      'counts tokens once that were written to the cache and read from it (Gemini behind OpenRouter)',
      { prompt_tokens: 2168, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 2161, cache_write_tokens: 2161 } },
      { inputFresh: 0, inputCacheRead: 2161, inputCacheWrite5m: 7, output: 100, estimated: false },
    ],
    [
      'counts as reasoning what the total alone counts',
      { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 },
      { inputFresh: 9, output: 3, outputReasoning: 93, estimated: false },
    ],
    [
      'counts it also where nothing else was said, beside a cache',
      { prompt_tokens: 1009, completion_tokens: 0, total_tokens: 1105, prompt_tokens_details: { cached_tokens: 900 } },
      { inputFresh: 109, inputCacheRead: 900, output: 0, outputReasoning: 96 },
    ],
    [
      'adds cached tokens that only the total holds (Portkey)',
      { prompt_tokens: 10, completion_tokens: 20, total_tokens: 1030, cache_read_input_tokens: 600, cache_creation_input_tokens: 400 },
      { inputFresh: 10, inputCacheRead: 600, inputCacheWrite5m: 400, output: 20, outputReasoning: 0, estimated: false },
    ],
    [
      'adds cached tokens of the details that only the total holds (Grok)',
      { prompt_tokens: 4142, completion_tokens: 254, total_tokens: 8724, prompt_tokens_details: { cached_tokens: 4328 } },
      { inputFresh: 4142, inputCacheRead: 4328, output: 254, outputReasoning: 0, estimated: false },
    ],
    [
      'adds them beside reasoning that only the total holds',
      {
        prompt_tokens: 42,
        completion_tokens: 25,
        total_tokens: 767,
        prompt_tokens_details: { cached_tokens: 400 },
        completion_tokens_details: { reasoning_tokens: 300 },
      },
      { inputFresh: 42, inputCacheRead: 400, output: 25, outputReasoning: 300, estimated: false },
    ],
    [
      'does not add them where reasoning alone is what the total adds (xAI)',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 438,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 424 },
      },
      { inputFresh: 9, inputCacheRead: 3, output: 2, outputReasoning: 424, estimated: false },
    ],
    [
      'does not add those that are in the prompt (LiteLLM)',
      {
        prompt_tokens: 1010,
        completion_tokens: 20,
        total_tokens: 1030,
        cache_read_input_tokens: 600,
        cache_creation_input_tokens: 400,
        prompt_tokens_details: { cached_tokens: 600, cache_creation_tokens: 400 },
      },
      { inputFresh: 10, inputCacheRead: 600, inputCacheWrite5m: 400, output: 20, outputReasoning: 0, estimated: false },
    ],
    [
      'knows thinking that stands beside the details (SGLang)',
      { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30, reasoning_tokens: 15 },
      { inputFresh: 10, output: 5, outputReasoning: 15, estimated: false },
    ],
    [
      'leaves alone what cannot be within the completion (Perplexity)',
      { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30, reasoning_tokens: 900 },
      { inputFresh: 10, output: 20, outputReasoning: 0, estimated: false },
    ],
    [
      'knows the counts by the names of Responses',
      {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 15,
      },
      {
        inputFresh: 6,
        inputCacheRead: 4,
        output: 3,
        outputReasoning: 2,
        estimated: false,
        unreportedInput: false,
        unreportedOutput: false,
      },
    ],
    [
      'knows them by those of Messages, where cached tokens are counted beside the input',
      { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 600, cache_creation_input_tokens: 0 },
      { inputFresh: 10, inputCacheRead: 600, output: 5, outputReasoning: 0, estimated: false, unreportedInput: false },
    ],
    [
      'adds cached tokens that are more than the prompt, whose tokens are all accounted for by kind (Grok at Azure)',
      {
        prompt_tokens: 265,
        completion_tokens: 52,
        total_tokens: 317,
        prompt_tokens_details: { cached_tokens: 314, audio_tokens: 0, text_tokens: 9, image_tokens: 256 },
      },
      { inputFresh: 265, inputCacheRead: 314, output: 52 },
    ],
    ['knows cached tokens by the names of vendors', { prompt_tokens: 10, cached_tokens: 4 }, { inputFresh: 6, inputCacheRead: 4 }],
    [
      'knows tokens written to the cache',
      { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 2, cache_creation_input_tokens: 3 } },
      { inputFresh: 5, inputCacheRead: 2, inputCacheWrite5m: 3 },
    ],
    [
      'adds speech that is counted beside the prompt, as Mistral counts it',
      {
        prompt_audio_seconds: 3,
        prompt_tokens: 9,
        completion_tokens: 248,
        total_tokens: 632,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
      },
      { inputFresh: 384, inputAudio: 375, output: 248, estimated: false },
    ],
    [
      'does not add speech that is counted within it',
      { prompt_tokens: 384, completion_tokens: 248, total_tokens: 632, prompt_tokens_details: { audio_tokens: 375 } },
      { inputFresh: 384, inputAudio: 375, output: 248 },
    ],
    ['knows a cost in dollars', { cost: 0.5 }, { reportedCostNanos: 500_000_000 }],
    ['knows a cost by kinds', { cost: { input_tokens_cost: 0.1, total_cost: 0.5 } }, { reportedCostNanos: 500_000_000 }],
    ['knows a cost in ticks', { cost_in_usd_ticks: 5_000_000_000 }, { reportedCostNanos: 500_000_000 }],
    ['keeps a cost of nothing', { cost: 0 }, { reportedCostNanos: 0 }],
    ['counts searches', { server_tool_use: { web_search_requests: 2 } }, { webSearches: 2 }],
    ['counts searches as Perplexity does', { num_search_queries: 3 }, { webSearches: 3 }],
  ])('%s', (_, given, counts) => {
    expect(decodeUsage(given)).toMatchObject(counts)
  })

  const beyond = { prompt_tokens: 10, completion_tokens: 30, total_tokens: 60 }
  test.each<[string, JsonObject]>([
    ['reasoning is told, as none', { ...beyond, completion_tokens_details: { reasoning_tokens: 0 } }],
    ['reasoning is told beside it', { ...beyond, reasoning_tokens: 500 }],
    ['speech was sent, which the total counts', { ...beyond, prompt_audio_seconds: 3 }],
    ['cached tokens are what it adds', { ...beyond, prompt_tokens_details: { cached_tokens: 20 } }],
    ['cached and written tokens are', { ...beyond, prompt_tokens_details: { cached_tokens: 15, cache_write_tokens: 5 } }],
    ['another count is', { ...beyond, cache_read_input_tokens: 20 }],
    ['the prompt counts twice in it', { ...beyond, total_tokens: 50 }],
    ['it is less than both', { ...beyond, total_tokens: 20 }],
    ['it is no count', { ...beyond, total_tokens: 60.5 }],
    ['it cannot be one', { ...beyond, total_tokens: 1e12 }],
    ['there is no count of the prompt', { completion_tokens: 30, total_tokens: 60 }],
    ['there is no count of the completion', { prompt_tokens: 10, total_tokens: 60 }],
    ['the prompt counts nothing', { prompt_tokens: 0, completion_tokens: 30, total_tokens: 60 }],
  ])('does not take a larger total for reasoning where %s', (_, given) => {
    const { output, outputReasoning } = decodeUsage(given)
    expect([output, outputReasoning]).toEqual([Number(given['completion_tokens'] ?? 0), 0])
  })
})

test('arguments of a call that gets no name are held up to a megabyte, and then the call is sent without one', () => {
  const decoder = createChatDecoder('m/one')
  const piece = (args: string) => ({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { arguments: args } }] } }] })
  const held = Array.from({ length: 8 }, () => decoder.events(piece('x'.repeat(128 * 1024))))
  expect(held.flat().map(({ type }) => type)).toEqual(['start'])
  expect(decoder.events(piece('x')).map(({ type }) => type)).toEqual(['tool-call', 'tool-arguments'])
})
