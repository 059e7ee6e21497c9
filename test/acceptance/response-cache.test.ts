/** The response cache over HTTP: which answers are cached, for whom, and what is reported (docs/response-cache.md). */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, type CallOptions, createKey, infer, savePreset } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { describeEachEngine } from '../support/databases.ts'
import { dataEvent, proseAnswer, proseChunk, say, startFakeUpstream, type Script } from '../support/fake-upstream.ts'
import { readAnswer } from '../support/read-answer.ts'
import { HAS_REDIS, startRedis } from '../support/redis.ts'
import { recording } from '../support/recordings.ts'
import { until, useServices } from '../support/started-service.ts'
import { reportedBytes, type ReportedAnswer } from '../support/reported-answers.ts'

const services = useServices()
const upstream = await startFakeUpstream()

const UPSTREAMS = ['openai-chat', 'openai-responses', 'anthropic'] as const
const CONFIG = `
providers:
${UPSTREAMS.map((dialect) => `  p-${dialect}: { name: P, dialects: [${dialect}], base_url: "${upstream.url}", api_key: k }`).join('\n')}
models:
${UPSTREAMS.map((dialect) => `  m/${dialect}: { endpoints: [{ provider: p-${dialect}, model: up, prices: { prompt: 1, completion: 1000 } }] }`).join('\n')}
`

const service = await services.start({ config: CONFIG })

const ON = { 'x-openrouter-cache': 'true' }
const messages = [{ role: 'user', content: 'Hello!' }] as const
const CHAT = { model: 'm/openai-chat', messages }
let asked = 0
/** A conversation that no other test uses. */
const fresh = (more: object = {}): typeof CHAT & Record<string, unknown> => {
  asked += 1
  return { ...CHAT, messages: [{ role: 'user', content: `Hello ${asked}!` }], ...more } as never
}

const cacheOf = ({ headers }: Answer): Record<string, string | null> =>
  Object.fromEntries(['status', 'age', 'ttl', 'source-id'].map((name) => [name, headers.get(`x-openrouter-cache-${name}`)]))
const statusOf = (answer: Answer): string | null => answer.headers.get('x-openrouter-cache-status')
const idOf = ({ headers }: Answer): string => headers.get('x-generation-id') ?? ''

/** The statuses of requests sent one after the other. */
const statuses = async (
  ...requests: readonly [body: object | string, options?: CallOptions & { path?: string }][]
): Promise<(string | null)[]> => {
  const reported: (string | null)[] = []
  for (const [body, options] of requests) {
    const answer = await infer(service, body as string, { headers: ON, ...options })
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
    reported.push(statusOf(answer))
  }
  return reported
}

const REPORTED: ReportedAnswer = {
  text: ['Hel', 'lo "usage"'],
  thinking: ['Hm'],
  calls: [{ id: 'call_0', name: 'tool_0', args: { city: 'Oslo' } }],
  stop: 'end',
  input: 11,
  output: 5,
  cut: 3,
}

const WHOLE = { 'openai-chat': 'openai-text', 'openai-responses': 'openai-phase.1', anthropic: 'anthropic-text' } as const

const dialectOf = (path: string): (typeof UPSTREAMS)[number] =>
  path.endsWith('/messages') ? 'anthropic' : path.endsWith('/responses') ? 'openai-responses' : 'openai-chat'

const tellEverything: Script = async (exchange) => {
  const dialect = dialectOf(exchange.path)
  if (exchange.body.stream !== true) return exchange.answer(200, new TextDecoder().decode(recording(dialect, WHOLE[dialect], false).bytes))
  await exchange.head(200)
  await exchange.piece(new TextDecoder().decode(reportedBytes(dialect, REPORTED)))
  await exchange.done()
}

const INTERFACES = [
  { client: 'chat', reads: 'openai-chat', path: '/chat/completions', body: { messages } },
  { client: 'responses', reads: 'openai-responses', path: '/responses', body: { input: 'Hello!' } },
  { client: 'messages', reads: 'anthropic', path: '/messages', body: { messages, max_tokens: 100 } },
] as const

