/** Management request bodies: every member is applied, or the request is refused with the reason. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, savePreset } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
/** Existing objects for the path parameters. */
let objects: { readonly hash: string; readonly guardrail: string; readonly byok: string; readonly destination: string }

const dataOf = (answer: Answer): Readonly<Record<string, string>> => (answer.json as { data: Record<string, string> }).data

beforeAll(async () => {
  service = await services.start({
    config: [
      'limits: { max_body_bytes: 65536 }',
      'providers:',
      '  fake: { name: Fake, dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-shared-0123456789 }',
      '',
    ].join('\n'),
  })
  const [key, guardrail, byok, destination] = [
    await call(service, 'POST', '/keys', { body: { name: 'x' } }),
    await call(service, 'POST', '/guardrails', { body: { name: 'x' } }),
    await call(service, 'POST', '/byok', { body: { provider: 'fake', key: 'sk-own-0123456789' } }),
    await call(service, 'POST', '/observability/destinations?skip_test=true', {
      body: { name: 'x', type: 'webhook', config: { url: 'https://example.com/traces' } },
    }),
  ].map(dataOf)
  objects = {
    hash: key?.['hash'] ?? '',
    guardrail: guardrail?.['id'] ?? '',
    byok: byok?.['id'] ?? '',
    destination: destination?.['id'] ?? '',
  }
  await savePreset(service, 'mine', { model: 'sandbox/echo' })
})

/** Every management operation of the running service that has a body. Presets are left out, since they ignore what they do not store. */
const operations = async (): Promise<readonly (readonly [string, string])[]> => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { requestBody?: object; security: { bearer?: string[] }[] }>>
  }
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { requestBody, security }]) => requestBody !== undefined && security[0]?.bearer?.[0] === 'management')
      .map(([method]) => [method.toUpperCase(), path.replace('/api/v1', '')] as const)
      .filter(([method, at]) => !(method === 'POST' && at.startsWith('/presets/'))),
  )
}

const concrete = (path: string): string =>
  path.replace('{hash}', objects.hash).replace('{slug}', 'mine').replace('{interval}', 'daily').replace('{id}', idFor(path))

const withIds = (path: string): string => path.replace(/[A-Z]{2,}/, (name) => objects[name.toLowerCase() as keyof typeof objects])

const idFor = (path: string): string => {
  if (path.startsWith('/byok')) return objects.byok
  if (path.startsWith('/guardrails')) return objects.guardrail
  return path.startsWith('/observability') ? objects.destination : 'default'
}

test('400: a member that no operation knows, with its path; nothing is changed', async () => {
  const all = await operations()
  expect(all.length).toBeGreaterThan(14)
  for (const [method, path] of all) {
    const answer = await call(service, method, concrete(path), { body: { no_such_member: 1 } })
    expect([method, path, answer.status]).toEqual([method, path, 400])
    const issues = answer.error.metadata['issues'] as { path: string; message: string }[]
    expect([method, path, issues.map((issue) => issue.path)]).toEqual([method, path, expect.arrayContaining(['no_such_member'])])
    expect(issues.find((issue) => issue.path === 'no_such_member')?.message).toStartWith('Unknown field.')
  }
})

describe('an unknown member', () => {
  test.each([
    ['POST', '/keys', { name: 'x', expires: '2099-01-01T00:00:00Z' }, 'expires', 'expires_at'],
    ['POST', '/keys', { name: 'x', external: { usr: 'acme', user: 'a' } }, 'external.usr', 'user'],
    ['POST', '/workspaces', { name: 'x', slug: 'x', default_model: 'a' }, 'default_model', 'default_text_model'],
    ['POST', '/guardrails', { name: 'x', limitUSD: 1 }, 'limitUSD', 'limit_usd'],
    [
      'POST',
      '/guardrails',
      { name: 'x', content_filters: [{ pattern: 'a', actions: 'block', action: 'flag' }] },
      'content_filters[0].actions',
      'action',
    ],
    ['PUT', '/workspaces/default/budgets/daily', { limit_usd: 1, include_byok: true }, 'include_byok', 'include_byok_in_budgets'],
    ['POST', '/credits', { amount_usd: 1, nota: '' }, 'nota', 'note'],
  ])('%s %s: %j names the nearest known one', async (method, path, body, at, meant) => {
    const { status, error } = await call(service, method, path, { body })
    expect([status, error.metadata['issues']]).toEqual([
      400,
      [{ path: at, message: expect.stringMatching(new RegExp(`"${meant}"|\\b${meant}\\b`)) }],
    ])
  })

  test.each([
    ['keys', 'kind', 'management'],
    ['keys', 'workspace_id', 'default'],
    ['keys', 'creator_user_id', 'ada'],
    ['keys', 'external', { user: 'acme' }],
    ['byok', 'provider', 'openai'],
    ['byok', 'workspace_id', null],
    ['guardrails', 'workspace_id', 'default'],
    ['workspaces', 'include_byok_in_budgets', true],
    ['presets', 'slug', 'other'],
  ])('400: %s cannot change %s after creation, and the error says so', async (kind, member, value) => {
    const id = { keys: objects.hash, byok: objects.byok, guardrails: objects.guardrail, workspaces: 'default', presets: 'mine' }[kind]
    const answer = await call(service, 'PATCH', `/${kind}/${id}`, { body: { [member]: value } })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(member)])
  })

  test('400: the error for a hostile name has limited length', async () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, number) => [`${'x'.repeat(60)}${number}`, 1]))
    const answer = await call(service, 'POST', '/keys', { body: { name: 'x', ...body, __proto__: null } })
    expect([answer.status, answer.text.length < 10_000]).toEqual([400, true])
  })
})

