/** A write to a cache is charged by how long the cache lives, which not every provider tells. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { question, replay } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

type Json = Readonly<Record<string, unknown>>

/** Output costs nothing, and a thousand tokens of input a thousandth of each of these dollars. */
const PRICES = { prompt: 1, completion: 0, cache_write: 2, cache_write_1h: 4 }
const MINUTES = 2_000_000
const HOURS = 4_000_000

const MESSAGE = { role: 'assistant', content: 'Yes' }
const SAID = [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Yes' }] }]

const ANSWERS: Readonly<Record<'openai-chat' | 'openai-responses' | 'anthropic' | 'bedrock', (usage: Json) => Json>> = {
  'openai-chat': (usage) => ({ id: 'c', choices: [{ index: 0, message: MESSAGE, finish_reason: 'stop' }], usage }),
  'openai-responses': (usage) => ({ id: 'resp_1', status: 'completed', output: SAID, usage }),
  anthropic: (usage) => ({ id: 'msg_1', role: 'assistant', content: [{ type: 'text', text: 'Yes' }], stop_reason: 'end_turn', usage }),
  bedrock: (usage) => ({
    output: { message: { role: 'assistant', content: [{ text: 'Yes' }] } },
    stopReason: 'end_turn',
    usage,
  }),
}

/** The nano-dollars of an answer that wrote a thousand tokens, and whether they are an estimate. */
const charged = async (
  client: ClientDialect,
  dialect: keyof typeof ANSWERS,
  usage: Json,
  asked: Json,
  slug = 'a-proxy',
): Promise<[number | undefined, boolean | undefined]> => {
  const upstreams = [{ dialect, slug, model: 'gpt-6.2-sol', reply: whole(ANSWERS[dialect](usage)) }] as const
  const { run } = await replay({ client, upstreams, body: { ...question(client, false), ...asked }, prices: PRICES })
  return [run?.bill.cost.totalNanos, run?.bill.usage.estimated]
}

const MESSAGES_FOR = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } })
const OPENAI_FOR = (ttl: string) => ({ prompt_cache_options: { mode: 'implicit', ttl } })

const UNSPLIT: readonly (readonly [UpstreamDialect & keyof typeof ANSWERS, ClientDialect, Json, (ttl: string) => Json, string, string])[] =
  [
    [
      'openai-chat',
      'chat',
      { prompt_tokens: 1000, completion_tokens: 1, prompt_tokens_details: { cache_write_tokens: 1000 } },
      OPENAI_FOR,
      '30m',
      '12h',
    ],
    [
      'openai-responses',
      'responses',
      { input_tokens: 1000, output_tokens: 1, input_tokens_details: { cache_write_tokens: 1000 } },
      OPENAI_FOR,
      '30m',
      '12h',
    ],
    ['anthropic', 'messages', { input_tokens: 0, output_tokens: 1, cache_creation_input_tokens: 1000 }, MESSAGES_FOR, '5m', '1h'],
    ['bedrock', 'messages', { inputTokens: 0, outputTokens: 1, cacheWriteInputTokens: 1000 }, MESSAGES_FOR, '5m', '1h'],
  ]

describe.each(UNSPLIT)('%s does not tell for how long it keeps what it wrote', (dialect, client, usage, asked, short, long) => {
  test('a request for hours is charged for hours, as an estimate', async () => {
    expect(await charged(client, dialect, usage, asked(long), 'openai')).toEqual([HOURS, true])
  })

  test('any other request is charged for minutes', async () => {
    expect(await charged(client, dialect, usage, asked(short), 'openai')).toEqual([MINUTES, false])
    expect(await charged(client, dialect, usage, {}, 'openai')).toEqual([MINUTES, false])
  })

  test('words of the user ask for nothing', async () => {
    const said = JSON.stringify({ ttl: long })
    const words = client === 'responses' ? { input: said } : { messages: [{ role: 'user', content: said }] }
    expect(await charged(client, dialect, usage, words, 'openai')).toEqual([MINUTES, false])
  })
})

describe('a split that the provider tells counts, whatever was asked for', () => {
  const DETAILS = { cached_tokens: 0, cache_write_tokens: 1000 }

  test.each<[string, keyof typeof ANSWERS, ClientDialect, Json]>([
    [
      "OpenAI's",
      'openai-responses',
      'responses',
      {
        input_tokens: 1000,
        output_tokens: 1,
        input_tokens_details: { ...DETAILS, cache_write_tokens_details: { ttl_30m_tokens: 500, ttl_12h_tokens: 500 } },
      },
    ],
    [
      "LiteLLM's",
      'openai-chat',
      'chat',
      {
        prompt_tokens: 1000,
        completion_tokens: 1,
        prompt_tokens_details: {
          ...DETAILS,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 500 },
        },
      },
    ],
    [
      "Anthropic's, passed on in a chat answer",
      'openai-chat',
      'chat',
      {
        prompt_tokens: 1000,
        completion_tokens: 1,
        cache_creation_input_tokens: 1000,
        cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 500 },
      },
    ],
    [
      "Anthropic's",
      'anthropic',
      'messages',
      {
        input_tokens: 0,
        output_tokens: 1,
        cache_creation_input_tokens: 1000,
        cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 500 },
      },
    ],
    [
      "Bedrock's",
      'bedrock',
      'messages',
      {
        inputTokens: 0,
        outputTokens: 1,
        cacheWriteInputTokens: 1000,
        cacheDetails: [
          { ttl: '5m', inputTokens: 500 },
          { ttl: '1h', inputTokens: 500 },
        ],
      },
    ],
  ])('%s', async (_, dialect, client, usage) => {
    const asked = client === 'messages' ? MESSAGES_FOR('1h') : OPENAI_FOR('12h')
    expect(await charged(client, dialect, usage, asked)).toEqual([3_000_000, false])
  })

  test('what the end of a stream counts beyond the split of its start is charged for hours where they were asked for', async () => {
    const created = (all: number, more: Json = {}): Json => ({
      input_tokens: 0,
      output_tokens: 1,
      cache_creation_input_tokens: all,
      ...more,
    })
    const split = { cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400 } }
    const reply = reported(
      'anthropic',
      { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: created(400, split) } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: created(1000) },
      { type: 'message_stop' },
    )
    const body = { ...question('messages', true), ...MESSAGES_FOR('1h') }
    const { run } = await replay({ client: 'messages', upstreams: [{ dialect: 'anthropic', reply }], body, prices: PRICES })
    expect(run?.bill.cost.totalNanos).toBe(HOURS)
  })
})
