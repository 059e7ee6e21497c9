/** Payloads of vendors that speak Chat Completions with words and members of their own, and what a client of each interface reads. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { OWN_DIALECT, type Reply, replayReply } from '../support/replay.ts'
import { calling, chunk, reported, USAGE, whole } from '../support/upstream-replies.ts'

const assistant = { role: 'assistant', content: 'Hi' }
const answer = (message: object, finish: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: finish }],
  usage: USAGE,
})

describe.each([...CLIENT_DIALECTS])('%s', (client) => {
  const textOf = async (reply: Reply): Promise<string> => (await replayReply(client, 'openai-chat', reply)).text
  const read = async (reply: Reply): Promise<Reading> =>
    readAnswer(OWN_DIALECT[client], reply.type === 'text/event-stream', await textOf(reply))

  describe('the word that ends an answer, whole and in a stream', () => {
    const both = (finish: string): readonly Reply[] => [
      whole(answer(assistant, finish)),
      reported('openai-chat', chunk(assistant), chunk({}, finish, { usage: USAGE }), '[DONE]'),
    ]

    test.each([
      ['model_context_window_exceeded', 'length'],
      ['max_output', 'length'],
      ['MAX_TOKENS', 'length'],
      ['repetition', 'length'],
      ['sensitive', 'content_filter'],
      ['content_filter: PROHIBITED_CONTENT', 'content_filter'],
      ['eos_token', 'stop'],
      ['COMPLETE', 'stop'],
    ])('%s is %s', async (word, stop) => {
      for (const reply of both(word)) expect(await read(reply)).toMatchObject({ text: 'Hi', stop })
    })

    test.each(['network_error', 'abort', 'function_call_filter: MALFORMED_FUNCTION_CALL'])('%s is a failure', async (word) => {
      for (const reply of both(word)) expect(await textOf(reply)).toContain('"error_type":"provider_unavailable"')
    })
  })

  describe('an error without a member of its own is none of the answer', () => {
    const failed = { object: 'error', message: 'CUDA out of memory', type: 'InternalServerError', param: null, code: 500 }
    const limited = { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded', request_id: 'r' }

    test.each([
      [failed, 'server'],
      [limited, 'rate_limit_exceeded'],
    ])('%o is %s', async (error, type) => {
      for (const reply of [
        reported('openai-chat', chunk(assistant), error, '[DONE]'),
        reported('openai-chat', error, '[DONE]'),
        whole(error),
      ])
        expect(await textOf(reply)).toContain(`"error_type":"${type}"`)
    })
  })

  test.each(['data: ping', 'data: keep-alive', 'event: ping\ndata: {}', 'event: heartbeat\ndata: 12', 'data: null', 'data:'])(
    '%j keeps a stream open and says nothing',
    async (ping) => {
      const [first, ...rest] = [chunk(assistant), chunk({}, 'stop', { usage: USAGE }), '[DONE]'].map(
        (each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`,
      )
      const bytes = new TextEncoder().encode([`${ping}\n\n`, first, `${ping}\n\n`, ...rest].join(''))
      expect(await read({ type: 'text/event-stream', pieces: [bytes] })).toMatchObject({ text: 'Hi', stop: 'stop' })
    },
  )

  test.each<[string, unknown, Partial<Reading>]>([
    ['texts without a type', ['Hi', ' there'], { text: 'Hi there' }],
    ['texts as in Responses', [{ type: 'output_text', text: 'Hi' }], { text: 'Hi' }],
    [
      'thinking of Databricks',
      [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'text', text: 'Hi' },
      ],
      { text: 'Hi', reasoning: 'hm' },
    ],
  ])('a list of %s is read', async (_, content, said) => {
    for (const reply of [
      whole(answer({ role: 'assistant', content }, 'stop')),
      reported('openai-chat', chunk({ role: 'assistant', content }), chunk({}, 'stop', { usage: USAGE }), '[DONE]'),
    ])
      expect(await read(reply)).toMatchObject(said)
  })

  test("a whole answer with an empty `delta` beside its message, as Perplexity's, is read", async () => {
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Hi' }, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' },
    ]
    expect(await read(whole({ ...answer({}, 'stop'), choices }))).toMatchObject({ text: 'Hi', stop: 'stop' })
  })

  describe('the whole message at the end of a stream, as MiniMax sends it (github.com/GCWing/OpenBitFun, pull request 792)', () => {
    const NOTHING_YET = { usage: { total_tokens: 0, total_characters: 0 }, input_sensitive: false, output_sensitive: false }
    const BASE = { base_resp: { status_code: 0, status_msg: '' } }
    const shut = (message: object, finish: string): object => ({ ...answer(message, finish), ...NOTHING_YET, ...BASE, usage: USAGE })
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"Bern"}' } }

    test('repeats the words that came before, and its usage and its end count', async () => {
      const message = { ...assistant, content: 'Hi there', reasoning_content: 'So.', name: 'MiniMax AI' }
      const reply = reported(
        'openai-chat',
        chunk({ role: '', reasoning_content: 'So.' }, null, NOTHING_YET),
        chunk({ role: 'assistant', content: 'Hi ' }, null, NOTHING_YET),
        chunk({ role: 'assistant', content: 'there' }, null, NOTHING_YET),
        shut(message, 'stop'),
      )
      expect(await read(reply)).toMatchObject({ text: 'Hi there', reasoning: 'So.', stop: 'stop', usage: { input: 7, output: 3 } })
    })

    test('repeats the calls that came before', async () => {
      const reply = reported(
        'openai-chat',
        chunk({ role: 'assistant', content: 'Hi' }, null, NOTHING_YET),
        chunk(calling(0, 'call_1', 'look', '{"at":"Bern"}'), null, NOTHING_YET),
        shut({ ...assistant, tool_calls: [call] }, 'tool_calls'),
      )
      const { calls, text, stop } = await read(reply)
      expect([text, stop, calls]).toEqual(['Hi', 'tool_calls', [{ id: 'call_1', name: 'look', arguments: { at: 'Bern' } }]])
    })

    test('is the answer if nothing came before', async () => {
      expect(await read(reported('openai-chat', shut({ ...assistant, tool_calls: [call] }, 'tool_calls')))).toMatchObject({
        text: 'Hi',
        calls: [{ name: 'look' }],
      })
    })
  })

  test('members without content beside the ones that count, as Snowflake writes them, say nothing', async () => {
    const empty = {
      annotations: null,
      audio: { data: '', expires_at: 0, id: '', transcript: '' },
      function_call: { arguments: '', name: '' },
      refusal: '',
    }
    const call = { id: 'a', type: 'function', custom: { input: '', name: '' }, function: { name: 'look', arguments: '{"at":1}' } }
    const words = { ...assistant, ...empty, tool_calls: null }
    const called = { ...words, tool_calls: [call] }
    for (const reply of [
      whole(answer(words, '')),
      reported('openai-chat', chunk(words), chunk(words, ''), chunk({}, null, { usage: USAGE }), '[DONE]'),
    ]) {
      const { text, headers } = await replayReply(client, 'openai-chat', reply)
      const reading = await readAnswer(OWN_DIALECT[client], reply.type === 'text/event-stream', text)
      expect(reading).toMatchObject({ calls: [], refusal: '', stop: 'stop' })
      expect(headers.get('x-service-warnings')).toBeNull()
    }
    for (const reply of [whole(answer(called, '')), reported('openai-chat', chunk({ tool_calls: [{ index: 0, ...call }] }), '[DONE]')])
      expect(await read(reply)).toMatchObject({ calls: [{ id: 'a', name: 'look', arguments: { at: 1 } }], stop: 'tool_calls' })
  })

  test('an object as content, as Cloudflare answers where JSON was asked for, is its text', async () => {
    const content = { title: 'A', pages: [1] }
    const reading = await read(whole(answer({ role: 'assistant', content }, 'stop')))
    expect(reading.text).toBe('{"title":"A","pages":[1]}')
  })

  test('the usage beside an error of a router is charged, whether the error ends the answer or comes after its end', async () => {
    const usage = { prompt_tokens: 4300, completion_tokens: 1000, total_tokens: 5300 }
    const error = { code: 400, message: 'Token limit reached' }
    const last = { ...chunk({ role: 'assistant', content: '' }, null, { usage }), error }
    for (const reply of [
      reported('openai-chat', chunk(assistant), last, '[DONE]'),
      reported('openai-chat', chunk(assistant, 'length'), last, '[DONE]'),
      whole({ ...answer(assistant, 'stop'), usage, error }),
    ]) {
      const { run } = await replayReply(client, 'openai-chat', reply)
      expect(run?.bill.usage).toMatchObject({ inputFresh: 4300, output: 1000, estimated: false })
    }
  })

  test.each([null, undefined])('the arguments of a whole call that are %p are an empty object', async (args) => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: args } }]
    const reading = await read(whole(answer({ role: 'assistant', content: null, tool_calls: calls }, 'tool_calls')))
    expect(reading.calls).toEqual([{ id: 'a', name: 'look', arguments: {} }])
  })
})

describe.each(['responses', 'messages'] as const)('%s', (client) => {
  const page = { title: 'A', content: 'About a.' }
  const url = 'https://a.example'

  test.each<[string, object, object]>([
    ['Z.ai', {}, { web_search: [{ ...page, link: url, media: 'm', icon: '' }] }],
    ['Groq', { executed_tools: [{ index: 0, type: 'search', search_results: { results: [{ ...page, url, score: 1 }] } }] }, {}],
    ['Azure, from its own data', { context: { citations: [{ ...page, url, filepath: 'a', chunk_id: '0' }], intent: '[]' } }, {}],
  ])('the sources of %s are cited, whole and in a stream', async (_, beside, outside) => {
    for (const reply of [
      whole({ ...answer({ ...assistant, ...beside }, 'stop'), ...outside }),
      reported('openai-chat', chunk(beside), chunk(assistant), chunk({}, 'stop', { usage: USAGE, ...outside }), '[DONE]'),
    ]) {
      const { text } = await replayReply(client, 'openai-chat', reply)
      const reading = await readAnswer(OWN_DIALECT[client], reply.type === 'text/event-stream', text)
      expect(reading).toMatchObject({ text: 'Hi', sources: [url] })
    }
  })

  test('the tools that Groq ran itself are left out with a warning', async () => {
    const reply = whole(answer({ ...assistant, executed_tools: [{ index: 0, type: 'python', arguments: '1', output: '1' }] }, 'stop'))
    const { headers } = await replayReply(client, 'openai-chat', reply)
    expect(headers.get('x-service-warnings')).toBe('1')
  })
})
