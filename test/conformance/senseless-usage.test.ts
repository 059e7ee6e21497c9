/** An impossible token count of a provider is not passed on: usage is estimated from what was delivered, marked as such, and charged. */
import { describe, expect, test } from 'bun:test'

import { NO_COST } from '../../src/canonical/cost.ts'
import { streamBytes, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, type Reply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

const TEXT = 'Hello there, whoever reads this.'
/** The client dialect to which the upstream's answer is relayed, if there is one. */
const CLIENT = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  anthropic: 'messages',
  google: 'chat',
  bedrock: 'messages',
} as const
const PRICES = { prompt: 1, completion: 2, audio: 30, completion_audio: 40, completion_image: 50, web_search: 1 }

interface UsageShape {
  readonly input: string
  readonly output: string
  /** The JSON of the answer, with this JSON of its usage. */
  readonly whole: (usage: string) => string
  /** The JSON of the events. */
  readonly stream: (usage: string) => readonly string[]
}

const TEXT_JSON = JSON.stringify(TEXT)
const RESPONSE = (usage: string): string =>
  `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":${TEXT_JSON},"annotations":[]}]}],"usage":${usage}}`

const USAGE_SHAPES: Readonly<Record<UpstreamDialect, UsageShape>> = {
  'openai-chat': {
    input: 'prompt_tokens',
    output: 'completion_tokens',
    whole: (usage) =>
      `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":${TEXT_JSON}},"finish_reason":"stop"}],"usage":${usage}}`,
    stream: (usage) => [
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":${TEXT_JSON}},"finish_reason":"stop"}]}`,
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":${usage}}`,
    ],
  },
  'openai-responses': {
    input: 'input_tokens',
    output: 'output_tokens',
    whole: RESPONSE,
    stream: (usage) => [`{"type":"response.completed","response":${RESPONSE(usage)}}`],
  },
  anthropic: {
    input: 'input_tokens',
    output: 'output_tokens',
    whole: (usage) =>
      `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":${TEXT_JSON}}],"stop_reason":"end_turn","stop_sequence":null,"usage":${usage}}`,
    stream: (usage) => [
      `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":${usage}}}`,
      `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
      `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${TEXT_JSON}}}`,
      `{"type":"content_block_stop","index":0}`,
      `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":${usage}}`,
      `{"type":"message_stop"}`,
    ],
  },
  google: {
    input: 'promptTokenCount',
    output: 'candidatesTokenCount',
    whole: (usage) =>
      `{"candidates":[{"content":{"role":"model","parts":[{"text":${TEXT_JSON}}]},"finishReason":"STOP"}],"usageMetadata":${usage}}`,
    stream: (usage) => [
      `{"candidates":[{"content":{"role":"model","parts":[{"text":${TEXT_JSON}}]},"finishReason":"STOP"}],"usageMetadata":${usage}}`,
    ],
  },
  bedrock: {
    input: 'inputTokens',
    output: 'outputTokens',
    whole: (usage) =>
      `{"output":{"message":{"role":"assistant","content":[{"text":${TEXT_JSON}}]}},"stopReason":"end_turn","usage":${usage}}`,
    stream: (usage) => [
      '{"messageStart":{"role":"assistant"}}',
      `{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":${TEXT_JSON}}}}`,
      '{"contentBlockStop":{"contentBlockIndex":0}}',
      '{"messageStop":{"stopReason":"end_turn"}}',
      `{"metadata":{"usage":${usage}}}`,
    ],
  },
}

const charged = async (dialect: UpstreamDialect, stream: boolean, usage: string) => {
  const shape = USAGE_SHAPES[dialect]
  const bytes = stream ? streamBytes(dialect, shape.stream(usage)) : new TextEncoder().encode(shape.whole(usage))
  const reply: Reply = { type: stream ? 'text/event-stream' : 'application/json', pieces: [bytes] }
  const { run, internalErrors } = await replay({
    client: CLIENT[dialect],
    upstreams: [{ dialect, reply }],
    body: question(CLIENT[dialect], stream),
    prices: PRICES,
  })
  expect([internalErrors, run?.log.error]).toEqual([[], null])
  return { usage: run?.bill.usage, cost: run?.bill.cost ?? NO_COST }
}

const BOTH = ['null', '"12"', '-1', '1000000001', '1.5', '1e999', '[]', '{}', 'true']