describe('expires_at of a key', () => {
  const expiry = async (expires_at: unknown): Promise<Answer> => call(service, 'POST', '/keys', { body: { name: 'x', expires_at } })

  test.each(['2099-01-01T00:00:00Z', '2099-01-01T00:00:00+00:00', '2099-01-01T00:00:00.000-00:00'])('%s is UTC', async (text) => {
    expect(dataOf(await expiry(text))['expires_at']).toBe('2099-01-01T00:00:00.000Z')
  })

  test.each(['2099-01-01T00:00:00+02:00', '2099-01-01T00:00:00', '2099-01-01', '2020-01-01T00:00:00Z', 4_070_908_800])(
    '400: %p is not UTC, or has passed',
    async (value) => expect((await expiry(value)).status).toBe(400),
  )

  test('can be set, changed and removed', async () => {
    const { hash } = dataOf(await expiry(null))
    const change = (expires_at: string | null) => call(service, 'PATCH', `/keys/${hash}`, { body: { expires_at } })
    for (const instant of ['2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z', null]) {
      expect(dataOf(await change(instant))['expires_at'] as unknown).toBe(instant)
      expect(dataOf(await call(service, 'GET', `/keys/${hash}`))['expires_at'] as unknown).toBe(instant)
    }
    expect((await change('2020-01-01T00:00:00Z')).status).toBe(400)
  })
})

test.each<[string, string, object]>([
  ['POST', '/keys', {}],
  ['PATCH', '/keys/HASH', {}],
  ['PATCH', '/presets/mine', {}],
  ['POST', '/presets/mine/tests', { messages: [{ role: 'user', content: 'x' }] }],
  [
    'POST',
    '/presets/mine/evaluations',
    { version: 1, items: [{ messages: [{ role: 'user', content: 'x' }] }], checks: [{ type: 'exact' }] },
  ],
  ['POST', '/guardrails', {}],
  ['PATCH', '/guardrails/GUARDRAIL', {}],
  ['PATCH', '/byok/BYOK', {}],
  ['PATCH', '/observability/destinations/DESTINATION', {}],
  ['POST', '/workspaces', { slug: 'blank' }],
  ['PATCH', '/workspaces/default', {}],
  ['PATCH', '/workspaces/default/members/member', {}],
  ['POST', '/presets/mine/tests', { messages: [{ role: 'user', content: 'x' }] }],
])('400: a name that no list could show as it is: %s %s', async (method, path, body) => {
  for (const name of [' ', '\u2003\u00a0', 'a\nb', 'a\u0000b', 'a\u001b[2Jb', 'a\u0085b', 'a\u2028b', 'a\u202eb', 'a\u2066b', 'a\ud800b']) {
    const answer = await call(service, method, withIds(path), { body: { ...body, name } })
    expect([answer.status, JSON.stringify(answer.error.metadata)]).toEqual([400, expect.stringContaining('"path":"name"')])
  }
})

test('a name may hold the joiners and marks that scripts and emoji need', async () => {
  for (const name of ['\u05ea\u05de\u05d9\u05db\u05d4\u200f!', '\u061c\u0645', '\u0645\u06cc\u200c\u062e', '\u{1f469}\u200d\u{1f4bb}']) {
    expect(dataOf(await call(service, 'PATCH', withIds('/keys/HASH'), { body: { name } }))['name']).toBe(name)
  }
})

