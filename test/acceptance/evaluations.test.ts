/** Evaluations (docs/contract/presets.md#evaluations): what is run, checked, paid for once, and reported. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call } from '../support/calls.ts'
import { proseAnswer, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

interface OutcomeWire {
  readonly text: string | null
  readonly passed: boolean
  readonly cost: number
  readonly generation_id: string | null
  readonly error: { readonly type: string } | null
  readonly checks: readonly { type: string; passed: boolean; score: number | null }[]
}

interface EvaluationWire {
  readonly id: string
  readonly state: string
  readonly reason: string | null
  readonly passed: boolean | null
  readonly items_total: number
  readonly items_done: number
  readonly cost: number
  readonly summary: {
    readonly version: { passed: number; failed: number; errors: number; pass_rate: { value: number; low: number; high: number } | null }
    readonly baseline: { passed: number } | null
    readonly difference: { value: number; low: number; high: number } | null
    readonly preference: { wins: number; losses: number; ties: number } | null
  }
  readonly items: readonly {
    readonly position: number
    readonly state: string
    readonly generation_id: string | null
    readonly messages: unknown
    readonly answer: OutcomeWire | null
    readonly baseline: OutcomeWire | null
  }[]
}

const services = useServices()
const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
  fake/two: { endpoints: [{ provider: fake, model: up-two, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
  fake/judge: { endpoints: [{ provider: fake, model: up-judge, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
  fake/unpriced: { endpoints: [{ provider: fake, model: up-unpriced, max_completion_tokens: 100 }] }
`

const service = await services.start({ config: CONFIG })

const lastUser = (messages: readonly { content: unknown }[]): string => String(messages.at(-1)?.content)

beforeEach(() => {
  upstream.script((exchange) => exchange.answer(200, proseAnswer(`echo ${lastUser(exchange.body.messages)}`), JSON_TYPE))
})

const JSON_TYPE = { 'content-type': 'application/json' }
const user = (content: string) => [{ role: 'user', content }]

const save = (slug: string, model: string, of = service) =>
  call(of, 'POST', `/presets/${slug}/chat/completions?designate=false`, { body: { model } })
const start = (slug: string, body: object, of = service): Promise<Answer> => call(of, 'POST', `/presets/${slug}/evaluations`, { body })
const read = async (slug: string, id: string, of = service) =>
  ((await call(of, 'GET', `/presets/${slug}/evaluations/${id}`)).json as { data: EvaluationWire }).data

const until = async (slug: string, id: string, isSo: (evaluation: EvaluationWire) => boolean, of = service): Promise<EvaluationWire> => {
  const deadline = performance.now() + patient(6000)
  for (;;) {
    const evaluation = await read(slug, id, of)
    if (isSo(evaluation) || performance.now() > deadline) return evaluation
    await Bun.sleep(50)
  }
}

const evaluated = async (slug: string, body: object): Promise<EvaluationWire> => {
  const answer = await start(slug, body)
  expect(answer.text).toStartWith('{"data":')
  const { id } = (answer.json as { data: EvaluationWire }).data
  return until(slug, id, ({ state }) => state !== 'running')
}

describe('checks', () => {
  test.each<[string, object, unknown, boolean[]]>([
    ['exact', { type: 'exact' }, 'echo one', [true, false]],
    ['contains what is expected', { type: 'contains', ignore_case: true }, 'ONE', [true, false]],
    ['contains', { type: 'contains', text: 'echo' }, null, [true, true]],
    ['pattern', { type: 'pattern', pattern: 'echo (one|three)$' }, null, [true, false]],
    ['json_schema', { type: 'json_schema', schema: { type: 'object' } }, null, [false, false]],
    ['cost', { type: 'cost', max_usd: 0.000_001 }, null, [false, false]],
    ['latency', { type: 'latency', max_ms: 60_000 }, null, [true, true]],
  ])('%s', async (_, check, expected, passed) => {
    await save('checked', 'fake/one')
    const items = ['one', 'two'].map((text) => ({ messages: user(text), ...(expected === null ? {} : { expected }) }))
    const evaluation = await evaluated('checked', { version: 1, items, checks: [check] })
    expect(evaluation).toMatchObject({ state: 'done', passed: passed.every(Boolean), items_total: 2, items_done: 2 })
    expect(evaluation.items.map(({ answer }) => answer?.passed)).toEqual(passed)
  })

  test.each<[string, object, unknown]>([
    ['exact, where nothing is expected', { type: 'exact' }, undefined],
    ['contains, where JSON is expected', { type: 'contains' }, { a: 1 }],
  ])('400, and nothing is asked: more items than may fail cannot pass %s', async (_, check, expected) => {
    await save('hopeless', 'fake/one')
    const items = [
      { messages: user('one'), expected: 'echo one' },
      { messages: user('two'), expected },
      { messages: user('three'), expected },
    ]
    const body = { version: 1, items, checks: [{ type: 'latency', max_ms: 60_000 }, check] }
    expect((await start('hopeless', { ...body, dry_run: true })).status).toBe(200)
    for (const refused of [await start('hopeless', body), await start('hopeless', { ...body, min_pass_rate: 0.5 })]) {
      expect([refused.status, refused.error.metadata]).toEqual([
        400,
        expect.objectContaining({ issues: [{ path: 'checks[1]', message: expect.stringContaining('2 of 3 items expect no') }] }),
      ])
    }
    expect((await evaluated('hopeless', { ...body, min_pass_rate: 0.3 })).passed).toBe(true)
  })

  test.each([
    ['judge', {}],
    ['pairwise', { baseline: 1 }],
  ])('400, and nothing is asked: a %s whose model does not exist', async (type, more) => {
    await save('misjudged', 'fake/one')
    const before = upstream.exchanges.length
    const checks = [{ type, model: 'fake/judg', rubric: 'r' }]
    const refused = await start('misjudged', { version: 1, ...more, items: [{ messages: user('x') }], checks })
    expect([refused.status, JSON.stringify(refused.error.metadata)]).toEqual([400, expect.stringContaining('"path":"checks[0].model"')])
    expect(upstream.exchanges.length).toBe(before)
  })

  test('a judge scores by a rubric, and in a comparison of a pair in both orders an answer wins only if it wins both times', async () => {
    await save('judged', 'fake/one')
    await save('judged', 'fake/two')
    upstream.script((exchange) => {
      const said = lastUser(exchange.body.messages)
      if (exchange.body.model !== 'up-judge') return exchange.answer(200, proseAnswer(`${exchange.body.model} says ${said}`), JSON_TYPE)
      const { answer, A, conversation } = JSON.parse(said) as { answer?: string; A?: string; conversation: { content: string }[] }
      const verdict =
        answer !== undefined
          ? { score: answer.startsWith('up-two') ? 5 : 2, reason: 'so' }
          : { better: conversation[0]?.content === 'unsure' ? 'A' : A?.startsWith('up-two') === true ? 'A' : 'B' }
      return exchange.answer(200, proseAnswer(`Here it is: ${JSON.stringify(verdict)}`), JSON_TYPE)
    })
    const evaluation = await evaluated('judged', {
      version: 2,
      baseline: 1,
      items: ['sure', 'unsure'].map((text) => ({ messages: user(text) })),
      checks: [
        { type: 'judge', model: 'fake/judge', rubric: 'Be two.' },
        { type: 'pairwise', model: 'fake/judge' },
      ],
    })
    expect(evaluation).toMatchObject({ state: 'done', passed: true, summary: { preference: { wins: 1, losses: 0, ties: 1 } } })
    expect(evaluation.items[0]?.answer?.checks[0]).toMatchObject({ score: 5, passed: true })
    expect(evaluation.items[0]?.baseline?.checks[0]).toMatchObject({ score: 2, passed: false })
    expect(evaluation.summary.difference).toMatchObject({ value: 1 })
  })
})

describe('a run', () => {
  test('reports pass rates with their intervals, beside a baseline, and where its records are', async () => {
    await save('compared', 'fake/one')
    await save('compared', 'fake/two')
    upstream.script((exchange) =>
      exchange.answer(200, proseAnswer(exchange.body.model === 'up-two' ? lastUser(exchange.body.messages) : 'no'), JSON_TYPE),
    )
    const items = Array.from({ length: 10 }, (_, at) => ({ messages: user(`item ${at}`), expected: at < 8 ? `item ${at}` : 'other' }))
    const evaluation = await evaluated('compared', { version: 2, baseline: 1, items, checks: [{ type: 'exact' }], min_pass_rate: 0.8 })
    expect(evaluation).toMatchObject({ passed: true, summary: { version: { passed: 8, failed: 2, errors: 0 }, baseline: { passed: 0 } } })
    const rate = evaluation.summary.version.pass_rate
    expect([rate?.value, rate?.low, rate?.high].map((part) => Math.round((part ?? 0) * 1000))).toEqual([800, 490, 943])
    expect(evaluation.summary.difference?.low).toBeGreaterThan(0)
    const record = await call(service, 'GET', `/generation?id=${evaluation.items[0]?.answer?.generation_id}`)
    expect(record.json).toMatchObject({ data: { origin: 'evaluation', preset_slug: 'compared', preset_version: 2 } })
  })

  test('the interval of a pass rate contains the rate, even if all items or none passed', async () => {
    await save('unanimous', 'fake/one')
    const items = Array.from({ length: 10 }, (_, at) => ({ messages: user(`item ${at}`), expected: `echo item ${at}` }))
    const all = await evaluated('unanimous', { version: 1, items, checks: [{ type: 'exact' }] })
    expect(all.summary.version.pass_rate).toMatchObject({ value: 1, high: 1 })
    const others = items.slice(0, 7).map((item) => ({ ...item, expected: 'other' }))
    const none = await evaluated('unanimous', { version: 1, items: others, checks: [{ type: 'exact' }] })
    expect(none.summary.version.pass_rate).toMatchObject({ value: 0, low: 0 })
  })

  test('runs saved tests, and a failure of the provider is a failed item', async () => {
    await save('tested', 'fake/one')
    for (const text of ['good', 'bad']) {
      await call(service, 'POST', '/presets/tested/tests', { body: { name: text, messages: user(text), expected: `echo ${text}` } })
    }
    upstream.script((exchange) =>
      lastUser(exchange.body.messages) === 'bad'
        ? exchange.answer(400, '{"error":{"message":"no"}}', JSON_TYPE)
        : exchange.answer(200, proseAnswer('echo good'), JSON_TYPE),
    )
    const evaluation = await evaluated('tested', { version: 1, from_tests: true, checks: [{ type: 'exact' }] })
    expect(evaluation).toMatchObject({ state: 'done', passed: false, summary: { version: { passed: 1, errors: 1 } } })
  })

  test('never makes more simultaneous requests than allowed', async () => {
    await save('bounded', 'fake/one')
    let [now, most] = [0, 0]
    upstream.script(async (exchange) => {
      now += 1
      most = Math.max(most, now)
      await Bun.sleep(20)
      now -= 1
      await exchange.answer(200, proseAnswer('x'), JSON_TYPE)
    })
    const items = Array.from({ length: 20 }, (_, at) => ({ messages: user(`item ${at}`) }))
    await evaluated('bounded', { version: 1, items, checks: [{ type: 'contains', text: 'x' }], concurrency: 3 })
    expect(most).toBe(3)
  })

  test('stops before a request that its budget cannot cover', async () => {
    await save('poor', 'fake/one')
    const items = Array.from({ length: 30 }, (_, at) => ({ messages: user(`item ${at}`) }))
    const evaluation = await evaluated('poor', {
      version: 1,
      items,
      checks: [{ type: 'contains', text: 'echo' }],
      budget_usd: 0.000_3,
      concurrency: 2,
    })
    expect(evaluation).toMatchObject({ state: 'stopped', passed: null })
    expect(evaluation.reason).toContain('budget')
    expect(evaluation.cost).toBeLessThanOrEqual(0.000_3)
    expect(evaluation.items_done).toBeGreaterThan(0)
    expect(evaluation.items_done).toBeLessThan(30)
  })

  test('keeps to its budget on the customer’s own keys too, for which the provider charges the customer', async () => {
    const own = await services.start({ config: CONFIG })
    expect((await call(own, 'POST', '/byok', { body: { provider: 'fake', key: 'sk-of-the-customer' } })).status).toBe(201)
    await save('own', 'fake/one', own)
    const items = Array.from({ length: 30 }, (_, at) => ({ messages: user(`item ${at}`) }))
    const checks = [{ type: 'cost', max_usd: 0.000_001 }]
    const { json } = await start('own', { version: 1, items, checks, budget_usd: 0.000_3 }, own)
    const { id } = (json as { data: EvaluationWire }).data
    const evaluation = await until('own', id, ({ state }) => state !== 'running', own)
    expect([evaluation.state, evaluation.summary.version.passed]).toEqual(['stopped', 0])
    expect(evaluation.cost).toBeGreaterThan(0)
    expect(evaluation.cost).toBeLessThanOrEqual(0.000_3)
  })

  test('resumes after it was stopped or cancelled, pays for nothing twice, and cannot resume once it is done', async () => {
    await save('again', 'fake/one')
    const items = Array.from({ length: 30 }, (_, at) => ({ messages: user(`again ${at}`) }))
    const body = { version: 1, items, checks: [{ type: 'contains', text: 'echo' }], budget_usd: 0.000_3, concurrency: 1 }
    const { id, items_done: before } = await evaluated('again', body)
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(30)
    const resume = (more: object) => call(service, 'POST', `/presets/again/evaluations/${id}/resume`, { body: more })
    expect((await resume({ budget_usd: 0 })).status).toBe(400)
    expect((await resume({ budget_usd: 1 })).json).toMatchObject({
      data: { state: 'running', reason: null, ended_at: null, budget_usd: 1 },
    })
    const ended = await until('again', id, ({ state }) => state !== 'running')
    expect(ended).toMatchObject({ state: 'done', passed: true, items_done: 30, reason: null })
    const asked = upstream.exchanges.map(({ body: { messages } }) => lastUser(messages)).filter((said) => said.startsWith('again '))
    expect(asked.toSorted()).toEqual(items.map((_, at) => `again ${at}`).toSorted())
    expect((await resume({})).status).toBe(400)
  })

  test('asks again what its cancellation interrupted: an item fails only because of its answer', async () => {
    await save('cut', 'fake/one')
    let asked = 0
    const cut = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      asked += 1
      if (asked === 1) {
        await exchange.gone
        cut.resolve()
      } else await exchange.answer(200, proseAnswer('echo'), JSON_TYPE)
    })
    const body = { version: 1, items: [{ messages: user('cut') }], checks: [{ type: 'contains', text: 'echo' }] }
    const { id } = ((await start('cut', body)).json as { data: EvaluationWire }).data
    await until('cut', id, () => asked === 1)
    expect((await call(service, 'POST', `/presets/cut/evaluations/${id}/cancel`)).status).toBe(200)
    await cut.promise
    expect((await call(service, 'POST', `/presets/cut/evaluations/${id}/resume`, { body: {} })).status).toBe(200)
    expect(await until('cut', id, ({ state }) => state !== 'running')).toMatchObject({ state: 'done', passed: true })
    expect(asked).toBe(2)
  })

  test('asks no model in a dry run, and reports its possible cost', async () => {
    await save('dry', 'fake/one')
    const before = upstream.exchanges.length
    const items = [{ messages: user('one') }, { messages: user('two') }]
    const answer = await start('dry', { version: 1, items, checks: [{ type: 'judge', model: 'fake/judge', rubric: 'r' }], dry_run: true })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ data: { dry_run: true, items: 2, requests: 2, judge_requests: 2 } })
    expect((answer.json as { data: { max_usd: number } }).data.max_usd).toBeGreaterThan(0.0001)
    expect(upstream.exchanges.length).toBe(before)
  })

  test('an estimate includes judges and pairs, from empty answers to answers of full length', async () => {
    await save('priced', 'fake/one')
    await save('priced', 'fake/two')
    const priced = async (checks: readonly object[]) => {
      const body = { version: 2, baseline: 1, items: [{ messages: user('one') }, { messages: user('two') }], checks, dry_run: true }
      const { json } = await start('priced', body)
      return (json as { data: { judge_requests: number; min_usd: number; max_usd: number } }).data
    }
    const [plain, judged, paired] = [
      await priced([{ type: 'exact' }]),
      await priced([{ type: 'judge', model: 'fake/judge', rubric: 'r' }]),
      await priced([{ type: 'pairwise', model: 'fake/judge', rubric: 'r' }]),
    ]
    expect([plain, judged, paired].map(({ judge_requests }) => judge_requests)).toEqual([0, 4, 4])
    // Each judge reads at least its instructions (more than 50 tokens at a dollar per million), and writes at most 1,000 tokens after an
    // answer of 100; to compare a pair it reads two answers.
    for (const one of [judged, paired]) {
      expect(one.min_usd - plain.min_usd).toBeGreaterThan(4 * 50e-6)
      expect(one.max_usd - plain.max_usd).toBeGreaterThan(4 * (1000 + 100 + 50) * 1e-6)
    }
    expect(paired.max_usd).toBeGreaterThan(judged.max_usd)
    const unknown = await priced([{ type: 'judge', model: 'fake/unpriced', rubric: 'r' }])
    expect(unknown.max_usd).toBeNull()
  })

  test('is started once per Idempotency-Key, and returns its first answer byte for byte, even when it is done, until it is deleted', async () => {
    await save('repeated', 'fake/one')
    const body = {
      version: 1,
      name: 'n\u00e4chtlich',
      items: ['one', 'two \ud83d\ude00'].map((text) => ({ messages: user(text), expected: text })),
      checks: [{ type: 'contains' }],
    }
    const startOnce = () => call(service, 'POST', '/presets/repeated/evaluations', { body, headers: { 'idempotency-key': 'nightly' } })
    const first = await startOnce()
    expect(first.status).toBe(201)
    const { id } = (first.json as { data: EvaluationWire }).data
    await until('repeated', id, ({ state }) => state !== 'running')
    const again = await startOnce()
    expect([again.status, again.text]).toEqual([201, first.text])
    await call(service, 'DELETE', `/presets/repeated/evaluations/${id}`)
    expect((await startOnce()).status).toBe(404)
  })

  test('is listed, exported, cancelled and deleted', async () => {
    await save('kept', 'fake/one')
    const held = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      if (lastUser(exchange.body.messages) !== '=first') await held.promise
      await exchange.answer(200, proseAnswer('=1+1'), JSON_TYPE)
    })
    const items = ['=first', 'second', 'third'].map((text) => ({ messages: user(text) }))
    const { id } = (
      (await start('kept', { version: 1, items, checks: [{ type: 'contains', text: '1' }], concurrency: 1 })).json as {
        data: EvaluationWire
      }
    ).data
    await until('kept', id, ({ items_done }) => items_done === 1)
    expect((await call(service, 'POST', `/presets/kept/evaluations/${id}/cancel`, { body: {} })).json).toMatchObject({
      data: { state: 'cancelled' },
    })
    held.resolve()
    const list = (await call(service, 'GET', '/presets/kept/evaluations')).json as {
      data: { id: string; state: string }[]
      total_count: number
    }
    expect(list).toMatchObject({ total_count: 1, data: [{ id, state: 'cancelled' }] })
    const exported = (accept: string) => exportOf(`/presets/kept/evaluations/${id}`, accept)
    const csv = (await exported('text/csv')).split('\r\n')
    expect(csv).toHaveLength(5)
    expect(csv[1]).toContain("'=1+1")
    expect(
      (await exported('application/x-ndjson'))
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { position: number }).position),
    ).toEqual([0, 1, 2])
    expect(await exported('application/json, text/csv;q=0.5')).toStartWith('{"data":')
    const entries = (await call(service, 'GET', '/audit-log?action=evaluation_exported')).json as { data: object[] }
    expect(entries.data).toMatchObject(
      ['application/x-ndjson', 'text/csv'].map((as) => ({ object_type: 'preset', object_id: 'kept', after: { evaluation_id: id, as } })),
    )
    expect((await call(service, 'DELETE', `/presets/kept/evaluations/${id}`)).json).toEqual({ deleted: true })
    expect((await call(service, 'GET', `/presets/kept/evaluations/${id}`)).status).toBe(404)
  })

  test.each([
    ['no items', { version: 1, checks: [{ type: 'exact' }] }],
    ['no checks', { version: 1, items: [{ messages: user('x') }], checks: [] }],
    ['an unknown check', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'vibes' }] }],
    ['a pattern that cannot be', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'pattern', pattern: '(a)\\1' }] }],
    [
      'an item of more than 4,194,304 characters',
      { version: 1, items: [{ messages: user('x'.repeat(4_200_000)) }], checks: [{ type: 'exact' }] },
    ],
    ['a pair without a baseline', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'pairwise', model: 'fake/judge' }] }],
  ])('400: %s', async (_, body) => {
    await save('strict', 'fake/one')
    expect((await start('strict', body)).status).toBe(400)
  })

  test('404 for a preset or a version that does not exist, 403 for an inference key', async () => {
    await save('there', 'fake/one')
    const body = { version: 9, items: [{ messages: user('x') }], checks: [{ type: 'exact' }] }
    expect((await start('there', body)).status).toBe(404)
    expect((await start('absent', { ...body, version: 1 })).status).toBe(404)
    expect((await call(service, 'POST', '/presets/there/evaluations', { key: service.inferenceKey, body })).status).toBe(403)
  })
})

/** Requests on record: whole and streamed, of all three interfaces. */
const KEEP_ALL = { is_observability_io_logging_enabled: true, io_logging_retention_days: 7 }
const record = async (slug: string, texts: readonly string[], of = service): Promise<void> => {
  const ask = async (text: string, at: number): Promise<void> => {
    const stream = at % 2 === 0
    const fields = { model: `@preset/${slug}`, stream }
    const [path, body] = [
      ['/chat/completions', { ...fields, messages: user(text) }],
      ['/responses', { ...fields, input: text }],
      ['/messages', { ...fields, max_tokens: 50, messages: user(text) }],
    ][at % 3] as [string, object]
    const { status, text: reported } = await call(of, 'POST', path, { key: of.inferenceKey, body })
    expect([status, reported]).toEqual([200, expect.stringContaining(`recorded ${text}`)])
  }
  for (let at = 0; at < texts.length; at += 10) await Promise.all(texts.slice(at, at + 10).map((text, index) => ask(text, at + index)))
}