describe.each(UPSTREAM_DIALECTS)('%s', (dialect) => {
  const { input, output } = USAGE_SHAPES[dialect]
  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole'
    test.each([
      ...BOTH.map((value) => `{"${input}":${value},"${output}":${value}}`),
      '{}',
      'null',
      '"much"',
      '7',
      '[]',
      `{"${input}":0,"${output}":0}`,
    ])(`${how}: %s is estimated, marked and charged`, async (usage) => {
      const { usage: counted, cost } = await charged(dialect, stream, usage)
      expect(counted).toMatchObject({ estimated: true, output: TEXT.length / 4 })
      expect(counted?.inputFresh).toBeGreaterThan(0)
      expect(cost.totalNanos).toBeGreaterThanOrEqual((TEXT.length / 4) * 2000)
    })

    test.each(BOTH)(`${how}: %s on one side leaves the other as it was told`, async (value) => {
      const senselessOutput = await charged(dialect, stream, `{"${input}":70,"${output}":${value}}`)
      expect(senselessOutput.usage).toMatchObject({ estimated: true, inputFresh: 70, output: TEXT.length / 4 })
      const senselessInput = await charged(dialect, stream, `{"${input}":${value},"${output}":90}`)
      expect(senselessInput.usage).toMatchObject({ estimated: true, output: 90 })
      expect(senselessInput.usage?.inputFresh).toBeGreaterThan(0)
    })

    test(`${how}: what can be is taken as it was told`, async () => {
      const { usage, cost } = await charged(dialect, stream, `{"${input}":70,"${output}":90}`)
      expect([usage?.estimated, usage?.inputFresh, usage?.output, cost.totalNanos]).toEqual([false, 70, 90, 70_000 + 180_000])
    })
  }
})

test.each(['chat', 'responses', 'messages'] as const)(
  '%s: speech that nobody counted is estimated from its transcript, and charged',
  async (client) => {
    for (const stream of [false, true]) {
      const choice = (said: string, finish: string): string =>
        `{"id":"c","model":"m","choices":[{"index":0,"${stream ? 'delta' : 'message'}":${said},"finish_reason":${finish}}]}`
      const half = (transcript: string): string => `{"role":"assistant","audio":{"id":"a","data":"AAAA","transcript":"${transcript}"}}`
      const bytes = stream
        ? streamBytes('openai-chat', [choice(half('Hello there, '), 'null'), choice(half('whoever.'), 'null'), choice('{}', '"stop"')])
        : new TextEncoder().encode(choice(half('Hello there, whoever.'), '"stop"'))
      const reply: Reply = { type: stream ? 'text/event-stream' : 'application/json', pieces: [bytes] }
      const { run } = await replay({
        client,
        upstreams: [{ dialect: 'openai-chat', reply }],
        body: question(client, stream),
        prices: PRICES,
      })
      expect(run?.bill.usage).toMatchObject({ estimated: true, output: 6 })
      expect(run?.bill.usage.inputFresh).toBeGreaterThan(0)
    }
  },
)

describe('speech without a transcript that nobody counted is estimated from its bytes, and charged', () => {
  // Two seconds of 24,000 samples each, two bytes a sample, at 20 tokens a second.
  const data = Buffer.alloc(2 * 48_000).toString('base64')
  const pcm = { mimeType: 'audio/L16;codec=pcm;rate=24000', data }
  const spoken = (said: 'delta' | 'message'): object => ({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, [said]: { role: 'assistant', audio: { id: 'a', data } }, finish_reason: 'stop' }],
  })
  const google = { candidates: [{ content: { role: 'model', parts: [{ inlineData: pcm }] }, finishReason: 'STOP' }] }
  test.each<[UpstreamDialect, boolean, object]>([
    ['openai-chat', false, spoken('message')],
    ['openai-chat', true, spoken('delta')],
    ['google', false, google],
    ['google', true, google],
  ])('%s, stream: %p', async (dialect, stream, answer) => {
    const reply = stream ? reported(dialect, answer) : whole(answer)
    const { run } = await replay({ client: 'chat', upstreams: [{ dialect, reply }], body: question('chat', stream), prices: PRICES })
    expect(run?.bill.usage).toMatchObject({ estimated: true, output: 40 })
    expect(run?.bill.cost.totalNanos).toBeGreaterThan(80_000)
  })
})

