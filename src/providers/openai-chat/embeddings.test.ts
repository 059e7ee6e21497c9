import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { type Script, startFakeUpstream } from '../../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import { embeddingsRequest } from '../../request-fields/schemas/embeddings.ts'
import type { ErrorType } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { createUpstream } from '../transport/upstream.ts'
import { attemptTo } from '../attempt.test-kit.ts'
import { embeddings, hasEmbeddings } from './embeddings.ts'
import { targetOf } from './encode.test-kit.ts'

const upstream = await startFakeUpstream()

const ANSWER =
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-2e-3]}],"model":"one-1","usage":{"prompt_tokens":4,"total_tokens":4}}'

const post = async (
  script: Script,
  json: string,
  vendor = 'acme',
  query = '',
): Promise<{ answer: JsonBody; events: readonly ModelEvent[]; lost: readonly string[] }> => {
  upstream.script(script)
  const clock = createFakeClock()
  const lost: string[] = []
  const frames: Frame[] = []
  await embeddings(
    attemptTo({ ...targetOf(vendor), baseUrl: upstream.url + query }, { body: JsonBody.read(json) }, ({ field }) => lost.push(field)),
    { upstream: createUpstream(clock, { streamHeadersMs: 1000, wholeHeadersMs: 1000, idleMs: 1000 }), clock },
    (taken) => void frames.push(...taken),
  )
  const [frame] = frames
  return { answer: JsonBody.read(frame?.native?.json ?? ''), events: frame?.events ?? [], lost }
}

const answered: Script = (exchange) => exchange.answer(200, ANSWER)

describe('embeddings', () => {
  test('go up as the client wrote them, but for the model and what addresses this service', async () => {
    const { answer, events, lost } = await post(
      answered,
      '{"model":"acme/one","input" : ["H\\u0069", ""],"dimensions":1e2,"provider":{},"session_id":"s","encoding_format":"float"}',
    )
    expect([upstream.last.path, upstream.last.headers['authorization']]).toEqual(['/v1/embeddings', 'Bearer k'])
    expect(upstream.last.text).toBe('{"model":"one-1","input" : ["H\\u0069", ""],"dimensions":1e2,"encoding_format":"float"}')
    expect([answer.text, lost]).toEqual([ANSWER, []])
    expect(events).toEqual([{ type: 'usage', usage: usageOf({ inputFresh: 4, unreportedOutput: true }) }])
  })

  describe('in base64, as OpenAI’s libraries ask for by themselves,', () => {
    const inBase64 = async (data: string): Promise<unknown> => {
      const { answer } = await post(
        (exchange) => exchange.answer(200, `{"object":"list","data":${data},"usage":{"prompt_tokens":4,"total_tokens":4}}`),
        '{"model":"a/b","input":["a","b"],"encoding_format":"base64"}',
      )
      expect(upstream.last.body['encoding_format']).toBe('base64')
      return answer.get('data')
    }

    test('come so from a server that writes numbers whatever it is asked', async () => {
      const data = await inBase64('[{"index":0,"embedding": [0.5,-2e-3]},{"embedding":[],"index":1},{"index":2,"embedding":[\n1 , 2\n]}]')
      expect(data).toEqual([
        { index: 0, embedding: 'AAAAP28SA7s=' },
        { embedding: '', index: 1 },
        { index: 2, embedding: 'AACAPwAAAEA=' },
      ])
    })

    test.each(['"AAAAP28SA7s="', '[[0.5],[1]]', '[null,1]', '{"dense":[1]}', '"\\"embedding\\":[1]"'])(
      'stay as they are if they are no numbers: %s',
      async (embedding) => {
        expect(await inBase64(`[{"embedding":${embedding}}]`)).toEqual([{ embedding: JSON.parse(embedding) as unknown }])
      },
    )
  })

  test('go up in the vendor’s words', async () => {
    const { lost } = await post(answered, '{"model":"a/b","input":"a","dimensions":256,"input_type":"search_query","user":null}', 'mistral')
    expect([upstream.last.text, lost]).toEqual(['{"model":"one-1","input":"a","output_dimension":256}', ['input_type']])
  })

  test('go where a base URL with a query says, with the vendor’s header', async () => {
    await post(answered, '{"model":"a/b","input":"a"}', 'azure', '/?api-version=2026-01-01')
    expect([upstream.last.path, upstream.last.headers['api-key'], upstream.last.headers['authorization']]).toEqual([
      '/v1/embeddings?api-version=2026-01-01',
      'k',
      undefined,
    ])
  })

  test.each<[number, string, ErrorType]>([
    [401, '{"error":{"message":"no"}}', 'provider_unavailable'],
    [404, '', 'not_found'],
    [429, '{"error":{"code":"rate_limit_exceeded","message":"x"}}', 'rate_limit_exceeded'],
    [200, '{"error":{"message":"x","code":429}}', 'rate_limit_exceeded'],
    [200, '<html>', 'provider_unavailable'],
    [200, '', 'provider_unavailable'],
    [200, '{"object":"list"}', 'provider_unavailable'],
    [200, ANSWER.slice(0, 80), 'provider_unavailable'],
    [200, ANSWER.replace('0.10', 'NaN'), 'provider_unavailable'],
    [200, ANSWER.replace('0.10,', '0.10,,'), 'provider_unavailable'],
    [200, ANSWER.replace('"index":0', '"index" 0'), 'provider_unavailable'],
  ])('%d %s is %s', async (status, body, type) => {
    const failed = post((exchange) => exchange.answer(status, body), '{"model":"a/b","input":"a"}')
    expect(
      await failed.then(
        () => null,
        (error: unknown) => error,
      ),
    ).toMatchObject({ type })
  })

  test('422: a provider has none', async () => {
    expect([hasEmbeddings({ provider: 'groq' }), hasEmbeddings({ provider: 'openai' }), hasEmbeddings({ provider: 'my-server' })]).toEqual([
      false,
      true,
      true,
    ])
    const failed = post(answered, '{"model":"a/b","input":"a"}', 'groq')
    expect(
      await failed.then(
        () => null,
        (error: unknown) => error,
      ),
    ).toMatchObject({ type: 'unprocessable', status: 422 })
  })
})

test.each<[string, unknown, boolean]>([
  ['a text', 'a', true],
  ['texts', ['a', 'b'], true],
  ['tokens', [1, 2], true],
  ['lists of tokens', [[1], [2, 3]], true],
  ['media', [{ content: [{ type: 'image_url', image_url: { url: 'https://a.example' } }] }], true],
  ['nothing', '', false],
  ['an empty list', [], false],
  ['half a token', [1.5], false],
])('the input may be %s: %#', (_, input, valid) => {
  expect(embeddingsRequest.safeParse({ model: 'a/b', input, other: 1 }).success).toBe(valid)
})