const answering = (prefix: string) =>
  upstream.script((exchange) => {
    const text = `${prefix} ${lastUser(exchange.body.messages)}`
    return exchange.body.stream === true ? say(text)(exchange) : exchange.answer(200, proseAnswer(text), JSON_TYPE)
  })

describe('a preset that requires an evaluation', () => {
  const patch = (body: object) => call(service, 'PATCH', '/presets/careful', { body })
  const items = (expected: string) => [{ messages: user('x'), expected }]
  const served = async (): Promise<number> =>
    ((await call(service, 'GET', '/presets/careful')).json as { data: { designated_version: { version: number } } }).data.designated_version
      .version

  test('lets a version go live after it has passed one, says beforehand what to do, and always allows going back', async () => {
    await save('careful', 'fake/one')
    await save('careful', 'fake/two')
    expect((await patch({ require_evaluation: true })).json).toMatchObject({ data: { require_evaluation: true } })
    const refused = await patch({ designated_version: 2 })
    expect([refused.status, refused.error.metadata['reason']]).toEqual([412, 'evaluation_required'])
    expect(refused.error.message).toContain('POST /presets/careful/evaluations with "version": 2')
    const atOnce = await call(service, 'POST', '/presets/careful/chat/completions', { body: { model: 'fake/two' } })
    expect([atOnce.status, atOnce.error.message]).toEqual([412, expect.stringContaining('?designate=false')])
    // A failed evaluation proves nothing, and neither does one of another version.
    await evaluated('careful', { version: 2, items: items('something else'), checks: [{ type: 'exact' }] })
    await evaluated('careful', { version: 1, items: items('echo x'), checks: [{ type: 'exact' }] })
    expect((await patch({ designated_version: 2 })).status).toBe(412)
    expect(await served()).toBe(1)
    await evaluated('careful', { version: 2, items: items('echo x'), checks: [{ type: 'exact' }] })
    expect((await patch({ designated_version: 2 })).status).toBe(200)
    // Version 1 was live before: a rollback needs no evaluation.
    expect((await patch({ designated_version: 1 })).status).toBe(200)
    const { json } = await call(service, 'GET', '/audit-log?object_id=careful&action=updated')
    expect((json as { data: { after: object }[] }).data.at(-1)?.after).toMatchObject({ require_evaluation: true })
  })

  test('is controlled by its own setting, which whoever may designate may also turn off', async () => {
    await save('careful', 'fake/one')
    await save('careful', 'fake/one')
    const [{ version }] = ((await call(service, 'GET', '/presets/careful/versions?order=desc')).json as { data: [{ version: number }] })
      .data
    await patch({ require_evaluation: true })
    expect((await patch({ designated_version: version })).status).toBe(412)
    expect((await patch({ designated_version: version, require_evaluation: false })).status).toBe(200)
    expect((await patch({ require_evaluation: 'yes' })).status).toBe(400)
  })
})

