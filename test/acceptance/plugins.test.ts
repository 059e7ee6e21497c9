/** Plugins that a request, its workspace or its preset enables, on the way to the provider and back. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, createKey, infer, savePreset } from '../support/calls.ts'
import { type Exchange, proseAnswer, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const moderator = await startFakeUpstream()
let service: StartedService
let bare: StartedService

const providers = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  draining: { name: Draining, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential, on_cancel: drain }
models:
  fake/drained: { context_length: 8192, endpoints: [{ provider: draining, model: small, prices: { prompt: 1, completion: 1 } }] }
  fake/small: { context_length: 8192, endpoints: [{ provider: fake, model: small, prices: { prompt: 1, completion: 1 } }] }
  fake/painter: { context_length: 8192, output_modalities: [image], endpoints: [{ provider: fake, model: painter }] }
  fake/large: { context_length: 200000, endpoints: [{ provider: fake, model: large, prices: { prompt: 2, completion: 2 } }] }
  fake/judge: { context_length: 200000, endpoints: [{ provider: fake, model: judge, prices: { prompt: 100, completion: 100 } }] }
  fake/smart: { context_length: 200000, endpoints: [{ provider: fake, model: smart, prices: { prompt: 9, completion: 9 } }] }
`

beforeAll(async () => {
  service = await services.start({
    config: `${providers}
moderation:
  trusted_hosts: ["${new URL(moderator.url).host}"]
  endpoints:
    house: { kind: openai, name: House, url: "${moderator.url}/moderations", on_failure: allow }
plugins:
  alignment: { model: fake/judge }
  pareto: { scores: { fake/small: 0.4, fake/large: 0.7, fake/smart: 0.9 } }
`,
  })
  bare = await services.start({ config: providers })
})

const messages = [{ role: 'user', content: 'Hello' }]

const ask = (more: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}, at = service): Promise<Answer> =>
  infer(at, { model: 'fake/large', messages, ...more }, { headers: { 'x-service-metadata': 'enabled', ...headers } })

interface AnswerWire {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
  readonly service_metadata: { readonly pipeline?: readonly Stage[]; readonly warnings?: readonly { code: string; field: string }[] }
}

interface Stage {
  readonly type: string
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

const answerOf = ({ json }: Answer): AnswerWire => json as AnswerWire
const textOf = (answer: Answer): string => answerOf(answer).choices[0]?.message.content ?? ''
const stagesOf = (answer: Answer): readonly Stage[] => answerOf(answer).service_metadata.pipeline ?? []

describe('validation', () => {
  test('400: the same plugin twice', async () => {
    const { status, error } = await ask({ plugins: [{ id: 'moderation' }, { id: 'moderation' }] })
    expect([status, error.message]).toEqual([400, 'plugins[1].id: The plugin "moderation" is named twice.'])
  })

  test('an unknown plugin is reported, and refused if the request is strict', async () => {
    upstream.script(say('Fine.'))
    const plugins = [{ id: 'of-tomorrow' }]
    expect(answerOf(await ask({ plugins })).service_metadata.warnings).toMatchObject([{ code: 'unknown_plugin', field: 'plugins[0].id' }])
    expect((await ask({ plugins }, { 'x-service-strict': 'enabled' })).status).toBe(400)
  })

  test.each([
    [{ id: 'jev-router' }, 'jev-router'],
    [{ id: 'fusion' }, 'tools.fusion.presets'],
    [{ id: 'pareto-router' }, 'plugins.pareto.scores'],
    [{ id: 'moderation' }, 'moderation.endpoints'],
    [{ id: 'alignment', rules: ['Be kind.'] }, 'plugins.alignment.model'],
    [{ id: 'switchyard-router' }, '"capability"'],
    [{ id: 'switchyard-router', algorithm: 'stage' }, '"stage"'],
  ])('400 before any provider is asked if a plugin cannot run, naming what is missing: %j', async (plugin, named) => {
    const before = upstream.exchanges.length
    const { status, error } = await ask({ plugins: [plugin] }, {}, bare)
    expect(status).toBe(400)
    expect(error.message).toContain(named)
    expect(upstream.exchanges).toHaveLength(before)
    upstream.script(say('Fine.'))
    expect((await ask({ plugins: [{ ...plugin, enabled: false }] }, {}, bare)).status).toBe(200)
  })
})

describe('response-healing', () => {
  const json = { response_format: { type: 'json_object' }, plugins: [{ id: 'response-healing' }] }
  const written = '```json\n{"n": 9007199254740993, "a": [1, 2,]\n```'
  const mended = '{"n": 9007199254740993, "a": [1, 2]}'

  test('a whole answer is repaired in place: the provider’s other members stay unchanged', async () => {
    upstream.script((exchange) => exchange.answer(200, proseAnswer(written, { x_vendor: { n: 1 } })))
    const answer = await ask(json)
    expect(textOf(answer)).toBe(mended)
    expect(answer.json).toMatchObject({ x_vendor: { n: 1 } })
    expect(stagesOf(answer)).toMatchObject([{ type: 'response_healing', name: 'response-healing', data: { healed: true } }])
  })

  test.each([
    [{ type: 'object', required: ['a'] }, true],
    [{ type: 'object', required: ['b'] }, false],
  ])('the metadata says whether the repaired answer matches its schema; nothing is added to it: %j', async (schema, valid) => {
    upstream.script(say('{"a": 1,}'))
    const answer = await ask({ ...json, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
    expect(textOf(answer)).toBe('{"a": 1}')
    expect(stagesOf(answer)).toMatchObject([{ data: { healed: true, valid } }])
  })

  test('each of several choices is repaired by itself', async () => {
    const choices = ['I cannot.', '{"a": 2,}'].map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }))
    upstream.script((exchange) => exchange.answer(200, proseAnswer('', { choices })))
    const schema = { type: 'object' }
    const answer = await ask({ ...json, n: 2, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
    expect(answerOf(answer).choices.map(({ message }) => message.content)).toEqual(['I cannot.', '{"a": 2}'])
  })

  test('a translated answer is repaired too', async () => {
    upstream.script(say(written))
    const { text } = await infer(
      service,
      { model: 'fake/large', input: 'Hello', text: { format: { type: 'json_object' } }, plugins: [{ id: 'response-healing' }] },
      { path: '/responses' },
    )
    expect(text).toContain(JSON.stringify(mended).slice(1, -1))
  })

  test.each([
    ['a stream', { ...json, stream: true }, {}],
    ['an answer that was cut', json, { finish: 'length' }],
    ['an answer that is no JSON by order', { ...json, response_format: { type: 'text' } }, {}],
    ['a request without it', { response_format: { type: 'json_object' } }, {}],
  ])('%s stays unchanged', async (_, fields, { finish }: { finish?: string }) => {
    upstream.script((exchange) =>
      exchange.answer(200, finish === undefined ? proseAnswer(written) : proseAnswer(written).replace('"stop"', `"${finish}"`)),
    )
    if ('stream' in fields) upstream.script(say(written))
    const { text } = await ask(fields)
    expect(text).not.toContain(JSON.stringify(mended).slice(1, -1))
    expect(text).not.toContain('response_healing')
  })

  test('a preset can enable it', async () => {
    upstream.script(say(written))
    await savePreset(service, 'healer', { model: 'fake/large', plugins: [{ id: 'response-healing' }], messages }, 'chat/completions')
    expect(textOf(await infer(service, { model: '@preset/healer', messages, response_format: { type: 'json_object' } }))).toBe(mended)
  })
})

describe('context-compression', () => {
  const long = [
    { role: 'system', content: 'The rules.' },
    ...Array.from({ length: 41 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${'word '.repeat(200)}` })),
  ]
  const sent = () => upstream.last.body.messages

  test('a small model gets what fits by default: the middle is left out, and the metadata says so', async () => {
    upstream.script(say('Fine.'))
    const answer = await ask({ model: 'fake/small', messages: long })
    expect(answer.status).toBe(200)
    expect(JSON.stringify(sent()).length / 4).toBeLessThan(8192)
    expect(sent().length).toBeGreaterThan(20)
    expect([sent()[0], sent()[1], sent().at(-1)]).toEqual([long[0], long[1], long.at(-1)] as never)
    expect(stagesOf(answer)).toMatchObject([
      {
        type: 'context_compression',
        name: 'context-compression',
        data: { engine: 'middle-out', input_type: 'messages', original_count: 42, compressed_count: sent().length },
      },
    ])
  })

  test.each([
    ['off', { plugins: [{ id: 'context-compression', enabled: false }] }],
    ['an empty list of transforms', { transforms: [] }],
    ['pictures alone', { modalities: ['image'] }],
    ['a model of pictures alone', { model: 'fake/painter', plugins: [{ id: 'context-compression' }] }],
  ])('nothing is left out: %s', async (_, fields) => {
    upstream.script(say('Fine.'))
    const answer = await ask({ model: 'fake/small', messages: long, ...fields })
    expect(sent()).toHaveLength(42)
    expect(stagesOf(answer)).toEqual([])
  })

  test.each([
    ['the plugin', { plugins: [{ id: 'context-compression' }] }],
    ['the older word', { transforms: ['middle-out'] }],
  ])('a large model gets it if it is requested: %s', async (_, fields) => {
    upstream.script(say('Fine.'))
    const huge = long.map(({ role, content }) => ({ role, content: content.repeat(25) }))
    await ask({ model: 'fake/large', messages: huge })
    expect(sent()).toHaveLength(42)
    const answer = await ask({ model: 'fake/large', messages: huge, ...fields })
    expect(JSON.stringify(sent()).length / 4).toBeLessThan(200_000)
    expect(stagesOf(answer)).toHaveLength(1)
  })

  test('an unknown transform is a warning, a 400 under strict, and does not affect the known ones', async () => {
    upstream.script(say('Fine.'))
    const body = { model: 'fake/small', messages: long, transforms: ['nonsense'] }
    const answer = await ask(body)
    expect(answerOf(answer).service_metadata.warnings).toMatchObject([{ code: 'unknown_plugin', field: 'transforms[0]' }])
    // A small model gets it by default.
    expect(stagesOf(answer)).toHaveLength(1)
    const strict = await ask({ ...body, strict: true })
    expect([strict.status, strict.error.message]).toEqual([400, expect.stringContaining('"nonsense"')])
  })

  test('a budget must cover what is sent, not what was left out', async () => {
    upstream.script(say('Fine.'))
    const { key } = await createKey(service, { name: 'poor', limit: 0.02 })
    const body = { model: 'fake/small', max_tokens: 10, messages: long.map(({ role, content }) => ({ role, content: content.repeat(2) })) }
    expect((await infer(service, body, { key })).status).toBe(200)
    expect((await infer(service, { ...body, transforms: [] }, { key })).status).toBe(403)
  })
})

describe('moderation', () => {
  test('403 with its findings for what the endpoint flags; otherwise the request continues', async () => {
    upstream.script(say('Fine.'))
    moderator.script((exchange) => exchange.answer(200, '{"results":[{"flagged":true,"categories":{"harassment":true}}]}'))
    const { status, error } = await ask({ plugins: [{ id: 'moderation' }] })
    expect(status).toBe(403)
    expect(error.metadata).toMatchObject({ reasons: ['harassment'], flagged_input: 'Hello', provider_name: 'House' })
    moderator.script((exchange) => exchange.answer(200, '{"results":[{"flagged":false}]}'))
    expect((await ask({ plugins: [{ id: 'moderation' }] })).status).toBe(200)
  })

  test('503 without a verdict, even if guardrails would let the request pass', async () => {
    moderator.script((exchange) => exchange.answer(500, '{}'))
    expect((await ask({ plugins: [{ id: 'moderation' }] })).status).toBe(503)
  })
})

describe('routers', () => {
  const asked = async (fields: Readonly<Record<string, unknown>>): Promise<string> => {
    upstream.script(say('Fine.'))
    const answer = await ask(fields)
    return answer.status === 200 ? upstream.last.body.model : `${answer.status}`
  }
  const pareto = (preferences: object) => ({ model: 'openrouter/pareto-code', plugins: [{ id: 'pareto-router', ...preferences }] })

  test('pareto-router: the best model if no score is requested, otherwise the cheapest that has it', async () => {
    expect(await asked({ model: 'patchbay/pareto-code' })).toBe('smart')
    expect(await asked(pareto({ min_coding_score: 0.7 }))).toBe('large')
    expect(await asked(pareto({ min_coding_score: 0.4 }))).toBe('small')
    expect(await asked(pareto({ max_price: 5 }))).toBe('large')
    expect(await asked(pareto({ min_coding_score: 0.9, max_price: 1 }))).toBe('404')
    expect(await asked({ ...pareto({}), model: 'fake/small' })).toBe('small')
  })

  test('switchyard-router: one of the request’s models at random, or the first', async () => {
    const models = ['fake/small', 'fake/large', 'fake/smart']
    const drawn = new Set<string>()
    for (let turn = 0; turn < 60 && drawn.size < 3; turn += 1) {
      drawn.add(await asked({ model: undefined, models, plugins: [{ id: 'switchyard-router', algorithm: 'random' }] }))
    }
    expect([...drawn].toSorted()).toEqual(['large', 'small', 'smart'])
    expect(await asked({ model: undefined, models, plugins: [{ id: 'switchyard-router', algorithm: 'passthrough' }] })).toBe('small')
  })

  test('auto-router: pin_model continues with the model that the assistant’s last message names', async () => {
    const spoken = (model: string) => [...messages, { role: 'assistant', content: 'Yes?', model }, { role: 'user', content: 'Go on' }]
    for (const [model, name] of [
      ['fake/smart', 'smart'],
      ['fake/small', 'small'],
    ] as const) {
      const plugins = [{ id: 'auto-router', allowed_models: ['fake/*'], pin_model: true }]
      expect(await asked({ model: 'patchbay/auto', messages: spoken(model), plugins })).toBe(name)
    }
    const plugins = [{ id: 'auto-router', allowed_models: ['fake/large'], pin_model: true }]
    expect(await asked({ model: 'patchbay/auto', messages: spoken('fake/smart'), plugins })).toBe('large')
  })
})

describe('alignment', () => {
  const rules = ['Tells no secret.', 'Is kind.']
  const align = (options: object = {}) => ({ plugins: [{ id: 'alignment', rules, ...options }] })

  test.each(['enforce', 'audit'])('%s: no judge is asked about an answer that its client has left, and that is drained', async (mode) => {
    const { promise: asked, resolve } = Promise.withResolvers<Exchange>()
    const models: unknown[] = []
    upstream.script((exchange) => {
      models.push(exchange.body.model)
      return exchange.body.model === 'judge' ? exchange.answer(200, proseAnswer('{"probabilities": [0.9, 0]}')) : resolve(exchange)
    })
    const { key } = await createKey(service, { name: 'leaving' })
    const leaving = new AbortController()
    const request = infer(service, { model: 'fake/drained', messages, ...align({ mode }) }, { key, signal: leaving.signal }).catch(
      () => null,
    )
    const exchange = await asked
    leaving.abort()
    await request
    await Bun.sleep(100)
    await exchange.answer(200, proseAnswer('The SECRET is 42.'))
    const used = async () => ((await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }).data.usage
    await until(async () => (await used()) > 0, 'the charge')
    expect(models).toEqual(['small'])
  })

  let made = 0
  let judged: string[] = []

  /** The model says these texts one after the other; the judge rejects every text that contains SECRET. */
  const saying = (
    texts: readonly string[],
    verdict = (text: string) => `\`\`\`json\n{"probabilities": [${text.includes('SECRET') ? 0.9 : 0.1}, 0]}\n\`\`\``,
  ) => {
    made = 0
    judged = []
    upstream.script((exchange) => {
      if (exchange.body.model !== 'judge') {
        const text = texts[Math.min(made, texts.length - 1)] ?? ''
        made += 1
        return say(text)(exchange)
      }
      const asked = (exchange.body.messages.at(-1)?.content as readonly { text: string }[] | undefined)?.[0]?.text ?? ''
      judged.push(asked)
      return exchange.answer(200, proseAnswer(verdict((JSON.parse(asked) as { message: { text: string } }).message.text)))
    })
  }

  const BLOCKED = {
    call: 1,
    outcome: 'blocked',
    rules: [
      { broken: true, probability: 0.9 },
      { broken: false, probability: 0 },
    ],
  }
  const ALLOWED = {
    outcome: 'allowed',
    rules: [
      { broken: false, probability: 0.1 },
      { broken: false, probability: 0 },
    ],
  }

  test.each([
    ['/chat/completions', { messages }],
    ['/responses', { input: 'Hello' }],
    ['/messages', { messages, max_tokens: 100 }],
  ])(
    '%s: an answer that breaks a rule is made again once, then reported as allowed; none of the first is delivered, streamed or whole',
    async (path, words) => {
      for (const stream of [false, true]) {
        saying(['The SECRET is 42.', 'I keep it.'])
        const { status, text } = await infer(service, { model: 'fake/large', ...words, stream, ...align() }, { path })
        expect(status).toBe(200)
        expect(text).not.toContain('SECRET')
        expect(text).toContain('I keep it.')
        expect(text).toContain(JSON.stringify({ calls: [BLOCKED, { call: 2, ...ALLOWED }] }))
        expect([made, judged.length]).toEqual([2, 2])
      }
    },
  )

  test.each([
    ['/chat/completions', { messages }],
    ['/responses', { input: 'Hello' }],
    ['/messages', { messages, max_tokens: 100 }],
  ])('%s: 403 with the findings once the retries are used up, streamed or whole', async (path, words) => {
    for (const stream of [false, true]) {
      saying(['The SECRET is 42.'])
      const { status, text } = await infer(service, { model: 'fake/large', ...words, stream, ...align({ max_retries: 0 }) }, { path })
      expect(status).toBe(403)
      expect(text).not.toContain('SECRET')
      expect(text).toContain(JSON.stringify({ calls: [BLOCKED] }))
      expect(made).toBe(1)
    }
  })

  test('a message that is made again is charged, as the one that is delivered is, each with its judgement', async () => {
    const costOf = async (...texts: string[]): Promise<number> => {
      saying(texts)
      return ((await ask(align())).json as { usage: { cost: number } }).usage.cost
    }
    const once = await costOf('I keep it.')
    expect(once).toBeGreaterThan(0)
    expect(await costOf('The SECRET is 42.', 'I keep it.')).toBeCloseTo(2 * once, 9)
  })

  test('the rules go through the guardrails of the caller before a model reads them', async () => {
    const secret = { rules: ['Never mention PROJ-17.'] }
    const filter = (action: string) =>
      call(service, 'PATCH', '/guardrails/default', { body: { content_filters: [{ pattern: 'PROJ-\\d+', action, label: 'PROJECT' }] } })
    await filter('redact')
    saying(['I keep it.'], () => '{"probabilities": [0.1]}')
    const before = upstream.exchanges.length
    const redacted = await ask(align(secret))
    await filter('block')
    const blocked = await ask(align(secret))
    await call(service, 'DELETE', '/guardrails/default')
    expect([redacted.status, blocked.status]).toEqual([200, 403])
    const sent = upstream.exchanges.slice(before).map(({ text }) => text)
    expect(sent.map((text) => text.includes('Never mention [PROJECT].'))).toEqual([true, true])
    expect(sent.filter((text) => text.includes('PROJ-17'))).toEqual([])
  })

  test('audit delivers the findings, with the outcome and the cost of the judge', async () => {
    saying(['The SECRET is 42.'])
    const answer = await ask(align({ mode: 'audit' }))
    expect(textOf(answer)).toBe('The SECRET is 42.')
    expect(answer.json).toMatchObject({ alignment: { calls: [BLOCKED] } })
    const [stage] = stagesOf(answer)
    expect(stage).toMatchObject({ type: 'plugin', name: 'alignment', data: { mode: 'audit' } })
    const cost = (stage as unknown as { cost_usd: number }).cost_usd
    expect(cost).toBeGreaterThan(0.0009)
    expect((answer.json as { usage: { cost: number } }).usage.cost).toBeGreaterThan(cost)
  })

  test('only the first of several choices is judged and answered, with a warning, and a strict request is refused', async () => {
    saying(['Fine.'])
    const several = await ask({ ...align(), n: 2 })
    expect([several.status, several.headers.get('x-service-warnings')]).toEqual([200, '1'])
    expect(answerOf(several).choices).toHaveLength(1)
    expect((await ask({ ...align(), n: 2, strict: true })).status).toBe(400)
    expect((await ask({ ...align({ mode: 'audit' }), n: 2 })).headers.get('x-service-warnings')).toBeNull()
  })

  test('threshold: a rule counts as broken from this probability on', async () => {
    saying(['The SECRET is 42.'])
    expect((await ask(align({ threshold: 0.91 }))).status).toBe(200)
    expect((await ask(align({ threshold: 0.9, max_retries: 0 }))).status).toBe(403)
  })

  test.each([
    ['no JSON', 'It is fine.'],
    ['too few numbers', '{"probabilities": [0]}'],
    ['no numbers', '{"probabilities": ["0", "0"]}'],
    ['numbers that are no probabilities', '{"probabilities": [-1, 0]}'],
  ])('503 if the judge gives no verdict, and audit says so: %s', async (_, verdict) => {
    saying(['The SECRET is 42.'], () => verdict)
    const { status, text } = await ask(align())
    expect(status).toBe(503)
    expect(text).not.toContain('SECRET')
    expect((await ask(align({ mode: 'audit' }))).json).toMatchObject({
      alignment: { calls: [{ call: 1, outcome: 'unjudged', rules: [] }] },
    })
  })

  test('the model gets the rules, unless instruct is false; the judge gets only the rules and the message', async () => {
    saying(['Fine.'])
    await ask(align())
    const reported = upstream.exchanges.filter(({ body }) => body.model === 'large').at(-1)?.body.messages
    expect(reported?.[0]).toEqual({ role: 'system', content: 'Your messages must keep these rules:\n- Tells no secret.\n- Is kind.' })
    expect(JSON.parse(judged[0] ?? '')).toEqual({ rules, message: { text: 'Fine.', tool_calls: [] } })
    await ask(align({ instruct: false }))
    expect(upstream.exchanges.filter(({ body }) => body.model === 'large').at(-1)?.body.messages).toEqual(messages)
  })

  test('a call that breaks a rule is not run', async () => {
    saying([''])
    const script = [{ text: 'The SECRET', call: { name: 'service:datetime' } }, { text: 'Done.' }]
    const fields = { model: 'sandbox/agent', tools: [{ type: 'service:datetime' }], sandbox: { script } }
    const { status, text } = await ask({ ...fields, ...align({ max_retries: 0 }) })
    expect([status, judged.length]).toEqual([403, 1])
    expect(text).not.toContain('server_tool')
    expect(JSON.parse(judged[0] ?? '')).toMatchObject({ message: { tool_calls: [{ name: 'service_datetime' }] } })
    saying([''])
    const allowed = await ask({ ...fields, sandbox: { script: [{ ...script[0], text: 'Let me see.' }, script[1]] }, ...align() })
    expect(textOf(allowed)).toContain('Done.')
    expect(allowed.json).toMatchObject({
      alignment: {
        calls: [
          { call: 1, ...ALLOWED },
          { call: 2, ...ALLOWED },
        ],
      },
    })
  })

  test("the judge's own answer is not judged if the workspace enables the plugin", async () => {
    await call(service, 'PATCH', '/workspaces/default', { body: { plugins: [{ id: 'alignment', rules, locked: true }] } })
    saying(['Fine.'])
    expect((await ask({})).json).toMatchObject({ alignment: { calls: [{ call: 1, ...ALLOWED }] } })
    expect(judged).toHaveLength(1)
    await call(service, 'PATCH', '/workspaces/default', { body: { plugins: null } })
  })

  test.each([[[]], [['']], [['x'.repeat(2001)]], [Array.from({ length: 33 }, () => 'r')]])(
    '400: rules that are too few, too many or too long',
    async (wrong) => {
      expect((await ask({ plugins: [{ id: 'alignment', rules: wrong }] })).status).toBe(400)
    },
  )
})

