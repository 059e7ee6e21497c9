/** Limits and budgets over HTTP: which requests are admitted, how others are refused, and what is charged. */
import { describe, expect, test } from 'bun:test'

import { type Answer, call, createKey, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import {
  dataEvent,
  FINISH_CHUNK,
  proseAnswer,
  proseChunk,
  say,
  startFakeUpstream,
  type Exchange,
  type Script,
} from '../support/fake-upstream.ts'
import { changeLedger, ledgerRows } from '../support/ledger-rows.ts'
import { until, useServices } from '../support/started-service.ts'
import { patient } from '../support/patience.ts'

const services = useServices()
const upstream = await startFakeUpstream()

/** A token of output costs a tenth of a cent, so that a hold consists almost entirely of `max_tokens`. */
const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  draining: { name: Draining, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential, on_cancel: drain }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1, completion: 1000 } }] }
  fake/drained: { endpoints: [{ provider: draining, model: up-one, prices: { prompt: 1, completion: 1000 } }] }
  fake/two:
    endpoints:
      - { provider: fake, model: up-one, prices: { prompt: 1, completion: 1000 } }
      - { provider: draining, model: up-one, prices: { prompt: 1, completion: 1000 } }
  fake/searching: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1, completion: 1, web_search: 0.01 } }] }
  fake/unpriced: { endpoints: [{ provider: fake, model: up-two }] }
