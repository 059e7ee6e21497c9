/**
 * Faults of products like this one (docs/contract/operating.md#addresses,
 * docs/contract/keys-and-workspaces.md#authentication): each is tried here against our own. Rows that have a test
 * elsewhere: 1 src/http/access/authenticate.test.ts, 2 src/keys/keys.test.ts, 10, 20, 41 src/http/app.test.ts (every route with
 * every kind of key), 11 src/root-secret.test.ts, 42 byok.test.ts, 38 the ledger's own tests.
 */
import { connect } from 'node:net'

import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, infer, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const evil = await startFakeUpstream()
upstream.script(say('Hello.'))
let service: StartedService
/** A management and an inference key of a workspace other than the default one. */
let tenant: { management: string; inference: string }

const dataOf = ({ json }: Answer): Record<string, unknown> => (json as { data: Record<string, unknown> }).data
const keyOf = ({ json }: Answer): string => (json as { key: string }).key

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: sk-operator-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
  })
  await call(service, 'POST', '/workspaces', { body: { name: 'Tenant', slug: 'tenant' } })
  const make = async (kind: string) => keyOf(await call(service, 'POST', '/keys?workspace_id=tenant', { body: { name: kind, kind } }))
  tenant = { management: await make('management'), inference: await make('inference') }
})

const messages = [{ role: 'user', content: 'Hi' }]