describe('the plugins of a workspace', () => {
  const settle = (plugins: unknown): Promise<Answer> => call(service, 'PATCH', '/workspaces/default', { body: { plugins } })
  const json = { response_format: { type: 'json_object' } }

  test('apply to requests that do not name them, and can be switched off', async () => {
    expect((await settle([{ id: 'response-healing' }])).status).toBe(200)
    upstream.script(say('{"a": 1,}'))
    expect(textOf(await ask(json))).toBe('{"a": 1}')
    expect(textOf(await ask({ ...json, plugins: [{ id: 'response-healing', enabled: false }] }))).toBe('{"a": 1,}')
  })

  test('that are locked stay, with a warning; 400 if the request is strict', async () => {
    await settle([{ id: 'response-healing', locked: true }])
    upstream.script(say('{"a": 1,}'))
    const off = { ...json, plugins: [{ id: 'response-healing', enabled: false }] }
    const answer = await ask(off)
    expect(textOf(answer)).toBe('{"a": 1}')
    expect(answerOf(answer).service_metadata.warnings).toMatchObject([{ code: 'locked_field', field: 'plugins[0]' }])
    expect((await ask(off, { 'x-service-strict': 'enabled' })).status).toBe(400)
    expect(answerOf(await ask({ ...json, plugins: [{ id: 'response-healing' }] })).service_metadata.warnings).toBeUndefined()
    expect((await settle(null)).status).toBe(200)
    expect(textOf(await ask(json))).toBe('{"a": 1,}')
  })

  test.each([[[{ id: 'nothing' }]], [[{ id: 'web', max_results: 'many' }]], [[{ id: 'moderation' }, { id: 'moderation' }]], [[{}]]])(
    '400: %j is not kept',
    async (plugins) => {
      expect((await settle(plugins)).status).toBe(400)
    },
  )
})