test('two evaluations are compared item by item, as JSON, a table and lines', async () => {
  await save('twice', 'fake/one')
  await save('twice', 'fake/two')
  const item = (text: string, expected: string) => ({ messages: user(text), expected })
  // Both versions answer "d" alike; the second answers "b" wrongly and "c" correctly.
  upstream.script((exchange) => {
    const text = lastUser(exchange.body.messages)
    const isWrong = exchange.body.model === 'up-two' ? text === 'b' : text === 'c'
    return exchange.answer(200, proseAnswer(isWrong ? '=wrong' : text), JSON_TYPE)
  })
  const checks = [{ type: 'exact' }]
  const first = await evaluated('twice', { version: 1, items: [item('a', 'a'), item('b', 'b'), item('c', 'c')], checks })
  const second = await evaluated('twice', { version: 2, items: [item('c', 'c'), item('b', 'b'), item('d', 'd')], checks })
  const path = `/presets/twice/evaluations/${second.id}/comparison?with=${first.id}`
  const { json } = await call(service, 'GET', path)
  expect(json).toMatchObject({
    data: { evaluation: { id: second.id, version: 2 }, other: { id: first.id }, better: 1, worse: 1, same: 0, difference: { value: 0 } },
  })
  const { items } = (
    json as { data: { items: { messages: { content: string }[]; change: string | null; other_answer: OutcomeWire | null }[] } }
  ).data
  expect(items.map(({ messages, change }) => [messages[0]?.content, change])).toEqual([
    ['c', 'better'],
    ['b', 'worse'],
    ['d', null],
    ['a', null],
  ])
  const csv = (await exportOf(path, 'text/csv')).split('\r\n')
  expect(csv[0]).toStartWith('change,generation_id,input,expected,passed,')
  expect(csv[2]).toContain('worse,')
  expect(csv[2]).toContain("'=wrong")
  expect((await exportOf(path, 'application/x-ndjson')).trim().split('\n')).toHaveLength(4)
  expect((await call(service, 'GET', `/presets/twice/evaluations/${second.id}/comparison`)).status).toBe(400)
  expect((await call(service, 'GET', path.replace(first.id, crypto.randomUUID()))).status).toBe(404)
  expect((await call(service, 'GET', path, { key: service.inferenceKey })).status).toBe(403)
})