describe('a second request that is the same', () => {
  for (const { client, reads, path, body } of INTERFACES) {
    for (const dialect of UPSTREAMS) {
      for (const stream of [false, true]) {
        test(`gets the same answer, free and under an id of its own: ${client}, ${stream ? 'streamed' : 'whole'}, from ${dialect}`, async () => {
          upstream.script(tellEverything)
          const before = upstream.exchanges.length
          const request = { ...body, model: `m/${dialect}`, stream }
          const startedSeconds = Math.floor(Date.now() / 1000)
          const first = await infer(service, request, { path, headers: { ...ON, 'x-openrouter-metadata': 'enabled' } })
          const second = await infer(service, request, { path, headers: { ...ON, 'x-openrouter-metadata': 'enabled' } })
          expect([first.status, second.status, upstream.exchanges.length - before]).toEqual([200, 200, 1])
          expect(cacheOf(first)).toEqual({ status: 'MISS', age: null, ttl: '300', 'source-id': null })
          expect(cacheOf(second)).toEqual({
            status: 'HIT',
            age: expect.stringMatching(/^\d+$/),
            ttl: String(300 - Number(cacheOf(second)['age'])),
            'source-id': idOf(first),
          })
          for (const name of ['status', 'age', 'ttl', 'source-id'])
            expect(second.headers.get(`x-service-cache-${name}`)).toBe(second.headers.get(`x-openrouter-cache-${name}`))
          expect(idOf(second)).not.toBe(idOf(first))
          expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))

          const reported = await readAnswer(reads, stream, first.text)
          const again = await readAnswer(reads, stream, second.text)
          expect(reported.usage?.input).toBeGreaterThan(0)
          expect({ ...again, usage: null }).toEqual({ ...reported, usage: null })
          expect(again.usage).toMatchObject({ input: 0, output: 0, cacheRead: 0 })
          expect(second.text).not.toMatch(/"(?:input_tokens|output_tokens|prompt_tokens|completion_tokens|total_tokens)":\s*[1-9]/)
          expect(second.text).not.toMatch(/"cost":\s*[^0]/)
          expect(first.text).toContain('openrouter_metadata')
          expect(second.text).not.toContain('openrouter_metadata')
          expect(second.text).not.toContain(idOf(first).slice('gen-'.length))
          expect(second.text).toContain(idOf(second).slice('gen-'.length))
          for (const [, seconds] of second.text.matchAll(/"created(?:_at)?":\s*(\d+)/g))
            expect(Number(seconds)).toBeGreaterThanOrEqual(startedSeconds)
          if (!stream) return
          expect(readStream(client, first.text).faults).toEqual([])
          // A cached answer reports no usage, at the start and at the end.
          expect(readStream(client, second.text).faults.filter((fault) => !fault.endsWith('no input tokens at the start'))).toEqual([])
        })
      }
    }
  }

  test('has a record that says where the answer came from, and costs nothing', async () => {
    upstream.script(say('Hi.'))
    const request = fresh()
    const first = await infer(service, request, { headers: ON })
    const second = await infer(service, request, { headers: ON })
    const record = async (answer: Answer): Promise<unknown> => (await call(service, 'GET', `/generation?id=${idOf(answer)}`)).preset
    expect(await record(first)).toMatchObject({ response_cache_source_id: null, tokens_prompt: 7, model: 'm/openai-chat' })
    expect(await record(second)).toMatchObject({
      response_cache_source_id: idOf(first),
      total_cost: 0,
      usage: 0,
      tokens_prompt: 0,
      tokens_completion: 0,
      native_tokens_prompt: 0,
      model: 'm/openai-chat',
      provider_name: 'P',
      finish_reason: 'stop',
      http_status: 200,
      provider_responses: [],
    })
  })

  test('has the same warnings about what its answer lost in translation', async () => {
    const output = [
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'], results: null },
      {
        type: 'message',
        id: 'm_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
      },
    ]
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output, usage: null }
    upstream.script((exchange) => exchange.answer(200, JSON.stringify(response)))
    const request = fresh({ model: 'm/openai-responses' })
    const [first, second] = [await infer(service, request, { headers: ON }), await infer(service, request, { headers: ON })]
    const warningsOf = async (answer: Answer): Promise<unknown> =>
      ((await call(service, 'GET', `/generation?id=${idOf(answer)}`)).json as { data: { warnings: unknown } }).data.warnings
    expect(statusOf(second)).toBe('HIT')
    expect(await warningsOf(first)).toEqual([expect.objectContaining({ code: 'untranslated_output' })])
    expect(await warningsOf(second)).toEqual(await warningsOf(first))
  })

  test('to embeddings gets the same vectors', async () => {
    upstream.script((exchange) =>
      exchange.answer(
        200,
        JSON.stringify({
          object: 'list',
          data: [{ embedding: [1, 2], index: 0, object: 'embedding' }],
          model: 'm',
          usage: { prompt_tokens: 4, total_tokens: 4 },
        }),
      ),
    )
    const request = { model: 'm/openai-chat', input: `Hello ${(asked += 1)}` }
    const options = { path: '/embeddings', headers: ON }
    const [first, second] = [await infer(service, request, options), await infer(service, request, options)]
    expect([statusOf(first), statusOf(second)]).toEqual(['MISS', 'HIT'])
    expect(second.json).toEqual({ ...(first.json as object), id: idOf(second), usage: { prompt_tokens: 0, total_tokens: 0, cost: 0 } })
  })
})

