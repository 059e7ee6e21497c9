/**
 * `Idempotency-Key` on everything that creates something: it is done once, repeated requests get the same response, and nobody else gets
 * that response.
 */

import { beforeAll, describe, expect, test } from 'bun:test'

import { filesBelow } from '../support/files-below.ts'
import { type Answer, call, createKey, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const EVALUATION = { version: 1, items: [{ messages: [{ role: 'user', content: 'Hi' }] }], checks: [{ type: 'contains', text: 'Hi' }] }
const CONFIG =
  'providers:\n  fake: { name: Fake, dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-shared-0123456789 }\n'

describeEachEngine('Idempotency-Key', (engine) => {
  let service: StartedService

  beforeAll(async () => {
    const { databaseUrl } = await engine.locate()
    service = await services.start({ config: CONFIG, flags: databaseUrl === null ? [] : ['--database-url', databaseUrl] })
    await call(service, 'POST', '/presets/tried/chat/completions', { body: { model: 'sandbox/echo', messages: [] } })
  })

  const post = (path: string, body: object, idempotencyKey: string, key?: string): Promise<Answer> =>
    call(service, 'POST', path, { body, headers: { 'idempotency-key': idempotencyKey }, ...(key === undefined ? {} : { key }) })

  /** The number of objects of the kind that the request creates. */
  const count = async (path: string): Promise<number> => {
    if (path === '/credits') return ((await call(service, 'GET', path)).json as { data: { total_credits: number } }).data.total_credits ?? 0
    const { data } = (await call(service, 'GET', path === '/byok' ? '/byok?limit=100' : path)).json as { data: unknown[] }
    return data.length
  }

  const creates: readonly (readonly [string, (mark: string) => object, object])[] = [
    ['/keys', (name) => ({ name }), { name: 'other' }],
    ['/guardrails', (name) => ({ name }), { name: 'other' }],
    ['/workspaces', (name) => ({ name, slug: name }), { name: 'other', slug: 'other' }],
    ['/byok', (name) => ({ name, provider: 'fake', key: 'sk-own-0123456789-abcd' }), { provider: 'fake', key: 'sk-own-0123456789-efgh' }],
    ['/credits', (note) => ({ amount_usd: 1, note }), { amount_usd: 2 }],
    ['/presets/tried/evaluations', (name) => ({ name, ...EVALUATION }), { name: 'other', ...EVALUATION }],
  ]

  describe.each(creates)('POST %s', (path, bodyOf, other) => {
    test('is done once, and each repetition gets the first answer, byte for byte', async () => {
      const before = await count(path)
      const first = await post(path, bodyOf('again'), 'key-1')
      expect(first.status).toBe(201)
      for (let round = 0; round < 3; round += 1) {
        const repeated = await post(path, bodyOf('again'), 'key-1')
        expect([repeated.status, repeated.text]).toEqual([201, first.text])
      }
      expect(await count(path)).toBe(before + 1)
    })

    test('16 at once make one', async () => {
      const before = await count(path)
      const answers = await Promise.all(Array.from({ length: 16 }, () => post(path, bodyOf('at-once'), 'key-2')))
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(await count(path)).toBe(before + 1)
    })

    test('400: the same key with another body, or for another workspace; nothing is created', async () => {
      await post(path, bodyOf('mine'), 'key-3')
      const before = await count(path)
      const refused = await post(path, other, 'key-3')
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('used with another request')])
      if (path !== '/workspaces') expect((await post(`${path}?workspace_id=default`, bodyOf('mine'), 'key-3')).status).toBe(400)
      expect(await count(path)).toBe(before)
      for (const malformed of ['with space', 'x'.repeat(256)]) expect((await post(path, bodyOf('mine'), malformed)).status).toBe(400)
    })

    test('a refusal does not use the key up: the next request with it can succeed', async () => {
      expect((await post(path, { no_such_member: 1 }, 'key-4')).status).toBe(400)
      expect((await post(path, bodyOf('later'), 'key-4')).status).toBe(201)
    })
  })

  test('a sign-in link is created once, and no cache keeps the answer', async () => {
    const body = { user_id: 'visitor' }
    const [first, again] = [await post('/login-links', body, 'link'), await post('/login-links', body, 'link')]
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(again.headers.get('cache-control')).toBe('no-store')
    const { data } = (await call(service, 'GET', '/audit-log?action=login_link_created&object_id=visitor')).json as { data: unknown[] }
    expect(data).toHaveLength(1)
    expect((await post('/login-links', { user_id: 'other' }, 'link')).status).toBe(400)
  })

  test('a key is rotated once: the secret of a lost answer is shown after all, and the grace of the one before goes on', async () => {
    const key = await createKey(service, { name: 'rotated' })
    const path = `/keys/${key.data.hash}/rotate`
    const body = { grace_seconds: 3600 }
    const [first, again] = [await post(path, body, 'rotate'), await post(path, body, 'rotate')]
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect(again.headers.get('cache-control')).toBe('no-store')
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }
    for (const secret of [key.key, (first.json as { key: string }).key])
      expect((await infer(service, chat, { key: secret })).status).toBe(200)
    expect((await post(path, { grace_seconds: 0 }, 'rotate')).status).toBe(400)
    const other = await createKey(service, { name: 'other' })
    expect((await post(`/keys/${other.data.hash}/rotate`, body, 'rotate')).status).toBe(400)
  })

  test('a preset is made once from a request that was answered, with the same warnings', async () => {
    const answered = await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] })
    const body = { generation_id: answered.headers.get('x-generation-id') }
    const path = '/presets/from-request/from-generation'
    const [first, again] = [await post(path, body, 'from'), await post(path, body, 'from')]
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect((first.json as { warnings: unknown[] }).warnings).not.toEqual([])
    expect([first, again].map(({ headers }) => headers.get('x-service-warnings'))).toEqual(['1', '1'])
    expect(await count('/presets/from-request/versions')).toBe(1)
    expect((await post(path, { generation_id: 'gen-other' }, 'from')).status).toBe(400)
    expect((await post(`${path}?designate=false`, body, 'from')).status).toBe(400)
  })

  test('a preset is made once, with the warnings of the first answer, whatever has changed since', async () => {
    const forbid = (tools: string[]) => call(service, 'PATCH', '/workspaces/default', { body: { disabled_server_tools: tools } })
    const warningsOf = ({ headers }: Answer) => ['x-service-warnings', 'x-service-warning'].map((name) => headers.get(name))
    const path = '/presets/warned/responses?designate=false'
    const body = { model: 'sandbox/echo', tools: [{ type: 'service:datetime' }] }
    await forbid(['datetime'])
    const first = await post(path, body, 'warned')
    expect(warningsOf(first)).toEqual(['2', expect.stringMatching(/^tools\[0\].* The first version of a preset is served in any case/)])
    await forbid([])
    const again = await post(path, body, 'warned')
    expect([again.text, ...warningsOf(again)]).toEqual([first.text, ...warningsOf(first)])
    const second = await post(path, body, 'silent')
    await forbid(['datetime'])
    expect([warningsOf(second), warningsOf(await post(path, body, 'silent'))]).toEqual([
      [null, null],
      [null, null],
    ])
    await forbid([])
  })

  test('a workspace whose slug is taken does not use the key up', async () => {
    expect((await post('/workspaces', { name: 'x', slug: 'default' }, 'key-5')).status).toBe(409)
    expect((await post('/workspaces', { name: 'x', slug: 'free-now' }, 'key-5')).status).toBe(201)
  })

  test('a repetition shows a new key again only to the API key that created it', async () => {
    const second = await createKey(service, { name: 'manager', kind: 'management' })
    const body = { name: 'shown once' }
    const made = (await post('/keys', body, 'key-6')).json as { key: string }
    expect((await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }, { key: made.key })).status).toBe(
      200,
    )
    expect(((await post('/keys', body, 'key-6')).json as { key: string }).key).toBe(made.key)
    const others = (await post('/keys', body, 'key-6', second.key)).json as { key: string }
    expect(others.key).not.toBe(made.key)
    if (engine.name === 'postgres') return
    // The stored response is sealed.
    const stored = filesBelow(service.dataDir).map((bytes) => bytes.toString('latin1'))
    expect(stored.some((text) => text.includes(made.key))).toBe(false)
  })

  test('the answers survive a restart', async () => {
    if (engine.name === 'postgres') return
    const before = await services.start({ config: CONFIG })
    const ask = async (to: StartedService): Promise<string> =>
      (
        await call(to, 'POST', '/keys', {
          key: before.managementKey,
          body: { name: 'kept' },
          headers: { 'idempotency-key': 'over-a-crash' },
        })
      ).text
    const first = await ask(before)
    before.signal('SIGKILL')
    await before.exited
    expect(await ask(await services.start({ config: CONFIG, dataDir: before.dataDir }))).toBe(first)
  })
})