test.each([
  '/keys/HASH',
  '/presets/mine',
  '/guardrails/GUARDRAIL',
  '/byok/BYOK',
  '/observability/destinations/DESTINATION',
  '/workspaces/default',
])('a change that changes nothing leaves the object and the audit log as they were: %s', async (path) => {
  const entries = async () => ((await call(service, 'GET', '/audit-log?limit=1')).json as { total_count: number }).total_count
  const change = async (body: object) => dataOf(await call(service, 'PATCH', withIds(path), { body }))
  const before = await change({ name: 'y' })
  const count = await entries()
  expect(await change({})).toEqual(before)
  expect(await change({ name: 'y' })).toEqual(before)
  expect(await entries()).toBe(count)
  expect((await change({ name: 'x' }))['name']).toBe('x')
  expect(await entries()).toBe(count + 1)
})

/** Schemas pass over such a member, so that the answer would be 200 for something that is not there. */
test.each<[string, string, string, string]>([
  ['POST', '/observability/destinations', '{"type":"webhook","config":{"url":"https://example.com","__proto__":1}}', 'config'],
  [
    'POST',
    '/observability/destinations',
    '{"type":"webhook","config":{"url":"https://example.com","headers":{"__proto__":"1"}}}',
    'config.headers',
  ],
  ['POST', '/presets/mine/tests', '{"name":"x","messages":[{"role":"user","content":"x","__proto__":1}]}', 'messages[0]'],
  ['POST', '/presets/mine/tests', '{"name":"x","messages":[{"role":"user"}],"tools":[{"__proto__":1}]}', 'tools[0]'],
  [
    'POST',
    '/presets/mine/evaluations',
    '{"version":1,"checks":[{"type":"json_schema","schema":{"__proto__":{}}}],"from_tests":true}',
    'checks[0].schema',
  ],
])('400: a member __proto__, with its path: %s %s %s', async (method, path, body, place) => {
  const answer = await call(service, method, path, { body })
  expect([answer.status, JSON.stringify(answer.error.metadata)]).toEqual([400, expect.stringContaining(`"path":"${place}.__proto__"`)])
})

test.each<[string, object, string]>([
  ['webhook', { url: 'https://example.com', headers: { 'x-team': 'a', 'X-Team': 'b' } }, 'config.headers.X-Team'],
  ['datadog', { api_key: 'a', apiKey: 'b', ml_app: 'x' }, 'config.apiKey'],
])('400: the configuration of a %s names one thing twice, and only the last value would be in force: %j', async (type, config, place) => {
  const made = await call(service, 'POST', '/observability/destinations?skip_test=true', { body: { type, config } })
  const changed = await call(service, 'PATCH', `/observability/destinations/${objects.destination}`, { body: { config } })
  for (const answer of [made, changed]) {
    expect([answer.status, JSON.stringify(answer.error.metadata)]).toEqual([400, expect.stringContaining(`"path":"${place}"`)])
  }
})

describe('text that a database would not store unchanged', () => {
  test.each<[string, string, object]>([
    ['POST', '/keys', { name: 'NAME' }],
    ['PATCH', '/keys/HASH', { name: 'NAME' }],
    ['PATCH', '/presets/mine', { name: 'NAME' }],
    ['PATCH', '/presets/mine', { description: 'NAME' }],
    ['POST', '/guardrails', { name: 'NAME' }],
    ['POST', '/guardrails', { name: 'x', description: 'NAME' }],
    ['PATCH', '/guardrails/GUARDRAIL', { content_filters: [{ pattern: 'x', action: 'block', label: 'NAME' }] }],
    ['PATCH', '/byok/BYOK', { name: 'NAME' }],
    ['POST', '/credits', { amount_usd: 1, note: 'NAME' }],
    ['PATCH', '/observability/destinations/DESTINATION', { name: 'NAME' }],
    ['POST', '/workspaces', { name: 'NAME', slug: 'texts' }],
    ['PATCH', '/workspaces/default', { description: 'NAME' }],
    ['POST', '/presets/mine/tests', { name: 'NAME', messages: [{ role: 'user', content: 'x' }] }],
  ])('400, instead of storing a text other than the one sent: %s %s %j', async (method, path, body) => {
    for (const text of [String.raw`a\ud800b`, String.raw`\udc00`, String.raw`a\u0000b`]) {
      const answer = await call(service, method, withIds(path), { body: JSON.stringify(body).replace('NAME', () => text) })
      expect([text, answer.status, JSON.stringify(answer.error.metadata)]).toEqual([text, 400, expect.stringContaining('well-formed text')])
    }
  })
})