describe('an entry belongs to', () => {
  beforeAll(() => upstream.script(say('Hi.')))

  test('one key: no other key is answered from it, on any interface', async () => {
    const other = await createKey(service, { name: 'other' })
    upstream.script(tellEverything)
    for (const { path, body } of INTERFACES) {
      const request = { ...body, model: 'm/openai-chat', user: `u${(asked += 1)}` }
      expect(await statuses([request, { path }], [request, { path, key: other.key }], [request, { path, key: other.key }])).toEqual([
        'MISS',
        'MISS',
        'HIT',
      ])
    }
    upstream.script(say('Hi.'))
  })

  test('one request: white space between its members does not count, the order of its members does', async () => {
    const { model, messages: said } = fresh()
    const spaced = JSON.stringify({ model, messages: said }, null, 2)
    expect(await statuses([{ model, messages: said }], [spaced], [{ messages: said, model }], [{ model, messages: said }])).toEqual([
      'MISS',
      'HIT',
      'MISS',
      'HIT',
    ])
  })

  test('a stream, or a whole answer', async () => {
    const request = fresh()
    expect(await statuses([request], [{ ...request, stream: true }], [{ ...request, stream: true }], [request])).toEqual([
      'MISS',
      'MISS',
      'HIT',
      'HIT',
    ])
  })

  test('one version of a preset', async () => {
    await savePreset(service, 'kept', { model: 'm/openai-chat', temperature: 0.1, messages }, 'chat/completions')
    const request = fresh({ model: '@preset/kept' })
    const first = await statuses([request], [request])
    await savePreset(service, 'kept', { model: 'm/openai-chat', temperature: 0.1, messages }, 'chat/completions')
    expect([first, await statuses([request], [request])]).toEqual([
      ['MISS', 'HIT'],
      ['MISS', 'HIT'],
    ])
  })

  test('strict requests, or the others', async () => {
    const request = fresh()
    const strict = { headers: { ...ON, 'x-service-strict': 'enabled' } }
    const status = { headers: { ...ON, 'x-service-provider-failure': 'status' } }
    expect(await statuses([request], [request, strict], [request, strict], [request, status], [request, status])).toEqual([
      'MISS',
      'MISS',
      'HIT',
      'MISS',
      'HIT',
    ])
  })

  test('no header: a session, a user agent or a trace changes nothing', async () => {
    const request = fresh()
    const other = {
      headers: { ...ON, 'x-session-id': 's-1', 'user-agent': 'other', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
    }
    expect(await statuses([request], [request, other])).toEqual(['MISS', 'HIT'])
  })
})

describe('the cache is on', () => {
  beforeAll(() => upstream.script(say('Hi.')))
  const off = { status: null, age: null, ttl: null, 'source-id': null }

  test('by a header of either name, and not for requests that do not ask', async () => {
    const request = fresh()
    const asks = async (headers: Record<string, string>): Promise<unknown> => cacheOf(await infer(service, request, { headers }))
    expect(await asks({})).toEqual(off)
    expect(await asks({ 'x-openrouter-cache': 'yes' })).toEqual(off)
    expect(await asks({ 'x-openrouter-cache-ttl': '60', 'x-openrouter-cache-clear': 'true' })).toEqual(off)
    expect(await asks({ 'X-Service-Cache': 'TRUE' })).toMatchObject({ status: 'MISS' })
    expect(await asks({ 'X-OpenRouter-Cache': 'true' })).toMatchObject({ status: 'HIT' })
    expect(await asks({})).toEqual(off)
  })

  test('by a preset, unless the request says false; and off by a preset, whatever the request says', async () => {
    await savePreset(service, 'on', { model: 'm/openai-chat', cache_enabled: true, cache_ttl_seconds: 77, messages }, 'chat/completions')
    await savePreset(service, 'off', { model: 'm/openai-chat', cache_enabled: false, messages }, 'chat/completions')
    const asks = async (preset: string, headers: Record<string, string>): Promise<unknown> =>
      cacheOf(await infer(service, { ...CHAT, model: `@preset/${preset}` }, { headers }))
    expect(await asks('on', {})).toMatchObject({ status: 'MISS', ttl: '77' })
    expect(await asks('on', {})).toMatchObject({ status: 'HIT' })
    expect(await asks('on', { 'x-openrouter-cache': 'false' })).toEqual(off)
    expect(await asks('on', { 'x-openrouter-cache-ttl': '60', 'x-openrouter-cache-clear': 'true' })).toMatchObject({
      status: 'MISS',
      ttl: '60',
    })
    expect(await asks('off', ON)).toEqual(off)
    expect(upstream.last.body).not.toHaveProperty('cache_enabled')
  })

  test.each([
    ['60', '60'],
    ['60abc', '60'],
    ['1.5', '1'],
    ['0', '1'],
    ['x', '300'],
    ['-5', '300'],
    ['999999', '86400'],
  ])('for as long as the header says: %s is %s seconds', async (ttl, seconds) => {
    expect(cacheOf(await infer(service, fresh(), { headers: { ...ON, 'x-openrouter-cache-ttl': ttl } }))).toMatchObject({ ttl: seconds })
  })

  test('and cleared by a header: the model is asked again, and its answer is kept', async () => {
    const request = fresh()
    const clear = { headers: { ...ON, 'x-openrouter-cache-clear': 'true' } }
    await infer(service, request, { headers: ON })
    upstream.script(say('Anew.'))
    expect(await statuses([request, clear], [request])).toEqual(['MISS', 'HIT'])
    expect((await infer(service, request, { headers: ON })).text).toContain('Anew.')
    upstream.script(say('Hi.'))
  })

  test('for neither a dry run nor a count of tokens', async () => {
    const dry = await infer(service, fresh(), { headers: { ...ON, 'x-service-dry-run': 'enabled' } })
    const count = await infer(service, { ...CHAT, max_tokens: 1 }, { path: '/messages/count_tokens', headers: ON })
    expect([dry.status, statusOf(dry), statusOf(count)]).toEqual([200, null, null])
  })
})

describe('not kept is', () => {
  const untilKept = async (script: Script, request: object): Promise<(string | null)[]> => {
    upstream.script(script)
    const first = await infer(service, request as typeof CHAT, { headers: ON })
    upstream.script(say('Hi.'))
    const second = await infer(service, request as typeof CHAT, { headers: ON })
    return [statusOf(first), statusOf(second)]
  }
  const NEVER = ['MISS', 'MISS']

  test('a failure', async () => {
    expect(await untilKept((exchange) => exchange.answer(400, '{"error":{"message":"no"}}'), fresh())).toEqual(NEVER)
    expect(await untilKept((exchange) => exchange.answer(500, '{}'), fresh({ stream: true }))).toEqual(NEVER)
  })

  test('a stream that was cut, by a reset or a clean close', async () => {
    for (const end of ['reset', 'done'] as const) {
      const cut: Script = async (exchange) => {
        await exchange.head(200)
        await exchange.piece(dataEvent(proseChunk('Half')))
        await exchange[end]()
      }
      expect(await untilKept(cut, fresh({ stream: true }))).toEqual(NEVER)
    }
  })

  test('an answer that a filter of the provider ended', async () => {
    const filtered = proseAnswer('Hi', {
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'content_filter' }],
    })
    expect(await untilKept((exchange) => exchange.answer(200, filtered), fresh())).toEqual(NEVER)
  })

  test('more than 2 MiB', async () => {
    const long = 'x'.repeat(2 * 1024 * 1024)
    expect(await untilKept(say(long), fresh())).toEqual(NEVER)
    expect(await untilKept(say(long.slice(0, 1024 * 1024)), fresh())).toEqual(['MISS', 'HIT'])
  })

  test('an answer with the bodies that were sent upstream', async () => {
    expect(await untilKept(say('Hi.'), fresh({ stream: true, debug: { echo_upstream_body: true } }))).toEqual(NEVER)
  })
})