`

const service = await services.start({ config: CONFIG })

interface Limited {
  readonly key: string
  readonly hash: string
}

const makeKey = async (limit: number, more: object = {}, of = service): Promise<Limited> => {
  const { key, data } = await createKey(of, { name: 'limited', limit, ...more })
  return { key, hash: data.hash }
}

const REQUESTS = {
  '/chat/completions': { model: 'fake/one', max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] },
  '/responses': { model: 'fake/one', max_output_tokens: 10, input: 'Hello!' },
  '/messages': { model: 'fake/one', max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] },
} as const
type Path = keyof typeof REQUESTS
const PATHS = Object.keys(REQUESTS) as Path[]

const ask = (key: string, path: Path = '/chat/completions', more: object = {}): Promise<Answer> =>
  infer(service, { ...REQUESTS[path], ...more }, { key, path })

interface CurrentKey {
  readonly usage: number
  readonly limit_remaining: number | null
  readonly budgets: readonly { readonly scope: string; readonly spend_usd: number; readonly remaining_usd: number }[]
  readonly effective_budget: { readonly remaining_usd: number } | null
}

const current = async (key: string, of = service): Promise<CurrentKey> =>
  ((await call(of, 'GET', '/key', { key })).json as { data: CurrentKey }).data

/** Seven tokens of input and three of output. */
const COST = 7e-6 + 3e-3
const USAGE = proseChunk('', { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })

describe('a spent limit', () => {
  test.each(PATHS)('is a 403 with all figures, and no provider is asked: %s', async (path) => {
    upstream.script(say('Hi.'))
    const { key } = await makeKey(0, { limit_reset: 'daily' })
    const asked = upstream.exchanges.length
    const { status, headers, json } = await ask(key, path)
    expect(status).toBe(403)
    expect(headers.get('retry-after')).toBeNull()
    expect(upstream.exchanges.length).toBe(asked)
    const { error, ...rest } = json as { error: { message: string; metadata?: object }; metadata?: object }
    const midnight = /resets at (\d{4}-\d\d-\d\dT00:00:00\.000Z)\.$/.exec(error.message)?.[1]
    expect(error.message).toMatch(/^The daily limit of this key is exhausted\. Used \$0\.00 of \$0\.00; resets at /)
    expect(error.metadata ?? rest.metadata).toMatchObject({
      limit_source: 'service_key_limit',
      scope: 'key_limit',
      limit_usd: 0,
      spend_usd: 0,
      resets_at: midnight ?? 'an instant at the end of the message',
      remedy_hint: 'Wait for the reset, or raise the limit of the key.',
    })
    if (path === '/messages') expect(json).toMatchObject({ type: 'error', error: { type: 'permission_error' }, request_id: null })
    else expect(json).toMatchObject({ error: { code: 403, metadata: { error_type: 'permission_denied' } } })
  })

  test('stops every route that calls a model', async () => {
    const { key } = await makeKey(0)
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { tags?: string[] }>>
    }
    const routes = Object.keys(paths).filter((path) => paths[path]?.['post']?.tags?.includes('Inference') === true)
    const bodies: Record<string, object> = { ...REQUESTS, '/embeddings': { model: 'fake/one', input: 'Hello!' } }
    const names = routes.map((path) => path.replace(/^\/(api\/)?v1/, ''))
    // Counting tokens is free.
    expect(new Set(names)).toEqual(new Set([...Object.keys(bodies), '/messages/count_tokens', '/responses/input_tokens']))
    for (const [path, body] of Object.entries(bodies)) {
      const { status, text } = await infer(service, body as Record<string, unknown>, { key, path })
      expect([path, status, text.includes('service_key_limit')]).toEqual([path, 403, true])
    }
  })
})

/** An upstream that answers only when it is released. */
const holding = (): { script: Script; waiting: Exchange[]; release(): Promise<void> } => {
  const waiting: Exchange[] = []
  return {
    script: (exchange) => void waiting.push(exchange),
    waiting,
    async release() {
      await Promise.all(waiting.splice(0).map((exchange) => exchange.answer(200, proseAnswer('Hi.'))))
    },
  }
}

describe('a limit that running requests fill', () => {
  test.each(PATHS)('is a 402 with Retry-After, and admits requests once they have ended: %s', async (path) => {
    const held = holding()
    upstream.script(held.script)
    const { key } = await makeKey(0.015)
    const first = ask(key, path)
    await until(() => held.waiting.length === 1, 'the first request')
    const { status, headers, json, text } = await ask(key, path)
    expect(status).toBe(402)
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(text).toContain('"limit_source":"service_in_flight_budget"')
    expect(text).toContain('"reason":"in_flight_budget_exhausted"')
    if (path === '/messages') expect(json).toMatchObject({ type: 'error', error: { type: 'billing_error' } })
    else expect(json).toMatchObject({ error: { code: 402, metadata: { error_type: 'payment_required' } } })

    // The key's own figures show the limit that refuses it.
    const during = await current(key)
    expect(during.budgets[0]?.remaining_usd).toBeLessThan(0.005)
    expect(during.effective_budget).toEqual(during.budgets[0] as never)
    expect(during.usage).toBe(0)
    await held.release()
    expect((await first).status).toBe(200)
    const after = await current(key)
    expect(after.usage).toBeCloseTo(COST, 9)
    expect(after.budgets[0]).toMatchObject({ scope: 'key_limit', spend_usd: after.usage })
    expect(after.limit_remaining).toBeCloseTo(0.015 - COST, 9)
    upstream.script(say('Hi.'))
    expect((await ask(key, path)).status).toBe(200)
  })

  test('lets in of 200 at once exactly as many as fit', async () => {
    const held = holding()
    upstream.script(held.script)
    const { key } = await makeKey(0.525)
    const answers = Promise.all(Array.from({ length: 200 }, () => ask(key)))
    await until(() => held.waiting.length === 50, 'fifty requests')
    await Bun.sleep(200)
    await held.release()
    const statuses = (await answers).map(({ status }) => status)
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 402).length]).toEqual([50, 150])
    expect((await current(key)).usage).toBeCloseTo(50 * COST, 8)
  }, 300_000)

  test('does not let in one request that is larger than what is left, and says that waiting does not help', async () => {
    upstream.script(say('Hi.'))
    const { key } = await makeKey(0.015)
    const { status, headers, error } = await ask(key, '/chat/completions', { max_tokens: 20 })
    expect([status, headers.get('retry-after')]).toEqual([403, null])
    expect(error.message).toMatch(
      /^This request may cost up to \$0\.0\d+, which is more than is left of the limit of this key\. Used \$0\.00 of \$0\.015; it does not reset\.$/,
    )
    expect(error.metadata).toMatchObject({ limit_source: 'service_key_limit', reason: 'weight_exceeds_budget', resets_at: null })
    expect((await ask(key)).status).toBe(200)
  })
})

test.each([
  ['a file', { type: 'file', file: { filename: 'a.pdf', file_data: 'https://files.example/a.pdf' } }],
  ['a sound', { type: 'input_audio', input_audio: { format: 'wav', data: 'https://files.example/a.wav' } }],
])('%s whose data is an address is held for like one that is only named', async (_, part) => {
  const content = [{ type: 'text', text: 'Sum up.' }, part]
  const { error } = await ask((await makeKey(0.000001)).key, '/chat/completions', { messages: [{ role: 'user', content }] })
  expect(error.code).toBe(403)
  expect(error.metadata['estimate_usd']).toBeGreaterThan(0.03)
})

test('a request that exceeds its limit while it runs is a 403, and its record names the limit', async () => {
  // Quotes in an object become escapes in the text of a call.
  const input = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`"${index}"`, '"']))
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
  ]
  const { json } = await ask((await makeKey(0.000001)).key, '/messages', { messages })
  const { estimate_usd } = (json as { metadata: { estimate_usd: number } }).metadata
  const asked = upstream.exchanges.length
  const { key, hash } = await makeKey(estimate_usd)
  expect((await ask(key, '/messages', { messages })).status).toBe(403)
  expect(upstream.exchanges.length).toBe(asked)
  const listed = async () =>
    ((await call(service, 'GET', `/generations?key=${hash}`)).json as { data: readonly { error: object | null }[] }).data
  await until(async () => (await listed()).length === 1, 'the record', patient(5000))
  expect((await listed())[0]).toMatchObject({
    error_type: 'permission_denied',
    total_cost: 0,
    error: { provider_name: null, limit_source: 'service_key_limit' },
  })
})

describe('what is charged', () => {
  const usageOf = async (key: string): Promise<number> => (await current(key)).usage

  test('is nothing for a 4xx of the provider, and the hold is released', async () => {
    upstream.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: 'no', type: 'invalid_request_error' } })))
    const { key } = await makeKey(0.011)
    for (let time = 0; time < 3; time += 1) expect((await ask(key)).json).toMatchObject({ error: expect.anything() })
    expect(await current(key)).toMatchObject({ usage: 0, budgets: [{ spend_usd: 0 }] })
  })

  test('is the full cost even if it exceeds the hold; the excess is counted, and usage over the limit stops the next request', async () => {
    const answer = proseAnswer('Hi.', { usage: { prompt_tokens: 1, completion_tokens: 100, total_tokens: 101 } })
    upstream.script((exchange) => exchange.answer(200, answer))
    const { key } = await makeKey(0.05)
    expect((await ask(key)).status).toBe(200)
    expect((await current(key)).usage).toBeCloseTo(0.100001, 9)
    expect((await ask(key)).error.message).toContain('Used $0.100001 of $0.05')
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(Number(/^patchbay_budget_overshoot_nanos_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(89_000_000)
  })

  test('is the content sent so far, within a second, if the client leaves a stream', async () => {
    upstream.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('A dozen words of prose are about as many tokens, more or less.')))
    })
    const { key } = await makeKey(1)
    const controller = new AbortController()
    const answer = await fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      signal: controller.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...REQUESTS['/chat/completions'], stream: true }),
    })
    await answer.body?.getReader().read()
    controller.abort()
    await until(async () => (await usageOf(key)) > 0.01, 'the charge')
    await until(async () => (await current(key)).budgets[0]?.spend_usd === (await usageOf(key)), 'the hold to be released')
    expect(await upstream.last.gone).toBeGreaterThan(0)
  })

  test('is the prompt if the client leaves before a whole answer arrives, and the provider sees the connection close', async () => {
    const held = holding()
    upstream.script(held.script)
    const { key } = await makeKey(1)
    const controller = new AbortController()
    const asked = infer(service, REQUESTS['/chat/completions'], { key, signal: controller.signal }).catch(() => null)
    await until(() => held.waiting.length === 1, 'the request')
    const leftMs = performance.now()
    controller.abort()
    await asked
    expect((await upstream.last.gone) - leftMs).toBeLessThan(patient(500))
    await until(async () => (await usageOf(key)) > 0, 'the charge')
    expect(await usageOf(key)).toBeLessThan(0.001)
  })

  test('is what the provider reports at the end if the stream is drained', async () => {
    const held = holding()
    upstream.script(held.script)
    const { key } = await makeKey(1)
    for (const stream of [false, true]) {
      const controller = new AbortController()
      const before = await usageOf(key)
      const asked = infer(
        service,
        { ...REQUESTS['/chat/completions'], model: 'fake/drained', stream },
        { key, signal: controller.signal },
      ).catch(() => null)
      await until(() => held.waiting.length === 1, 'the request')
      const [exchange] = held.waiting.splice(0)
      if (stream) {
        await exchange?.head(200)
        await exchange?.piece(dataEvent(proseChunk('Well, ')))
        await Bun.sleep(50)
      }
      controller.abort()
      await asked
      await Bun.sleep(50)
      expect(await usageOf(key)).toBe(before)
      if (stream) {
        await exchange?.piece(
          dataEvent(proseChunk('that', { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })),
        )
        await exchange?.piece('data: [DONE]\n\n')
        await exchange?.done()
      } else await exchange?.answer(200, proseAnswer('Hi.'))
      await until(async () => (await usageOf(key)) > before, 'the charge')
      expect((await usageOf(key)) - before).toBeCloseTo(COST, 9)
    }
  })
})

describe('an attempt that failed', () => {
  const USAGE_ONLY = proseChunk('', { choices: [], usage: { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 } })
  const failAfterUsage: Script = (exchange) => exchange.stream([USAGE_ONLY, JSON.stringify({ error: { code: 502, message: 'broken' } })])

  test('is in the ledger with its possible cost, and charged to nobody, if another attempt answered', async () => {
    let asked = 0
    upstream.script((exchange) =>
      (asked += 1) === 1 ? failAfterUsage(exchange) : exchange.stream([proseChunk('Hi.'), USAGE, FINISH_CHUNK]),
    )
    const { key } = await makeKey(1)
    const answer = await ask(key, '/chat/completions', { model: 'fake/two', stream: true })
    expect([answer.status, asked]).toEqual([200, 2])
    expect((await current(key)).usage).toBeCloseTo(COST, 9)
    const id = answer.headers.get('x-generation-id') ?? ''
    expect(ledgerRows(service.dataDir, id)).toEqual([
      { request_id: id, attempt_no: 0, kind: 'attempt', amount_n: 0, upstream_n: 1_000_000 },
      { request_id: id, attempt_no: 1, kind: 'final', amount_n: 3_007_000, upstream_n: 3_007_000 },
    ])
  })

  test.each([
    ['told', 0.001],
    ['free', 0],
  ])('and was the only one is charged, or not, for what the provider counted, as budgets.empty_answers says: %s', async (setting, cost) => {
    upstream.script(failAfterUsage)
    const other = await services.start({ config: `${CONFIG}budgets: { empty_answers: ${setting} }\n` })
    const { key } = await makeKey(1, {}, other)
    await infer(other, { ...REQUESTS['/chat/completions'], stream: true }, { key })
    expect(await current(key, other)).toMatchObject({ usage: cost, budgets: [{ spend_usd: cost }] })
    await other.stop()
  })
})

test('a changed budget or credit limits the very next request', async () => {
  upstream.script(say('Hi.'))
  const other = await services.start({ config: `${CONFIG}budgets: { credits: true, in_flight: { fraction: 1 } }\n` })
  const status = async (): Promise<number> => (await infer(other, REQUESTS['/chat/completions'], { key: other.inferenceKey })).status
  const daily = (limit_usd: number) => call(other, 'PUT', '/workspaces/default/budgets/daily', { body: { limit_usd } })
  expect(await status()).toBe(402)
  await call(other, 'POST', '/credits', { body: { amount_usd: 1 } })
  expect(await status()).toBe(200)
  await daily(0.001)
  expect(await status()).toBe(403)
  await daily(1)
  expect(await status()).toBe(200)
  await other.stop()
})

test('an implausible usage or cost from a provider does not prevent charging and recording', async () => {
  const other = await services.start({ config: `${CONFIG}budgets: { unknown_price: default }\n` })
  const { key } = await makeKey(1, {}, other)
  const senseless = [{ cost: 1e300 }, { cost: 1e8 }, { prompt_tokens: 2 ** 52 }, { num_search_queries: 2 ** 52 }]
  for (const more of senseless) {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, ...more }
    upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi.', { usage })))
    for (const model of ['fake/one', 'fake/unpriced', 'fake/searching']) {
      const answer = await infer(other, { ...REQUESTS['/chat/completions'], model }, { key })
      expect(answer.status).toBe(200)
      const record = await call(other, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`, { key })
      expect([more, model, record.status]).toEqual([more, model, 200])
    }
  }
  expect((await current(key, other)).usage).toBeLessThan(0.1)
  await other.stop()
})