describe('parts that are more than their whole', () => {
  test.each<[UpstreamDialect, string]>([
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"prompt_tokens_details":{"cached_tokens":71}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"completion_tokens_details":{"reasoning_tokens":91}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"prompt_tokens_details":{"cached_tokens":-5}}'],
    ['openai-responses', '{"input_tokens":70,"output_tokens":90,"input_tokens_details":{"cached_tokens":71}}'],
    ['openai-responses', '{"input_tokens":70,"output_tokens":90,"output_tokens_details":{"reasoning_tokens":"9"}}'],
    ['anthropic', '{"input_tokens":70,"output_tokens":90,"output_tokens_details":{"thinking_tokens":91}}'],
    ['google', '{"promptTokenCount":70,"candidatesTokenCount":90,"cachedContentTokenCount":71}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"prompt_tokens_details":{"audio_tokens":71}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"completion_tokens_details":{"audio_tokens":-5}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"completion_tokens_details":{"image_tokens":"9"}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"server_tool_use":{"web_search_requests":-1}}'],
    ['openai-chat', '{"prompt_tokens":70,"completion_tokens":90,"num_search_queries":1.5}'],
    ['openai-responses', '{"input_tokens":70,"output_tokens":90,"input_tokens_details":{"audio_tokens":"7"}}'],
    ['openai-responses', '{"input_tokens":70,"output_tokens":90,"output_tokens_details":{"image_tokens":91}}'],
    ['anthropic', '{"input_tokens":70,"output_tokens":90,"server_tool_use":{"web_search_requests":"x"}}'],
    ['google', '{"promptTokenCount":70,"candidatesTokenCount":90,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":71}]}'],
    ['google', '{"promptTokenCount":70,"candidatesTokenCount":90,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":-1}]}'],
  ])('%s: %s: the whole counts at its plain price, marked as an estimate', async (dialect, usage) => {
    for (const stream of [false, true]) {
      const { usage: counted, cost } = await charged(dialect, stream, usage)
      expect([counted?.estimated, cost.totalNanos]).toEqual([true, 70_000 + 180_000])
    }
  })
})

test('a split of what was written to the cache that is more than all of it is marked, and all of it is charged', async () => {
  const usage = '{"input_tokens":50,"output_tokens":90,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":50}}'
  for (const stream of [false, true]) {
    const { usage: counted, cost } = await charged('anthropic', stream, usage)
    expect([counted?.estimated, cost.totalNanos]).toEqual([true, 70_000 + 180_000])
  }
})

test('two steps of a stream: what the second cannot mean leaves what the first said, and output that nobody counted is estimated', async () => {
  const [start = '', ...rest] = USAGE_SHAPES.anthropic.stream('{"input_tokens":70,"cache_read_input_tokens":5,"output_tokens":1}')
  const ends = ['{}', '{"output_tokens":"x","input_tokens":-4}', '{"output_tokens":1.5}', 'null']
  for (const end of ends) {
    const events = [
      start,
      ...rest.slice(0, 3),
      `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":${end}}`,
      '{"type":"message_stop"}',
    ]
    const reply: Reply = { type: 'text/event-stream', pieces: [streamBytes('anthropic', events)] }
    const { run } = await replay({
      client: 'messages',
      upstreams: [{ dialect: 'anthropic', reply }],
      body: question('messages', true),
      prices: PRICES,
    })
    expect(run?.bill.usage).toMatchObject({ inputFresh: 70, inputCacheRead: 5, output: TEXT.length / 4, estimated: true })
  }
})

describe('counts that come twice in a chat stream', () => {
  const COUNTED = '{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}'
  const chunkOf = (content: string, finish: string | null): string =>
    `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":${JSON.stringify(finish)}}]}`
  const counting = (usage: string): string =>
    `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":${usage}}`
  const streamed = async (...payloads: readonly string[]) => {
    const reply: Reply = { type: 'text/event-stream', pieces: [streamBytes('openai-chat', payloads)] }
    const { run } = await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', reply }], body: question('chat', true) })
    return run?.bill.usage
  }

  test.each([
    '{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}',
    '{"prompt_tokens":null}',
    '{"prompt_tokens":-1,"completion_tokens":1.5}',
  ])('%s behind good ones leaves them as they were', async (later) => {
    const usage = await streamed(chunkOf('Hello', 'stop'), counting(COUNTED), counting(later))
    expect(usage).toMatchObject({ inputFresh: 100, output: 50, estimated: false })
  })

  test('good ones replace the earlier', async () => {
    const usage = await streamed(
      chunkOf('Hello', 'stop'),
      counting(COUNTED),
      counting('{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}'),
    )
    expect(usage).toMatchObject({ inputFresh: 10, output: 5, estimated: false })
  })

  test('an earlier count of the output is the least that is charged where more was said behind it', async () => {
    const usage = await streamed(
      chunkOf('Hello', null),
      counting('{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105}'),
      chunkOf('x'.repeat(400), 'stop'),
      counting('{"prompt_tokens":100,"completion_tokens":0,"total_tokens":100}'),
    )
    expect(usage).toMatchObject({ inputFresh: 100, output: 102, estimated: true })
  })
})