test('an answer that says nothing is not kept: a request that fills the cache of its provider is sent each time', async () => {
  const usage = { prompt_tokens: 4, completion_tokens: 0 }
  const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'length' }]
  upstream.script((exchange) => exchange.answer(200, JSON.stringify({ id: 'u', object: 'chat.completion', choices, usage })))
  const body = fresh()
  expect(await statuses([body], [body])).toEqual(['MISS', 'MISS'])
})

describe('a kept answer', () => {
  beforeAll(() => upstream.script(say('Hi.')))

  test('cannot bypass an input guardrail, nor one that screens answers, even if it is new', async () => {
    const made = await createKey(service, { name: 'guarded' })
    upstream.script(say('Write to jane@example.com'))
    const [secret, plain] = [fresh({ messages: [{ role: 'user', content: 'I am joe@example.com' }] }), fresh()]
    const send = (body: object): Promise<Answer> => infer(service, body as typeof CHAT, { key: made.key, headers: ON })
    expect([statusOf(await send(secret)), statusOf(await send(plain))]).toEqual(['MISS', 'MISS'])
    expect([statusOf(await send(secret)), statusOf(await send(plain))]).toEqual(['HIT', 'HIT'])
    const guard = async (side: string, action: string): Promise<string> => {
      const body = { name: side, content_filter_builtins: [{ slug: 'email', action, applies_to: side }] }
      const { id } = ((await call(service, 'POST', '/guardrails', { body })).json as { data: { id: string } }).data
      await call(service, 'POST', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [made.data.hash] } })
      return id
    }
    await guard('input', 'block')
    expect((await send(secret)).status).toBe(403)
    const id = await guard('output', 'redact')
    const screened = await send(plain)
    expect([statusOf(screened), screened.text.includes('jane@example.com')]).toEqual(['MISS', false])
    expect(statusOf(await send(plain))).toBe('HIT')
    await call(service, 'PATCH', `/guardrails/${id}`, { body: { description: 'Changed.' } })
    expect(statusOf(await send(plain))).toBe('MISS')
    upstream.script(say('Hi.'))
  })

  test('is given if a budget is spent, and not to a revoked key', async () => {
    const made = (await call(service, 'POST', '/keys', { body: { name: 'poor', limit: 0.004 } })).json as {
      key: string
      data: { hash: string }
    }
    const request = fresh({ max_tokens: 1 })
    const send = (body: object): Promise<Answer> => infer(service, body as typeof CHAT, { key: made.key, headers: ON })
    expect(statusOf(await send(request))).toBe('MISS')
    expect((await send(fresh({ max_tokens: 2000 }))).status).toBe(403)
    const usage = async (): Promise<unknown> =>
      ((await call(service, 'GET', `/keys/${made.data.hash}`)).json as { data: { usage: number } }).data.usage
    const spent = await usage()
    expect([statusOf(await send(request)), await usage()]).toEqual(['HIT', spent])
    await call(service, 'DELETE', `/keys/${made.data.hash}`)
    expect((await send(request)).status).toBe(401)
  })

  test('is not for callers whose data must not be kept', async () => {
    const made = await createKey(service, { name: 'zdr' })
    const body = { name: 'Nothing is kept', enforce_zdr_openai: true }
    const { id } = ((await call(service, 'POST', '/guardrails', { body })).json as { data: { id: string } }).data
    await call(service, 'POST', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [made.data.hash] } })
    const { status, headers } = await infer(service, fresh(), { key: made.key, headers: ON })
    expect([status, headers.get('x-openrouter-cache-status')]).toEqual([200, null])
  })
})

