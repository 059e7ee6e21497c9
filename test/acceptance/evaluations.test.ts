/** Evaluations (docs/contract/presets.md#evaluations): what is run, checked, paid for once, and told. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
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
  readonly items: readonly { position: number; state: string; answer: OutcomeWire | null; baseline: OutcomeWire | null }[]
}

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
  fake/two: { endpoints: [{ provider: fake, model: up-two, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
  fake/judge: { endpoints: [{ provider: fake, model: up-judge, prices: { prompt: 1, completion: 1 }, max_completion_tokens: 100 }] }
`

beforeAll(async () => {
  service = await services.start({ config: CONFIG })
})

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

  test('a judge scores by a rubric, and of a pair that it compares in both orders only the same answer twice wins', async () => {
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
  test('tells pass rates with their intervals, beside a baseline, and where its records are', async () => {
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

  test('makes no more requests at once than it may', async () => {
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

  test('stops before the request that its budget does not bear', async () => {
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

  test('asks nobody on a dry run, and tells what it may cost', async () => {
    await save('dry', 'fake/one')
    const before = upstream.exchanges.length
    const items = [{ messages: user('one') }, { messages: user('two') }]
    const answer = await start('dry', { version: 1, items, checks: [{ type: 'judge', model: 'fake/judge', rubric: 'r' }], dry_run: true })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ data: { dry_run: true, items: 2, requests: 2, judge_requests: 2 } })
    expect((answer.json as { data: { max_usd: number } }).data.max_usd).toBeGreaterThan(0.0001)
    expect(upstream.exchanges.length).toBe(before)
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
    const exported = async (accept: string) => {
      const headers = { accept, authorization: `Bearer ${service.managementKey}` }
      return (await fetch(`${service.api}/presets/kept/evaluations/${id}`, { headers })).text()
    }
    const csv = (await exported('text/csv')).split('\r\n')
    expect(csv).toHaveLength(5)
    expect(csv[1]).toContain("'=1+1")
    expect(
      (await exported('application/x-ndjson'))
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { position: number }).position),
    ).toEqual([0, 1, 2])
    expect((await call(service, 'DELETE', `/presets/kept/evaluations/${id}`)).json).toEqual({ deleted: true })
    expect((await call(service, 'GET', `/presets/kept/evaluations/${id}`)).status).toBe(404)
  })

  test.each([
    ['no items', { version: 1, checks: [{ type: 'exact' }] }],
    ['no checks', { version: 1, items: [{ messages: user('x') }], checks: [] }],
    ['an unknown check', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'vibes' }] }],
    ['a pattern that cannot be', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'pattern', pattern: '(a)\\1' }] }],
    ['a pair without a baseline', { version: 1, items: [{ messages: user('x') }], checks: [{ type: 'pairwise', model: 'fake/judge' }] }],
  ])('400: %s', async (_, body) => {
    await save('strict', 'fake/one')
    expect((await start('strict', body)).status).toBe(400)
  })

  test('404 for a preset or a version that is not there, 403 for an inference key', async () => {
    await save('there', 'fake/one')
    const body = { version: 9, items: [{ messages: user('x') }], checks: [{ type: 'exact' }] }
    expect((await start('there', body)).status).toBe(404)
    expect((await start('absent', { ...body, version: 1 })).status).toBe(404)
    expect((await call(service, 'POST', '/presets/there/evaluations', { key: service.inferenceKey, body })).status).toBe(403)
  })
})

test('200 items are each paid for once, though the service is killed in the middle', async () => {
  const first = await services.start({ config: CONFIG })
  await save('killed', 'fake/one', first)
  let answered = 0
  const middle = Promise.withResolvers<void>()
  upstream.script(async (exchange) => {
    answered += 1
    if (answered === 100) middle.resolve()
    // From the middle on answers wait: what is under way when the service dies was not paid for.
    if (answered > 100 && !isKilled) return
    await exchange.answer(200, proseAnswer(`echo ${lastUser(exchange.body.messages)}`), JSON_TYPE)
  })
  let isKilled = false
  const items = Array.from({ length: 200 }, (_, at) => ({ messages: user(`item ${at}`), expected: `echo item ${at}` }))
  const { id } = (
    (await start('killed', { version: 1, items, checks: [{ type: 'exact' }], concurrency: 5 }, first)).json as { data: EvaluationWire }
  ).data
  await middle.promise
  await until('killed', id, ({ items_done }) => items_done >= 100, first)
  first.signal('SIGKILL')
  await first.exited
  isKilled = true
  const { managementKey } = first
  const second = { ...(await services.start({ config: CONFIG, dataDir: first.dataDir })), managementKey }
  const evaluation = await until('killed', id, ({ state }) => state !== 'running', second)
  expect(evaluation).toMatchObject({ state: 'done', passed: true, items_done: 200 })
  const asked = new Map<string, number>()
  for (const { body } of upstream.exchanges) {
    const text = lastUser(body.messages)
    if (text.startsWith('item ')) asked.set(text, (asked.get(text) ?? 0) + 1)
  }
  const price = evaluation.items[0]?.answer?.cost ?? 0
  expect(Math.abs(evaluation.cost - 200 * price)).toBeLessThan(1e-9)
  const spent = (await call(second, 'GET', '/key', { key: second.managementKey })).json as { data: { usage: number } }
  expect(Math.abs(spent.data.usage - evaluation.cost)).toBeLessThan(1e-9)
}, 120_000)

describe('patchbay eval', () => {
  const run = (args: readonly string[], set: string, name = 'set.jsonl') => {
    const file = join(services.directory(), name)
    writeFileSync(file, set)
    return services.run(['eval', ...args, '--set', file], { PATCHBAY_URL: service.url, PATCHBAY_MANAGEMENT_KEY: service.managementKey })
  }
  const line = (text: string, expected: string) => JSON.stringify({ messages: user(text), expected })

  test('ends with 0 where all pass, with 1 and the failed items where not', async () => {
    await save('piped', 'fake/one')
    const good = await run(['piped', '--version', '1'], `${line('a', 'echo a')}\n${line('b', 'echo b')}\n`)
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('piped@1: passed')])
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

  test('takes a whole evaluation from YAML, and estimates it', async () => {
    await save('yaml', 'fake/one')
    const set = 'items:\n  - messages: [{ role: user, content: a }]\nchecks:\n  - { type: contains, text: echo }\n'
    expect((await run(['yaml', '--version', '1'], set, 'set.yaml')).code).toBe(0)
    const dry = await run(['yaml', '--version', '1', '--dry-run'], set, 'set.yaml')
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([0, expect.objectContaining({ dry_run: true, requests: 1 })])
  })

  test('ends with 2 and one sentence where it is misused', async () => {
    expect((await run(['piped', '--version', 'one'], '[]', 'set.json')).code).toBe(2)
    expect((await run(['piped', '--version', '1'], '"text"', 'set.json')).stderr).toContain('--set')
    expect((await services.run(['eval', 'piped', '--version', '1', '--set', '/nowhere'], { PATCHBAY_MANAGEMENT_KEY: 'x' })).code).toBe(2)
  })
})