describe('docs/plugins.md', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/plugins.md'), 'utf8')
  const commands = [
    ...page.matchAll(/```sh\ncurl (?:-X (\w+) )?"\$PATCHBAY_URL\/api\/v1(\S+)" -H "Authorization: Bearer \$(\w+)".*?-d '(.*?)'\n```/gs),
  ]

  let documented: StartedService

  beforeAll(async () => {
    documented = await services.start({
      config: `${providers}
moderation:
  trusted_hosts: ["${new URL(moderator.url).host}"]
  endpoints: { house: { kind: openai, url: "${moderator.url}/moderations" } }
${/```yaml\n(plugins:\n  pareto.*?)\n```/s.exec(page)?.[1] ?? ''}
  alignment: { model: fake/judge }
`,
    })
  })

  test.each(commands.map(([, method = 'POST', path = '', key = '', body = '']) => [body, { method, path, key }] as const))(
    'the command with %s does what it says',
    async (body, { method, path, key }) => {
      moderator.script((exchange) => exchange.answer(200, '{"results":[{"flagged":false}]}'))
      upstream.script(say('{"probabilities": [0]}'))
      const { status, text } = await call(documented, method, path, {
        body,
        key: key === 'MANAGEMENT_KEY' ? documented.managementKey : documented.inferenceKey,
      })
      expect([status, text]).toEqual([200, expect.any(String)])
      if (body.includes('Kyoto')) expect(text).toContain(JSON.stringify('{"city": "Kyoto"}'))
    },
  )

  test('has a command for each plugin that runs', () => {
    for (const id of [
      'response-healing',
      'context-compression',
      'moderation',
      'alignment',
      'pareto-router',
      'switchyard-router',
      'auto-router',
    ]) {
      expect(commands.some(([, , , , body]) => body?.includes(`"${id}"`))).toBe(true)
    }
  })
})
