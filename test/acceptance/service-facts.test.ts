/** The facts that the service reports about itself and its providers, and its search. */

import { beforeAll, describe, expect, test } from 'bun:test'

import { call, createKey, infer, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { signInAs } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

const CONFIG = `
limits: { loop_lag_ms: 0 }
sandbox: false
providers:
  good:
    name: Good
    dialects: [openai-chat]
    base_url: "${upstream.url}"
    api_key: "sk-upstream-secret-0123456789"
models:
  fake/good: { endpoints: [{ provider: good, model: up }] }
timeouts: { first_token: 33 }
`

beforeAll(async () => {
  service = await services.start({ config: CONFIG, env: { PATCHBAY_LOG_LEVEL: 'warn' }, flags: ['--drain-seconds', '3'] })
  upstream.script(say('well'))
})

const ask = async () =>
  (await infer(service, { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }] })).headers.get('x-generation-id') ?? ''

describe('GET /service', () => {
  interface Facts {
    readonly settings: readonly { readonly name: string; readonly value: unknown; readonly source: string; readonly place: string | null }[]
    readonly [member: string]: unknown
  }
  const facts = async (key: string | null = service.managementKey) => {
    const answer = await call(service, 'GET', '/service', { key })
    return { ...answer, data: (answer.json as { data: Facts }).data }
  }

  test('tells each setting with where it comes from, and no secret', async () => {
    const { data, text } = await facts()
    const find = (name: string) => data.settings.find((setting) => setting.name === name)
    expect(find('--drain-seconds')).toEqual({ name: '--drain-seconds', value: 3, source: 'flag', place: '--drain-seconds' })
    expect(find('--log-level')).toMatchObject({ value: 'warn', source: 'variable', place: 'PATCHBAY_LOG_LEVEL' })
    expect(find('--workers')).toMatchObject({ value: 1, source: 'default', place: null })
    expect(find('timeouts.first_token')).toMatchObject({ value: 33, source: 'file', place: `${service.configPath}:12` })
    expect(find('timeouts.idle')).toMatchObject({ source: 'default', place: null })
    expect(find('sandbox')).toMatchObject({ value: false, source: 'file' })
    expect(data).toMatchObject({
      engine: 'sqlite',
      version: expect.any(String) as string,
      audit_objects: expect.arrayContaining(['api_key', 'preset', 'workspace']) as string[],
      config_errors: [],
      switches: { sandbox: false, dashboard: true },
    })
    expect(data['processes']).toHaveLength(1)
    expect(text).not.toContain('sk-upstream-secret')
  })

  test('tells why a file was not taken, until one is', async () => {
    service.configure(`${CONFIG}\nnonsense: 1\n`)
    service.signal('SIGHUP')
    await until(async () => ((await facts()).data['config_errors'] as unknown[]).length === 1, 'the fault')
    expect(JSON.stringify((await facts()).data['config_errors'])).toContain('nonsense')
    service.configure(CONFIG)
    service.signal('SIGHUP')
    await until(async () => ((await facts()).data['config_errors'] as unknown[]).length === 0, 'the end of the fault')
  })

  test('401 without a key, 403 for a key that calls models and for a member', async () => {
    expect((await facts(null)).status).toBe(401)
    expect((await facts(service.inferenceKey)).status).toBe(403)
    const member = await signInAs(service, { user_id: 'mia', role: 'member' })
    expect((await member.ask('GET', '/service')).status).toBe(403)
    expect((await member.ask('GET', '/providers/health')).status).toBe(403)
  })
})

describe('GET /providers/health', () => {
  interface Health {
    readonly slug: string
    readonly status: string
    readonly strip: readonly { readonly ok: number; readonly failed: number }[]
    readonly endpoints: readonly { readonly [member: string]: unknown }[]
    readonly [member: string]: unknown
  }
  const health = async () => {
    const { json, text } = await call(service, 'GET', '/providers/health')
    return { text, good: (json as { data: readonly Health[] }).data.find(({ slug }) => slug === 'good') }
  }

  test('a provider that fails is told at once with its last error, and is well again when it answers', async () => {
    await ask()
    expect((await health()).good).toMatchObject({ status: 'ok', last_error: null, uptime: 100, breaker: { state: 'closed', until: null } })
    upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'The engine burst.' } })))
    await ask()
    const { good, text } = await health()
    expect(good).toMatchObject({
      name: 'Good',
      status: 'degraded',
      last_error: { type: 'server', status: 500, message: expect.stringContaining('The engine burst.') as string },
      credentials: [{ label: '…6789', refused_at: null, rests_until: null }],
      endpoints: [{ model: 'fake/good', tag: 'good', status: 'degraded' }],
    })
    expect([good?.strip.length, good?.strip.at(-1)?.failed]).toEqual([48, 1])
    expect(text).not.toContain('sk-upstream-secret')
    upstream.script(say('well'))
    await ask()
    expect((await health()).good).toMatchObject({ status: 'ok' })
  })

  test('a provider that fails again and again stays degraded although it answers in between, over a restart too', async () => {
    const first = await services.start({ config: CONFIG })
    const question = { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }] }
    for (const word of ['first', 'second', 'third']) {
      upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: `The ${word} engine burst.` } })))
      await infer(first, question)
      upstream.script(say('well'))
      await infer(first, question)
    }
    await first.stop()
    const { managementKey } = first
    const again = { ...(await services.start({ config: CONFIG, dataDir: first.dataDir })), managementKey }
    const { json } = await call(again, 'GET', '/providers/health')
    expect((json as { data: readonly Health[] }).data).toMatchObject([
      { slug: 'good', status: 'degraded', last_error: { message: expect.stringContaining('The third engine burst.') as string } },
    ])
  })

  test('a key that the provider refused says when', async () => {
    upstream.script((exchange) => exchange.answer(401, JSON.stringify({ error: { message: 'No.' } })))
    await ask()
    const { good } = await health()
    expect(good?.['credentials']).toMatchObject([{ refused_at: expect.any(String) as string, rests_until: expect.any(String) as string }])
    upstream.script(say('well'))
  })
})