describe('3 and 4, CVE-2026-49468, CVE-2026-48710: the Host decides nothing', () => {
  const raw = (target: string, host: string, key: string | null): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url)
      const socket = connect(Number(port), hostname)
      let received = ''
      socket.on('data', (piece) => (received += String(piece)))
      socket.once('error', reject)
      socket.once('close', () => resolve(Number(received.split(' ')[1])))
      const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${authorization}Connection: close\r\n\r\n`)
    })

  test.each(['a/?', 'a/#', 'localhost/health/live?', 'a/health/live#', '@evil', 'a\\b', 'evil.example', '127.0.0.1', ''])(
    '%p',
    async (host) => {
      // 400, or what any other Host would get: never admitted without a key, and never as somebody else.
      expect([400, 401]).toContain(await raw('/api/v1/keys', host, null))
      expect([400, 403]).toContain(await raw('/api/v1/keys', host, service.inferenceKey))
      expect([400, 404]).toContain(await raw('/api/v1/presets/never', host, service.managementKey))
    },
  )

  test.each([
    'http://evil.example/health/live/../../api/v1/keys',
    'http://a/health/live',
    '//health/live/../api/v1/keys',
    '/api/v1/keys/?/health/live',
  ])('the target %p lets in nobody without a key', async (target) => {
    const status = await raw(target, 'localhost', null)
    expect(status === 200 ? target : status).toSatisfy(
      (reported) => reported === 'http://a/health/live' || [400, 401, 404].includes(Number(reported)),
    )
  })
})

test('6, 18, CVE-2026-42203, CVE-2024-2952: what looks like a template is text', async () => {
  const texts = ['{{7*7}}', '${7*7}', '<%= 7*7 %>', '#{7*7}', '{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}']
  for (const text of texts) {
    await savePreset(service, 'template', { model: 'sandbox/echo', instructions: text })
    expect((await call(service, 'GET', '/presets/template')).preset.designated_version.system_prompt).toBe(text)
    const answered = await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: text }] })
    expect((answered.json as { choices: { message: { content: string } }[] }).choices[0]?.message.content).toBe(text)
    await infer(service, { model: 'fake/one', messages: [{ role: 'system', content: text }, ...messages] })
    expect(upstream.last.body.messages[0]?.content).toBe(text)
  }
})

describe('8, CVE-2026-47101: no key makes a key with more rights', () => {
  test('an inference key makes none', async () => {
    expect((await call(service, 'POST', '/keys', { key: service.inferenceKey, body: { name: 'x' } })).status).toBe(403)
  })

  test('a management key makes none outside its workspace, and none in the name of a stranger', async () => {
    const own = dataOf(await call(service, 'GET', '/workspaces/default'))['id']
    for (const workspace_id of [own, 'default']) {
      expect(
        (await call(service, 'POST', '/keys', { key: tenant.management, body: { name: 'x', kind: 'management', workspace_id } })).status,
      ).toBe(404)
    }
    const body = { name: 'x', creator_user_id: 'user_of_another_workspace' }
    expect((await call(service, 'POST', '/keys', { key: tenant.management, body })).status).toBe(400)
  })
})

describe('9, CVE-2026-47102: a body sets what its operation names, and nothing else', () => {
  const more = {
    hash: 'ab'.repeat(32),
    digest: 'ab'.repeat(32),
    pepper_id: 'x',
    workspaceId: 'x',
    is_management_key: true,
    usage: -1000,
    created_at: '2000-01-01T00:00:00.000Z',
    deleted_at: '2000-01-01T00:00:00.000Z',
    label: 'x',
    role: 'admin',
    version: 9,
    created_by: 'x',
    label_: 'x',
  }

  test('keys: neither kind nor workspace nor use are changed by an update', async () => {
    const made = await call(service, 'POST', '/keys', { body: { name: 'mass' } })
    const before = dataOf(made)
    const path = `/keys/${String(before['hash'])}`
    const fixed = { ...more, kind: 'management', workspace_id: 'tenant', creator_user_id: 'x' }
    for (const [member, value] of Object.entries(fixed)) {
      expect([member, (await call(service, 'PATCH', path, { body: { name: 'mass 2', [member]: value } })).status]).toEqual([member, 400])
    }
    for (const [member, value] of Object.entries(more)) {
      expect([member, (await call(service, 'POST', '/keys', { body: { name: 'mass', [member]: value } })).status]).toEqual([member, 400])
    }
    expect(dataOf(await call(service, 'GET', path))).toEqual({ ...before, limits: [] })
    expect((await call(service, 'GET', '/presets', { key: keyOf(made) })).status).toBe(403)
  })

  test('workspaces, provider keys and presets', async () => {
    const workspace = dataOf(await call(service, 'GET', '/workspaces/tenant'))
    for (const [member, value] of Object.entries({ ...more, id: 'x', base_url: evil.url })) {
      expect((await call(service, 'PATCH', '/workspaces/tenant', { body: { name: 'Taken', [member]: value } })).status).toBe(400)
      const entered = { provider: 'fake', key: 'sk-12345678', [member]: value }
      expect((await call(service, 'POST', '/byok', { body: entered })).status).toBe(400)
    }
    expect(dataOf(await call(service, 'GET', '/workspaces/tenant'))).toEqual(workspace)
    await savePreset(service, 'mass', { model: 'sandbox/echo', ...more, workspace_id: 'x', status: 'archived' })
    expect((await call(service, 'GET', '/presets/mass')).preset).toMatchObject({ status: 'active', designated_version: { version: 1 } })
  })
})

test('13, CVE-2026-59822: an unknown scheme is 401 and never passed on', async () => {
  const before = upstream.exchanges.length
  for (const authorization of [
    'Basic dXNlcjpwYXNz',
    'Token x',
    `Digest ${service.inferenceKey}`,
    service.inferenceKey,
    'Bearer',
    'Bearer  ',
  ]) {
    const answered = await infer(service, { model: 'fake/one', messages }, { key: null, headers: { authorization } })
    expect(answered.status).toBe(401)
  }
  expect(upstream.exchanges).toHaveLength(before)
})

test('14, 43, 47: the routes that need no key are these, and none of them describes the installation', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security: unknown[] }>>
  }
  const open = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { security }]) => (security.length === 0 ? [`${method} ${path}`] : [])),
  )
  expect(open.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'get /',
    // The sign-in page shows these to everybody.
    'get /api/v1/sessions/methods',
    // The files of the dashboard are the same for everybody.
    'get /dashboard',
    'get /dashboard/assets/{file}',
    'get /dashboard/{rest}',
    'get /docs',
    'get /health/live',
    'get /health/ready',
    'get /metrics',
    'get /openapi.json',
    // The link or the management key is in the body.
    'post /api/v1/sessions',
  ])
  for (const path of [
    '/debug',
    '/sso/debug/callback',
    '/config',
    '/.env',
    '/api/v1/debug',
    '/health/readiness',
    '/mcp-rest/test/connection',
  ]) {
    expect((await fetch(service.url + path, { headers: { authorization: `Bearer ${service.managementKey}` } })).status).toBe(404)
  }
})

describe('16, 17, 27, PYSEC-2026-4070, CVE-2024-6587, CVE-2025-66405: nothing in a request chooses where it goes', () => {
  const overrides = {
    api_base: evil.url,
    base_url: evil.url,
    baseURL: evil.url,
    host: evil.url,
    api_key: 'x',
    user_config: { api_base: evil.url },
  }
  const headers = Object.fromEntries(
    ['x-portkey-custom-host', 'x-custom-host', 'x-upstream-url', 'x-forwarded-host', 'x-original-url', 'x-base-url', 'x-provider-host'].map(
      (name) => [name, evil.url],
    ),
  )

  test.each(Array.from({ length: 10 }, (_, index) => index + 1))('at depth %d of a body', async (depth) => {
    let nested: Record<string, unknown> = overrides
    for (let level = 1; level < depth; level += 1) nested = { ...overrides, metadata: nested, litellm_params: nested }
    const before = upstream.exchanges.length
    await infer(service, { ...nested, model: 'fake/one', messages, metadata: undefined }, { headers })
    expect(upstream.exchanges.length).toBe(before + 1)
    expect(upstream.last.headers['authorization']).toBe('Bearer sk-operator-credential')
    for (const name of Object.keys(headers)) expect(upstream.last.headers[name]).toBeUndefined()
    expect(evil.exchanges).toHaveLength(0)
  })

  test('an upstream that is a router reads no other model, provider or credential than the one that was allowed', async () => {
    const steering = {
      extra_body: { model: 'dear' },
      fallbacks: [{ model: 'dear' }],
      context_window_fallbacks: [{ one: ['dear'] }],
      content_policy_fallbacks: [{ one: ['dear'] }],
      router_settings_override: { fallbacks: [{ one: ['dear'] }] },
      custom_llm_provider: 'dear',
      litellm_credential_name: 'dear',
    }
    const { headers } = await infer(service, { ...steering, model: 'fake/one', messages })
    // Clients of other services send settings of a model in `extra_body`, so the loss is reported.
    expect(headers.get('x-service-warnings')).toBe('1')
    expect(upstream.last.text).not.toContain('dear')
    expect(Object.keys(upstream.last.body)).toEqual(['model', 'messages'])
  })
})

describe('19, 33, CVE-2024-5225, CVE-2026-25591: hostile filters', () => {
  const hostile = ["'", "' OR '1'='1", '1;DROP TABLE api_keys', '%', '_', '%%%%%%%%', '\\', '\u0001', '-1', '1e9', 'NaN', '[]', 'null', 'é']

  test('are 200, 400 or 404, and match nothing that they do not name', async () => {
    const paths = ['/keys', '/presets', '/workspaces', '/byok', '/audit-log', '/activity', '/credits', '/models', '/generation']
    const names = [
      'offset',
      'limit',
      'workspace_id',
      'provider',
      'object_type',
      'object_id',
      'date',
      'api_key_hash',
      'user_id',
      'id',
      'include_disabled',
      'sort',
      'order',
    ]
    const statuses = new Set<number>()
    for (const path of paths) {
      for (const name of names) {
        for (const value of hostile) {
          const answered = await call(service, 'GET', `${path}?${name}=${encodeURIComponent(value)}`)
          statuses.add(answered.status)
        }
      }
    }
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400, 404])
    for (const wildcard of ['%', '_', '%25']) {
      expect((await call(service, 'GET', `/audit-log?object_type=${encodeURIComponent(wildcard)}`)).json).toMatchObject({ total_count: 0 })
      expect((await call(service, 'GET', `/byok?provider=${encodeURIComponent(wildcard)}`)).json).toMatchObject({ total_count: 0 })
    }
    expect((await call(service, 'GET', '/keys')).status).toBe(200)
  })
})

test('23, CVE-2025-11203: health tells next to nothing', async () => {
  for (const path of ['/health/live', '/health/ready']) {
    const text = await (await fetch(service.url + path)).text()
    expect(text.length).toBeLessThan(100)
    expect(text).not.toContain('sk-operator-credential')
  }
})

test('24, PYSEC-2026-1545: another type of body is refused without being read', async () => {
  const boundary = 'x'.repeat(70)
  const answered = await infer(service, `--${boundary}\r\n`.repeat(1000), {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  expect([400, 415]).toContain(answered.status)
  expect(answered.text).toContain('application/json')
})

test('35, CVE-2026-41432: a secret that is empty or short stops the start', async () => {
  for (const secret of ['short', 'x'.repeat(31)]) {
    const { code, stderr } = await services.run(['serve', '--port', '0'], { PATCHBAY_SECRET: secret })
    expect([code, stderr]).toEqual([2, expect.stringContaining('PATCHBAY_SECRET must hold at least 32 bytes')])
  }
})

test('36, 37, CVE-2026-64859: no list and no object holds what is secret', async () => {
  const entered = await call(service, 'POST', '/byok', { body: { provider: 'fake', key: 'sk-PLANTED-0123456789abcdef' } })
  const answers = await Promise.all(
    [
      '/keys',
      '/key',
      '/workspaces',
      '/workspaces/default/members',
      '/byok',
      `/byok/${String(dataOf(entered)['id'])}`,
      '/audit-log?limit=100',
      '/activity',
    ].map((path) => call(service, 'GET', path)),
  )
  for (const { text, status } of [entered, ...answers]) {
    expect(status).toBeLessThan(300)
    for (const secret of [
      'PLANTED-0123',
      'digest',
      'pepper',
      'sealed',
      'wrapped',
      'kek_id',
      service.managementKey,
      service.inferenceKey,
      tenant.inference,
    ]) {
      expect(text).not.toContain(secret)
    }
  }
  await call(service, 'DELETE', `/byok/${String(dataOf(entered)['id'])}`)
})

test('44: __proto__, constructor and prototype are names like others, at every depth of every body', async () => {
  const poison = '{"__proto__":{"kind":"management","polluted":true},"constructor":{"prototype":{"kind":"management","polluted":true}}}'
  const deep = Array.from({ length: 10 }).reduce<string>((inner) => `{"__proto__":{"kind":"management"},"constructor":${inner}}`, poison)
  for (const bad of [poison, deep]) {
    const fields = bad.slice(1)
    const made = await call(service, 'POST', '/keys', { body: { name: 'clean' } })
    expect((await call(service, 'POST', '/keys', { body: `{"name":"poisoned",${fields}` })).status).toBe(400)
    for (const [method, path] of [
      ['PATCH', `/keys/${String(dataOf(made)['hash'])}`],
      ['POST', '/workspaces'],
      ['PUT', '/workspaces/default/budgets/daily'],
      ['POST', '/byok'],
      ['POST', '/credits'],
    ] as const) {
      expect((await call(service, method, path, { body: bad })).status).toBe(400)
    }
    expect((await infer(service, `{"model":"sandbox/echo","messages":[{"role":"user","content":"Hi"}],${fields}`)).status).toBeLessThan(500)
    expect((await savePreset(service, 'poisoned', `{"model":"sandbox/echo",${fields}`)).status).toBe(200)
    expect((await call(service, 'GET', '/keys', { key: keyOf(made) })).status).toBe(403)
  }
  expect((await call(service, 'POST', '/keys', { body: { name: 'clean' } })).json).toMatchObject({ data: { kind: 'inference' } })
})