const exportOf = async (path: string, accept: string): Promise<string> =>
  (await fetch(`${service.api}${path}`, { headers: { accept, authorization: `Bearer ${service.managementKey}` } })).text()

describe('recorded requests', () => {
  test('of all three interfaces are repeated unchanged with the tested version, and compared with the original answers', async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
    await save('recorded', 'fake/one')
    await save('recorded', 'fake/two')
    answering('recorded')
    await record('recorded', ['a', 'b', 'c', 'd', 'e', 'f'])
    const selection = { from: 'generations', limit: 5, expect_answer: true }
    const evaluation = await evaluated('recorded', { version: 2, items: selection, checks: [{ type: 'exact' }] })
    expect(evaluation).toMatchObject({ state: 'done', passed: true, items_total: 5 })
    // The items refer to the requests without a copy: contents are read where they are stored.
    for (const { messages, generation_id } of evaluation.items) {
      expect(messages).toBeNull()
      expect((await call(service, 'GET', `/generation/content?id=${generation_id}`)).status).toBe(200)
    }
    const repeated = await call(service, 'GET', `/generation?id=${evaluation.items[0]?.answer?.generation_id}`)
    expect(repeated.json).toMatchObject({ data: { model: 'fake/two', preset_version: 2, origin: 'evaluation' } })
    const interfaces = await Promise.all(
      evaluation.items.map(async ({ answer }) => {
        const { json } = await call(service, 'GET', `/generation?id=${answer?.generation_id}`)
        return (json as { data: { interface: string } }).data.interface
      }),
    )
    expect(new Set(interfaces)).toEqual(new Set(['chat', 'responses', 'messages']))
    const log = (await call(service, 'GET', '/audit-log?action=evaluation_started')).json as { data: { after: object }[] }
    const named = evaluation.items.map(({ generation_id }) => generation_id)
    expect(log.data[0]?.after).toMatchObject({ evaluation_id: evaluation.id, recorded: 5, generation_ids: named })
    // Requests made by an evaluation do not count as requests of callers, so the same selection finds the same ones.
    const again = await evaluated('recorded', { version: 1, items: selection, checks: [{ type: 'exact' }] })
    expect(again.items.map(({ generation_id }) => generation_id)).toEqual(evaluation.items.map(({ generation_id }) => generation_id))
  })

  test('are answered by the models of the tested version alone, not by the fallbacks that they named', async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
    await save('alone', 'fake/one')
    await save('alone', 'sandbox/error')
    for (const [path, fallbacks] of [
      ['/messages', { fallbacks: [{ model: 'fake/two' }] }],
      ['/chat/completions', { models: ['fake/two'] }],
    ] as const) {
      const body = { model: '@preset/alone@1', max_tokens: 50, messages: user('x'), ...fallbacks }
      expect((await call(service, 'POST', path, { key: service.inferenceKey, body })).status).toBe(200)
    }
    const evaluation = await evaluated('alone', {
      version: 2,
      items: { from: 'generations', preset_version: 1 },
      checks: [{ type: 'contains', text: 'x' }],
    })
    expect(evaluation).toMatchObject({ items_total: 2, passed: false, summary: { version: { passed: 0, errors: 2 } } })
  })

  test('400: compared with answers that the selection does not expect', async () => {
    await save('unexpecting', 'fake/one')
    answering('recorded')
    await record('unexpecting', ['a'])
    const body = { version: 1, items: { from: 'generations' }, checks: [{ type: 'exact' }] }
    const refused = await start('unexpecting', body)
    expect([refused.status, JSON.stringify(refused.error.metadata)]).toEqual([400, expect.stringContaining('1 of 1 items expect nothing')])
    expect((await start('unexpecting', { ...body, items: { from: 'generations', expect_answer: true } })).status).toBe(201)
  })

  test('are selected by interface and time, and a selection without matches is refused', async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
    await save('selected', 'fake/one')
    answering('recorded')
    await record('selected', ['a', 'b', 'c', 'd', 'e', 'f'])
    const dry = async (selection: object): Promise<unknown> => {
      const body = { version: 1, items: { from: 'generations', ...selection }, checks: [{ type: 'exact' }], dry_run: true }
      const { status, json } = await start('selected', body)
      return status === 200 ? (json as { data: { items: number } }).data.items : status
    }
    expect(await dry({})).toBe(6)
    expect(await dry({ interface: 'messages' })).toBe(2)
    expect(await dry({ until: '2020-01-01' })).toBe(400)
    expect(await dry({ session_id: 'nobody' })).toBe(400)
    expect(await dry({ preset: 'absent' })).toBe(400)
    expect(await dry({ preset: null, limit: 3 })).toBe(3)
    expect(await dry({ form: 'typo' })).toBe(400)
  })

  test('one whose contents were deleted meanwhile fails only its own item, and costs nothing', async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
    await save('forgotten', 'fake/one')
    answering('recorded')
    await record('forgotten', ['a', 'b'])
    const held = Promise.withResolvers<void>()
    upstream.script(async (exchange) => {
      await held.promise
      await exchange.answer(200, proseAnswer('x'), JSON_TYPE)
    })
    const { id } = (
      (await start('forgotten', { version: 1, items: { from: 'generations' }, checks: [{ type: 'contains', text: 'x' }], concurrency: 1 }))
        .json as { data: EvaluationWire }
    ).data
    const last = (await read('forgotten', id)).items[1]?.generation_id
    expect((await call(service, 'DELETE', `/generation/content?id=${last}`)).status).toBe(200)
    held.resolve()
    const evaluation = await until('forgotten', id, ({ state }) => state !== 'running')
    expect(evaluation).toMatchObject({ state: 'done', passed: false, summary: { version: { passed: 1, errors: 1 } } })
    expect(evaluation.items[1]?.answer).toMatchObject({ error: { type: 'not_found' }, cost: 0, generation_id: null })
  })
})