describe('an answer', () => {
  test('of one version of a preset is never given by another, as a rollout shares the requests and after it', async () => {
    const save = (temperature: number, query = '') =>
      call(service, 'POST', `/presets/shared/chat/completions${query}`, { body: { model: 'm/openai-chat', temperature } })
    await save(0.1)
    await save(0.2, '?designate=false')
    // The provider answers with the temperature, which differs between the versions.
    upstream.script((exchange) => say(`at ${String(exchange.body['temperature'])}`)(exchange))
    const splits = [
      { version: 1, weight: 50 },
      { version: 2, weight: 50 },
    ]
    await call(service, 'PUT', '/presets/shared/rollout', { body: { splits } })
    const request = fresh({ model: '@preset/shared' })
    const reported = async (session_id: string): Promise<readonly [string | null, string | null, string]> => {
      const answer = await infer(service, request, { headers: { ...ON, 'x-session-id': session_id } })
      return [answer.headers.get('x-preset'), statusOf(answer), /at 0\.\d/.exec(answer.text)?.[0] ?? answer.text]
    }
    const sessions = Array.from({ length: 20 }, (_, at) => `session-${at}`)
    const seen: (readonly [string | null, string | null, string])[] = []
    for (const session of [...sessions, ...sessions]) seen.push(await reported(session))
    const expected: Record<string, string> = { 'shared@1': 'at 0.1', 'shared@2': 'at 0.2' }
    expect(seen.map(([, , text]) => text)).toEqual(seen.map(([version]) => expected[version ?? ''] ?? 'another version'))
    // Each version was answered by the provider once, and from the cache from then on.
    const missed = seen.flatMap(([version, status]) => (status === 'MISS' ? [version] : []))
    expect([missed.length, new Set(missed)]).toEqual([2, new Set(['shared@1', 'shared@2'])])
    await call(service, 'PATCH', '/presets/shared', { body: { designated_version: 2 } })
    expect(new Set((await Promise.all(sessions.map(reported))).map((one) => one.join()))).toEqual(new Set(['shared@2,HIT,at 0.2']))
  })

  test('that the client did not wait for is not kept', async () => {
    const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('Half')))
      begun.resolve()
      await gone.promise
      await exchange.done()
    })
    const request = fresh({ stream: true })
    const leaving = new AbortController()
    const headers = { ...ON, authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' }
    const left = fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(request),
      signal: leaving.signal,
    })
    await begun.promise
    const { body } = await left
    await body?.getReader().read()
    leaving.abort()
    gone.resolve()
    upstream.script(say('Whole.'))
    const next = await infer(service, request, { headers: ON })
    expect([statusOf(next), next.text]).toEqual(['MISS', expect.stringContaining('Whole.')])
    expect(statusOf(await infer(service, request, { headers: ON }))).toBe('HIT')
  })

  for (const stream of [false, true]) {
    test(`of a loop of tools is given again without the loop, ${stream ? 'streamed' : 'whole'}`, async () => {
      const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'service_datetime', arguments: '{}' } }]
      upstream.script((exchange) => {
        if (exchange.body.messages.some(({ role }) => role === 'tool')) return say('It is late.')(exchange)
        const chunk = JSON.parse(proseChunk('')) as { choices: object[] }
        const asking = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', tool_calls: calls }, finish_reason: 'tool_calls' }] }
        if (exchange.body.stream === true) return exchange.stream([JSON.stringify(asking)])
        const message = { role: 'assistant', content: null, tool_calls: calls }
        return exchange.answer(200, proseAnswer('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
      })
      const before = upstream.exchanges.length
      const request = fresh({ stream, tools: [{ type: 'service:datetime' }] })
      const first = await infer(service, request, { headers: ON })
      const asked = upstream.exchanges.length - before
      const second = await infer(service, request, { headers: ON })
      expect([statusOf(first), statusOf(second)]).toEqual(['MISS', 'HIT'])
      for (const { text } of [first, second]) expect(text).toContain('It is late.')
      expect([asked, upstream.exchanges.length - before]).toEqual([2, 2])
      const { json } = await call(service, 'GET', `/generation?id=${idOf(second)}`)
      expect(json).toMatchObject({ data: { response_cache_source_id: idOf(first), total_cost: 0 } })
    })
  }
})