test('embeddings are charged even if empty answers are free, because vectors have no tokens', async () => {
  upstream.script((exchange) =>
    exchange.answer(
      200,
      JSON.stringify({
        object: 'list',
        model: 'up-one',
        data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 1000, total_tokens: 1000 },
      }),
    ),
  )
  const other = await services.start({
    config: `
providers: { openai: { base_url: "${upstream.url}", api_key: upstream-credential } }
models: { openai/vectors: { endpoints: [{ provider: openai, model: up-one, prices: { prompt: 1, completion: 0 } }] } }
budgets: { empty_answers: free }
`,
  })
  const { key } = await makeKey(1, {}, other)
  const { status, json } = await infer(other, { model: 'openai/vectors', input: 'Hello!' }, { key, path: '/embeddings' })
  expect([status, json]).toEqual([200, expect.objectContaining({ usage: { prompt_tokens: 1000, total_tokens: 1000, cost: 0.001 } })])
  expect((await current(key, other)).usage).toBe(0.001)
  await other.stop()
})

test('a request for more tokens than there are runs alone if the last one may, and its hold can be written', async () => {
  upstream.script(say('Hi.'))
  await call(service, 'POST', '/workspaces', { body: { name: 'Lenient', slug: 'lenient' } })
  await call(service, 'PUT', '/workspaces/lenient/budgets/daily', { body: { limit_usd: 1, allow_last_request: true } })
  const { json } = await call(service, 'POST', '/keys?workspace_id=lenient', { body: { name: 'lenient' } })
  const { key } = json as { key: string }
  for (const more of [{ max_tokens: Number.MAX_SAFE_INTEGER }, { max_tokens: Number.MAX_SAFE_INTEGER, n: 128 }]) {
    expect((await ask(key, '/chat/completions', more)).status).toBe(200)
  }
  const { error } = await ask((await makeKey(1)).key, '/chat/completions', { max_tokens: Number.MAX_SAFE_INTEGER, n: 128 })
  expect([error.code, error.metadata['estimate_usd']]).toEqual([403, 4_000_000])
})