describe('GET /search', () => {
  const search = async (q: string, key: string | null = service.managementKey) => {
    const answer = await call(service, 'GET', `/search?q=${encodeURIComponent(q)}`, { key })
    return { ...answer, hits: (answer.json as { data: readonly { type: string; id: string; title: string }[] }).data }
  }

  test('finds an id, a preset, a key by its name and its last four, a model and a member', async () => {
    const id = await ask()
    const { json } = await call(service, 'GET', `/generation?id=${id}`)
    const requestId = (json as { data: { request_id: string } }).data.request_id
    const { key, data } = await createKey(service, { name: '100%_checkout' })
    await savePreset(service, 'support-bot', { model: 'fake/good', input: 'hi' })
    await signInAs(service, { user_id: 'grace', role: 'member' })
    const first = async (q: string) => (await search(q)).hits[0]
    expect(await first(id)).toMatchObject({ type: 'generation', id })
    expect(await first(id.replace('gen-', 'resp_'))).toMatchObject({ type: 'generation', id })
    expect(await first(requestId)).toMatchObject({ type: 'request', id: requestId })
    expect(await first('support')).toMatchObject({ type: 'preset', id: 'support-bot' })
    expect(await first('100%_check')).toMatchObject({ type: 'key', id: data.hash })
    expect(await first(key.slice(-4))).toMatchObject({ type: 'key', id: data.hash })
    expect(await first('fake/go')).toMatchObject({ type: 'model', id: 'fake/good' })
    expect(await first('grace')).toMatchObject({ type: 'member', id: 'grace' })
    expect((await search('%')).hits.every(({ title }) => title.includes('%'))).toBe(true)
  })

  test('a member finds own keys and requests alone, and active presets', async () => {
    const foreign = await ask()
    const member = await signInAs(service, { user_id: 'mia', role: 'member' })
    const own = await call(service, 'POST', '/keys', { body: { name: 'mine', creator_user_id: 'mia' } })
    await call(service, 'POST', '/keys', { body: { name: 'mine too' } })
    const find = async (q: string) =>
      ((await member.ask('GET', `/search?q=${q}`)).json as { data: readonly { id: string }[] }).data.map(({ id }) => id)
    expect(await find('mine')).toEqual([(own.json as { data: { hash: string } }).data.hash])
    expect(await find(foreign)).toEqual([])
    expect(await find('grace')).toEqual([])
    expect(await find('support-bot')).toEqual(['support-bot'])
  })

  test('at most eight, of each kind some; 400, 401, 403', async () => {
    for (let count = 0; count < 12; count += 1) await call(service, 'POST', '/keys', { body: { name: `fake number ${count}` } })
    const { hits } = await search('fake')
    expect(hits).toHaveLength(8)
    expect(new Set(hits.map(({ type }) => type))).toEqual(new Set(['key', 'model']))
    expect((await search('')).status).toBe(400)
    expect((await search('a', null)).status).toBe(401)
    expect((await search('a', service.inferenceKey)).status).toBe(403)
  })
})

test('a key of another workspace reads no sentence about the requests of others, and nothing of the operator', async () => {
  await call(service, 'POST', '/workspaces', { body: { name: 'Tenant', slug: 'tenant' } })
  const { key } = await createKey(service, { name: 'theirs', kind: 'management', workspace_id: 'tenant' })
  upstream.script((exchange) => exchange.answer(500, JSON.stringify({ error: { message: 'Failed over "the words of a neighbour".' } })))
  await ask()
  upstream.script(say('well'))
  const [own, theirs] = [await call(service, 'GET', '/providers/health'), await call(service, 'GET', '/providers/health', { key })]
  expect([own.text.includes('the words of a neighbour'), theirs.text.includes('the words of a neighbour')]).toEqual([true, false])
  const [good] = (theirs.json as { data: { slug: string }[] }).data.filter(({ slug }) => slug === 'good')
  expect(good).toMatchObject({
    last_error: { status: 500, message: null },
    credentials: [],
    endpoints: [{ last_error: { message: null } }],
  })
  const facts = await call(service, 'GET', '/service', { key })
  expect(facts.json).toMatchObject({ data: { engine: 'sqlite', processes: [], settings: [], config_errors: [] } })
  expect(facts.text).not.toContain(service.configPath)
})