describeEachEngine('two nodes', (engine) => {
  // A SQLite file can only be used by one process.
  if (engine.name === 'sqlite') return

  test.skipIf(!HAS_REDIS)(
    'answer from what the other one kept, and forget it with a new version of the preset',
    async () => {
      upstream.script(say('First.'))
      const redis = await startRedis()
      const { databaseUrl } = await engine.locate()
      const flags = ['--redis-url', redis.url, '--database-url', databaseUrl ?? '']
      const one = await services.start({ config: CONFIG, flags })
      const { managementKey, inferenceKey } = one
      const two = { ...(await services.start({ config: CONFIG, flags, dataDir: one.dataDir })), managementKey, inferenceKey }
      await savePreset(one, 'shared', { model: 'm/openai-chat' }, 'chat/completions')
      const request = fresh({ model: '@preset/shared' })
      const first = await infer(one, request, { headers: ON })
      const second = await infer(two, request, { headers: ON })
      expect([statusOf(first), cacheOf(second)]).toMatchObject(['MISS', { status: 'HIT', 'source-id': idOf(first) }])
      upstream.script(say('Second.'))
      await savePreset(two, 'shared', { model: 'm/openai-chat', temperature: 0.5 }, 'chat/completions')
      const third = await infer(two, request, { headers: ON })
      expect([statusOf(third), third.text]).toEqual(['MISS', expect.stringContaining('Second.')])
      // The other node learns of the new version within half a second, and then only serves answers of that version.
      await until(async () => (await infer(one, request, { headers: ON })).text.includes('Second.'), 'the new version')
      const { status, text } = await infer(one, request, { headers: ON })
      expect([status, text]).toEqual([200, expect.stringContaining('Second.')])
      await redis.stop()
    },
    300_000,
  )
})