test('200 recorded requests are each paid for once, even if the service is killed in the middle', async () => {
  const first = await services.start({ config: CONFIG })
  await call(first, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
  await save('killed', 'fake/one', first)
  const texts = Array.from({ length: 200 }, (_, at) => `item ${at}`)
  answering('recorded')
  await record('killed', texts, first)
  const asked = new Map<string, number>()
  let [answered, isKilled] = [0, false]
  const middle = Promise.withResolvers<void>()
  upstream.script(async (exchange) => {
    answered += 1
    if (answered === 100) middle.resolve()
    // From the middle on answers are held back, so requests in flight when the service is killed were not paid for.
    if (answered > 100 && !isKilled) return
    const text = lastUser(exchange.body.messages)
    asked.set(text, (asked.get(text) ?? 0) + 1)
    await exchange.answer(200, proseAnswer(`recorded ${text}`), JSON_TYPE)
  })
  const body = { version: 1, items: { from: 'generations', limit: 200, expect_answer: true }, checks: [{ type: 'exact' }], concurrency: 5 }
  const before = await spentBy(first)
  const { id } = ((await start('killed', body, first)).json as { data: EvaluationWire }).data
  await middle.promise
  await until('killed', id, ({ items_done }) => items_done >= 100, first)
  first.signal('SIGKILL')
  await first.exited
  isKilled = true
  const { managementKey } = first
  const second = { ...(await services.start({ config: CONFIG, dataDir: first.dataDir })), managementKey }
  const evaluation = await until('killed', id, ({ state }) => state !== 'running', second)
  expect(evaluation).toMatchObject({ state: 'done', passed: true, items_total: 200, items_done: 200 })
  expect(new Set(evaluation.items.map(({ generation_id }) => generation_id)).size).toBe(200)
  // No request that was answered before the kill was sent again after it.
  expect([asked.size, ...new Set(asked.values())]).toEqual([200, 1])
  const costs = evaluation.items.map(({ answer }) => answer?.cost ?? 0)
  expect(Math.abs(evaluation.cost - costs.reduce((sum, cost) => sum + cost, 0))).toBeLessThan(1e-9)
  expect(Math.abs((await spentBy(second)) - before - evaluation.cost)).toBeLessThan(1e-9)
}, 300_000)

const spentBy = async (of: StartedService): Promise<number> =>
  ((await call(of, 'GET', '/key', { key: of.managementKey })).json as { data: { usage: number } }).data.usage

describe('patchbay eval', () => {
  const run = (args: readonly string[], set: string, name = 'set.jsonl') => {
    const file = join(services.directory(), name)
    writeFileSync(file, set)
    return services.run(['eval', ...args, '--set', file], { PATCHBAY_URL: service.url, PATCHBAY_MANAGEMENT_KEY: service.managementKey })
  }
  const line = (text: string, expected: string) => JSON.stringify({ messages: user(text), expected })

  test('exits with 0 if all items pass, otherwise with 1 and the failed items', async () => {
    await save('piped', 'fake/one')
    const good = await run(['piped', '--version', '1'], `${line('a', 'echo a')}\n${line('b', 'echo b')}\n`)
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('piped@1: passed')])
    const fromWindows = await run(['piped', '--version', '1'], `\uFEFF${line('a', 'echo a')}\r\n${line('b', 'echo b')}\r\n`)
    expect([fromWindows.code, fromWindows.stdout]).toEqual([0, expect.stringContaining('piped@1: passed')])
    const bad = await run(['piped', '--version', '1'], `${line('a', 'echo a')}\n${line('b', 'other')}\n`)
    expect(bad.code).toBe(1)
    expect(bad.stdout).toContain('50.0 % passed')
    expect(bad.stdout).toContain('item 1: exact:')
    const lenient = await run(
      ['piped', '--version', '1', '--min-pass-rate', '0.5', '--json'],
      `${line('a', 'echo a')}\n${line('b', 'other')}\n`,
    )
    expect([lenient.code, (JSON.parse(lenient.stdout) as { passed: boolean }).passed]).toEqual([0, true])
  })

  test('reads a whole evaluation from YAML, and estimates it', async () => {
    await save('yaml', 'fake/one')
    const set = 'items:\n  - messages: [{ role: user, content: a }]\nchecks:\n  - { type: contains, text: echo }\n'
    expect((await run(['yaml', '--version', '1'], set, 'set.yaml')).code).toBe(0)
    const dry = await run(['yaml', '--version', '1', '--dry-run'], set, 'set.yaml')
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([0, expect.objectContaining({ dry_run: true, requests: 1 })])
  })

  test('accepts requests on record as its items', async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: KEEP_ALL })
    await save('replayed', 'fake/one')
    answering('recorded')
    await record('replayed', ['a', 'b', 'c'])
    const set = 'items: { from: generations, limit: 2, expect_answer: true }\n'
    const { code, stdout } = await run(['replayed', '--version', '1'], set, 'set.yaml')
    expect([code, stdout]).toEqual([0, expect.stringContaining('replayed@1: passed')])
  })

  test('exits with 2 and names the line of an item that is wrong, blank lines counted', async () => {
    await save('lines', 'fake/one')
    const good = line('a', 'echo a')
    const broken = await run(['lines', '--version', '1'], `${good}\n\n{"messages":\n`)
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('set.jsonl:3: this line is not JSON.')])
    const refused = await run(['lines', '--version', '1'], `${good}\n\n{"messages":[]}\n`)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('items[1] (line 3).messages: ')])
  })

  test('exits with 2 and one sentence if it is misused', async () => {
    expect((await run(['piped', '--version', 'one'], '[]', 'set.json')).code).toBe(2)
    expect((await run(['piped', '--version', '1'], '"text"', 'set.json')).stderr).toContain('--set')
    expect((await services.run(['eval', 'piped', '--version', '1', '--set', '/nowhere'], { PATCHBAY_MANAGEMENT_KEY: 'x' })).code).toBe(2)
  })
})