describe('a model without a known price', () => {
  test('is refused if a limit applies, and accepted if there is none', async () => {
    upstream.script(say('Hi.'))
    const { key } = await makeKey(1)
    const { status, error } = await ask(key, '/chat/completions', { model: 'fake/unpriced' })
    expect(status).toBe(403)
    expect(error.message).toContain('No price is configured for fake/unpriced at Fake')
    expect((await ask(service.inferenceKey, '/chat/completions', { model: 'fake/unpriced' })).status).toBe(200)
  })

  test('counts at the default price if the operator sets one, which says nothing of what a cache saved', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, prompt_tokens_details: { cached_tokens: 4 } }
    upstream.script((exchange) => exchange.answer(200, proseAnswer('Hi.', { usage })))
    const other = await services.start({
      config: `${CONFIG}budgets: { unknown_price: default, default_price: { prompt: 1, completion: 1000 } }\n`,
    })
    const { key } = await makeKey(1, {}, other)
    const answer = await infer(other, { ...REQUESTS['/chat/completions'], model: 'fake/unpriced' }, { key })
    expect(answer.status).toBe(200)
    expect((await current(key, other)).usage).toBeCloseTo(COST, 9)
    const { json } = await call(other, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`, { key })
    expect(json).toMatchObject({ data: { cost_known: false, total_cost: COST, cache_discount: null } })
    const models = await call(other, 'GET', '/models', { key })
    expect(models.text).toMatch(/"fake\/unpriced".*?"pricing":\{"prompt":"-1","completion":"-1"\}/)
    await other.stop()
  })
})

describe('a killed service', () => {
  test('holds nothing after its restart, and has charged each delivered answer exactly once', async () => {
    const dataDir = services.directory()
    upstream.script(async (exchange) => {
      await Bun.sleep(exchange.text.length % 30)
      await exchange.answer(200, proseAnswer('Hi.'))
    })
    let running = await services.start({ config: CONFIG, dataDir })
    const { key } = await makeKey(100, {}, running)
    const delivered: string[] = []
    for (let round = 0; round < 4; round += 1) {
      const target = running
      const before = delivered.length
      const asking = Array.from({ length: 30 }, async (_, client) => {
        for (let time = 0; time < 5; time += 1) {
          const body = { ...REQUESTS['/chat/completions'], user: 'u'.repeat(client + time) }
          const answer = await infer(target, body, { key }).catch(() => null)
          if (answer?.status === 200) delivered.push((answer.json as { id: string }).id)
        }
      })
      // Kills the process in the middle of the other requests, however slow the machine is.
      await until(() => delivered.length >= before + 6 + round * 4, 'some answers')
      running.signal('SIGKILL')
      await Promise.all(asking)
      running = await services.start({ config: CONFIG, dataDir })
    }
    await until(
      async () => {
        const { budgets, usage } = await current(key, running)
        return budgets[0]?.spend_usd === usage
      },
      'every hold to be gone',
      patient(20_000),
    )
    const audit = await services.run(['ledger', 'audit', '--data-dir', dataDir, '--json'])
    expect([audit.code, audit.stdout]).toEqual([0, '{"fine":true,"breaches":[]}\n'])
    await running.stop()

    const charges = ledgerRows(dataDir).filter(({ kind }) => kind !== 'attempt')
    const charged = Map.groupBy(charges, ({ request_id }) => request_id)
    expect(delivered.length).toBeGreaterThan(20)
    expect(delivered.filter((id) => charged.get(id)?.length !== 1)).toEqual([])
  }, 300_000)
})

test('an audit of books that do not add up exits with 1 and names the rule, for people and for programs', async () => {
  const of = await services.start({ config: CONFIG })
  upstream.script(say('Hi.'))
  const { key } = await makeKey(1, {}, of)
  expect((await infer(of, REQUESTS['/chat/completions'], { key })).status).toBe(200)
  await of.stop()
  changeLedger(of.dataDir, 'update key_usage_days set cost_nanos = cost_nanos + 1')
  const audit = (...flags: readonly string[]) => services.run(['ledger', 'audit', '--data-dir', of.dataDir, ...flags])
  expect(await audit()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^WRONG {2}I3 {2}/m) })
  const { code, stdout } = await audit('--json')
  const { fine, breaches } = JSON.parse(stdout) as { fine: boolean; breaches: readonly { invariant: string }[] }
  expect([code, fine, breaches.some(({ invariant }) => invariant === 'I3')]).toEqual([1, false, true])
})

describeEachEngine('several processes', (engine) => {
  if (engine.name === 'sqlite') {
    test('exit 2 for one that audits a directory without data, and no database is created', async () => {
      const ended = await services.run(['ledger', 'audit', '--data-dir', services.directory()])
      expect([ended.code, ended.stdout]).toEqual([2, ''])
      expect(ended.stderr).toContain('there is no Patchbay data in')
    })
    return
  }

  test('that share a PostgreSQL together admit exactly as many requests as fit', async () => {
    const { databaseUrl } = await engine.locate()
    const held = holding()
    upstream.script(held.script)
    const shared = await services.start({ config: CONFIG, flags: ['--workers', '2', '--database-url', databaseUrl ?? ''] })
    const { key } = await makeKey(0.525, {}, shared)
    await Bun.sleep(1500)
    const answers = Promise.all(
      Array.from({ length: 200 }, () => infer(shared, REQUESTS['/chat/completions'], { key, headers: { connection: 'close' } })),
    )
    await until(() => held.waiting.length === 50, 'fifty requests')
    await Bun.sleep(300)
    await held.release()
    const statuses = (await answers).map(({ status }) => status)
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 402).length]).toEqual([50, 150])
    expect(await shared.stop()).toBe(0)
    const audit = await services.run(['ledger', 'audit', '--data-dir', shared.dataDir, '--database-url', databaseUrl ?? ''])
    expect([audit.code, audit.stdout.includes('WRONG')]).toEqual([0, false])
  }, 300_000)
})