describe.skipIf(!HAS_REDIS)('with Redis', () => {
  test('an entry outlives its process, cannot be read anywhere, and a Redis that fails is a miss', async () => {
    upstream.script(say('A secret of the answer.'))
    const redis = await startRedis()
    const options = { config: CONFIG, flags: ['--redis-url', redis.url] }
    const one = await services.start(options)
    const request = fresh({ messages: [{ role: 'user', content: 'A secret of the question.' }] })
    const key = one.inferenceKey
    const first = await infer(one, request, { headers: ON })
    await one.stop()
    const two = await services.start({ ...options, dataDir: one.dataDir })
    const send = (): Promise<Answer> => infer(two, request, { key, headers: ON })
    const second = await send()
    expect([statusOf(first), cacheOf(second)]).toMatchObject(['MISS', { status: 'HIT', 'source-id': idOf(first) }])
    const client = new Bun.RedisClient(redis.url)
    const names = (await client.send('KEYS', ['*answer:*'])) as string[]
    expect(names).toHaveLength(1)
    const kept = String(await client.send('GET', names))
    expect(Buffer.from(kept, 'base64').toString('latin1') + names.join()).not.toContain('secret')
    // The cached value is changed in Redis.
    await client.send('SET', [names[0] ?? '', `${kept.slice(0, -8)}AAAAAAA=`])
    expect(statusOf(await send())).toBe('MISS')
    client.close()
    await redis.stop()
    const away = await send()
    expect([away.status, statusOf(away)]).toEqual([200, 'MISS'])
  })
})