describe('errors state the real fault', () => {
  const raw = (headers: Record<string, string>, body: string) =>
    fetch(`${service.api}/keys`, { method: 'POST', headers: { authorization: `Bearer ${service.managementKey}`, ...headers }, body })

  test('413 payload_too_large: a body over the limit', async () => {
    const { status, error } = await call(service, 'POST', '/keys', { body: { name: 'x'.repeat(70_000) } })
    expect([status, error.code, error.metadata['error_type']]).toEqual([413, 413, 'payload_too_large'])
  })

  test('405 method_not_allowed, with Allow', async () => {
    const answer = await call(service, 'PUT', '/keys', { body: {} })
    expect([answer.status, answer.error.metadata['error_type'], answer.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, POST',
    ])
  })

  test.each(['application/json; charset=UTF8', 'application/json;charset="utf-8"', 'application/json; charset=utf8'])(
    '%s is JSON in UTF-8',
    async (type) => expect((await raw({ 'content-type': type }, '{"name":"x"}')).status).toBe(201),
  )

  test('an integer beyond 2^53 is reported as an integer out of range, on management and when a preset is saved', async () => {
    const ask = (path: string, body: string): Promise<Answer> => call(service, 'POST', path, { body })
    for (const answer of [
      await ask('/keys', '{"name":"x","rpm_limit":9007199254740993}'),
      await ask('/keys', '{"name":9007199254740993}'),
      await ask('/presets/big/chat/completions', '{"model":"sandbox/echo","max_tokens":9007199254740993}'),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('out of range')
      expect(answer.text).not.toContain('object')
    }
  })

  test('OPTIONS without an Origin returns the methods, and is 404 for an unknown path', async () => {
    const answer = await fetch(`${service.api}/keys`, { method: 'OPTIONS' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
    expect((await fetch(`${service.api}/nothing`, { method: 'OPTIONS' })).status).toBe(404)
  })
})

describe('limits and names', () => {
  test('a preset has at most 100 labels, however many requests add them', async () => {
    const label = (first: number, count: number) =>
      call(service, 'PATCH', '/presets/mine', {
        body: { labels: Object.fromEntries(Array.from({ length: count }, (_, number) => [`label-${first + number}`, 1])) },
      })
    expect([(await label(0, 99)).status, (await label(99, 2)).status, (await label(99, 1)).status]).toEqual([200, 400, 200])
    expect((await label(100, 1)).text).toContain('at most 100')
    // A label may replace another when the limit is reached.
    const swap = { labels: { 'label-0': null, other: 1 } }
    expect((await call(service, 'PATCH', '/presets/mine', { body: swap })).status).toBe(200)
  })

  test('400: a workspace slug in the form of an id, so that no path means two workspaces', async () => {
    const { id } = dataOf(await call(service, 'GET', '/workspaces/default'))
    expect((await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: id } })).status).toBe(400)
  })

  test('the label of a short provider key distinguishes it from another', async () => {
    const label = async (key: string): Promise<unknown> =>
      dataOf(await call(service, 'POST', '/byok', { body: { provider: 'fake', key } }))['label']
    expect([await label('short-0001'), await label('a-longer-key-of-a-vendor-0002')]).toEqual(['…01', 'a-l…0002'])
  })

  test('a guardrail budget without an interval never resets', async () => {
    const made = dataOf(await call(service, 'POST', '/guardrails', { body: { name: 'life', limit_usd: 5 } }))
    expect(made as object).toMatchObject({ limit_usd: 5, reset_interval: null })
    const path = `/guardrails/${made['id']}`
    const change = async (body: object): Promise<unknown> => (await call(service, 'PATCH', path, { body })).json
    expect(await change({ reset_interval: 'daily' })).toMatchObject({ data: { limit_usd: 5, reset_interval: 'daily' } })
    expect(await change({ reset_interval: null })).toMatchObject({ data: { limit_usd: 5, reset_interval: null } })
    await change({ reset_interval: 'weekly' })
    expect(await change({ limit_usd: null })).toMatchObject({ data: { limit_usd: null, reset_interval: null } })
    expect((await call(service, 'PATCH', path, { body: { reset_interval: 'daily' } })).status).toBe(400)
  })
})

test.each([
  '/presets?q=',
  '/keys?q=',
  '/keys?user_id=',
  '/search?q=',
  '/audit-log?object_type=',
  '/audit-log?action=',
  '/audit-log?user_id=',
  '/generations?model=',
  '/generations?session_id=',
  '/generations?request_id=',
  '/usage?model=',
  '/usage?user_id=',
])('an unsearchable filter is a 400, and not a 500 of the service: GET %sa%%00b', async (path) => {
  const { status, json } = await call(service, 'GET', `${path}a%00b`)
  expect({ status, text: JSON.stringify(json) }).toEqual({ status: 400, text: expect.stringContaining('U+0000') })
})
