import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'

import { basePartsOf } from '../../test/support/base-parts.ts'
import { changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { composeAppParts } from '../compose/app-parts.ts'
import { composeModels } from '../compose/models.ts'
import { composeParts } from '../compose/parts.ts'
import { createServiceKnowledge } from '../compose/service-knowledge.ts'
import { createReloadable } from '../compose/reloadable.ts'
import { configFileSchema } from '../config-file.ts'
import { createKeys, UNBOUNDED } from '../keys/keys.ts'
import { systemIds } from '../lib/id.ts'
import { makeRootSecret } from '../root-secret.ts'
import { createKeyStore } from '../storage/keys/key-store.ts'
import { StorageConflict, StorageUnavailable } from '../storage/storage-errors.ts'
import { logTo } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createApp } from './app.ts'
import type { AppParts } from './app-parts.ts'
import { mountsOf } from './later-routes.ts'
import { ALIAS_BASE, routeTable } from './route-table.ts'
import { POLICIES, type Policy } from './access/policies.ts'
import type { Route } from './route.ts'
import { listen } from './server.ts'

const { database, owner, dataDir } = await openSqliteDatabase()
const secret = makeRootSecret(dataDir)

const MAX_BODY = 1024 * 1024

const FILE = configFileSchema.parse({
  errors: { provider_failure: 'body' },
  limits: { max_body_bytes: MAX_BODY },
  cors: { origins: ['https://app.example'] },
})

interface SettledLine {
  readonly generation_id: string
  readonly outcome: string
}

/** The service as it is composed, on SQLite, with a fake clock and the sandbox as its models. */
const build = (more: Partial<AppParts> = {}) => {
  const clock = createFakeClock()
  const metrics = createMetrics()
  /** The log's lines about ended generations, and about faults. */
  const settled: SettledLine[] = []
  const faults: unknown[] = []
  const log = logTo((line) => readLine(JSON.parse(line) as LogLine), 'info', clock)
  const readLine = (line: LogLine): void => {
    if (line.generation_id !== undefined) settled.push(line as SettledLine)
    if (line.level === 'error') faults.push(line)
  }
  const base = basePartsOf({ database, owner, secret }, { clock, log, metrics })
  const reloadable = createReloadable(FILE, Number.POSITIVE_INFINITY)
  const composed = composeParts(base, reloadable, {})
  const knowledge = createServiceKnowledge({ ...base, engine: 'sqlite', nodes: composed.nodes, reloadable, configPath: null })
  const composedParts = composeAppParts(composed, FILE, composeModels(FILE, null, {}, []), knowledge)
  const parts: AppParts = { ...composedParts, version: '1.2.3', ...more }
  return { parts, app: createApp(parts), keys: composed.management.keys, presets: composed.presets, settled, faults, metrics, clock }
}

interface LogLine extends Partial<SettledLine> {
  readonly level: string
}

const service = build()

const makeKey = async (kind: 'management' | 'inference'): Promise<string> =>
  (
    await service.keys.create(
      {
        kind,
        name: kind,
        workspaceId: owner.workspaceId,
        creatorUserId: owner.userId,
        ...UNBOUNDED,
      },
      changedBy(),
    )
  ).key

const KEYS = {
  'no key': null,
  'a wrong key': 'pb_mgmt_0123456789012345678901234567890123456789012345678',
  'an inference key': await makeKey('inference'),
  'a management key': await makeKey('management'),
} as const
type KeyName = keyof typeof KEYS
const KEY_NAMES = Object.keys(KEYS) as KeyName[]

interface Asked {
  readonly key?: KeyName | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

const ask = async (
  method: string,
  path: string,
  { key = 'a management key', body, headers = {}, signal }: Asked = {},
  { app } = service,
) => {
  const token = key === null ? null : KEYS[key]
  const response = await app.answer(
    new Request(`http://host${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }),
  )
  // A body without an end is not read to its end.
  const isFollowed = method === 'GET' && response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isFollowed) await response.body?.cancel()
  const text = isFollowed ? '' : await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
  }
}

const chat = (fields: Record<string, unknown> = {}) => ({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], ...fields })

/** The status with which each policy answers each key; null if the policy admits it and the rest is up to the route. */
const ADMITTED: Readonly<Record<Policy, Readonly<Record<KeyName, number | null>>>> = {
  public: { 'no key': null, 'a wrong key': null, 'an inference key': null, 'a management key': null },
  'any-key': { 'no key': 401, 'a wrong key': 401, 'an inference key': null, 'a management key': null },
  key: { 'no key': 401, 'a wrong key': 401, 'an inference key': null, 'a management key': null },
  management: { 'no key': 401, 'a wrong key': 401, 'an inference key': 403, 'a management key': null },
  own: { 'no key': 401, 'a wrong key': 401, 'an inference key': 403, 'a management key': null },
  inference: { 'no key': 401, 'a wrong key': 401, 'an inference key': null, 'a management key': 403 },
  session: { 'no key': 401, 'a wrong key': 401, 'an inference key': 403, 'a management key': 403 },
}

const REFUSALS: Readonly<Record<Policy, string>> = {
  public: 'nobody is refused',
  'any-key': 'nobody is refused',
  key: 'nobody is refused',
  management: 'Only management keys can perform this operation',
  own: 'Only management keys can perform this operation',
  inference: 'Management keys cannot call models. Use an inference key.',
  session: 'Only people who are signed in can perform this operation',
}

/** The whole table of the real service: an added route is included automatically. */
const tables = routeTable(service.parts, { json: () => Promise.resolve(''), page: () => Promise.resolve('') })
const table: readonly (readonly [string, Route])[] = (await mountsOf(tables)).flatMap(({ base, routes }) =>
  routes.map((route) => [`${route.method} ${base}${route.path}`, route] as const),
)

/** Every route that not only administrators may call. A member sees and changes only what is the member's own (docs/contract/sign-in.md#roles). */
const FOR_OTHERS: Readonly<Record<Exclude<Policy, 'management'>, string[]>> = {
  inference: [
    'POST /api/v1/chat/completions',
    'POST /api/v1/responses',
    'POST /api/v1/messages',
    'POST /api/v1/messages/count_tokens',
    'POST /api/v1/responses/input_tokens',
    'POST /api/v1/embeddings',
  ],
  own: [
    'GET /api/v1/presets',
    'GET /api/v1/presets/:slug',
    'GET /api/v1/keys',
    'GET /api/v1/keys/:hash',
    'GET /api/v1/sessions',
    'DELETE /api/v1/sessions/:id',
    'GET /api/v1/generations',
    'GET /api/v1/generations/stream',
    'GET /api/v1/usage',
    'GET /api/v1/search',
  ],
  key: ['GET /api/v1/key', 'GET /api/v1/auth/key'],
  'any-key': [
    'GET /api/v1/files',
    'POST /api/v1/files',
    'GET /api/v1/files/:file_id',
    'DELETE /api/v1/files/:file_id',
    'GET /api/v1/files/:file_id/content',
    'GET /api/v1/models',
    'GET /api/v1/models/user',
    'GET /api/v1/embeddings/models',
    'GET /api/v1/models/count',
    'GET /api/v1/models/:author/:slug',
    'GET /api/v1/models/:id',
    'GET /api/v1/model/:author/:slug',
    'GET /api/v1/models/:author/:slug/endpoints',
    'GET /api/v1/endpoints/zdr',
    'GET /api/v1/providers',
    'GET /api/v1/generation',
  ],
  session: ['GET /api/v1/sessions/current', 'DELETE /api/v1/sessions/current'],
  public: [
    'POST /api/v1/sessions',
    'GET /api/v1/sessions/methods',
    'GET /',
    'GET /health/live',
    'GET /health/ready',
    'GET /metrics',
    'GET /openapi.json',
    'GET /docs',
    'GET /dashboard',
    'GET /dashboard/*',
    'GET /dashboard/assets/:file',
  ],
}

const exampleOf = (path: string): string => path.replace(':hash', 'ab'.repeat(32)).replace(':version', '1').replace(/:\w+/g, 'matrix')

describe('every route admits exactly whom its policy admits', () => {
  test.each(table.map(([name, route]) => [name, route.policy, route] as const))('%s (%s)', async (name, policy, route) => {
    const [method = '', path = ''] = name.split(' ')
    const statuses: Record<string, number> = {}
    for (const key of KEY_NAMES) {
      const { status, json } = await ask(method, exampleOf(path), {
        key,
        ...(method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: '{}' } : {}),
      })
      statuses[key] = status
      const refused = ADMITTED[policy][key]
      if (refused === null) expect([401, 403]).not.toContain(status)
      else expect(status).toBe(refused)
      if (refused !== null) {
        const error = json['error'] as { message: string; code?: number }
        expect(error.message).toBe(
          refused === 403
            ? REFUSALS[policy]
            : key === 'no key'
              ? 'Missing Authentication header'
              : 'Invalid API key: it is unknown, disabled, revoked or expired.',
        )
        if (route.surface === 'management') expect(error.code).toBe(refused)
      }
    }
    // None of these errors is a fault of ours, whatever is in the example.
    for (const status of Object.values(statuses)) expect(status).toBeLessThan(500)
  })

  test('a route is for management keys and admins, unless it is here', () => {
    const others = table.filter(([name, { policy }]) => policy !== 'management' && !name.includes(` ${ALIAS_BASE}/`))
    const byPolicy = Map.groupBy(others, ([, { policy }]) => policy)
    expect(Object.fromEntries([...byPolicy].map(([policy, routes]) => [policy, routes.map(([name]) => name)]))).toEqual(FOR_OTHERS)
  })

  test('there are routes of every policy, and the table is not empty', () => {
    expect(new Set<string>(table.map(([, { policy }]) => policy))).toEqual(new Set<string>(['public', ...Object.keys(POLICIES)]))
  })

  test('the same operation is under /api/v1 and under /v1', async () => {
    for (const base of ['/api/v1', '/v1']) expect((await ask('GET', `${base}/models/count`)).status).toBe(200)
  })
})

describe('a condition that a route does not look at', () => {
  const changing = table.filter(([name, { policy }]) => !name.startsWith('GET ') && policy !== 'session' && policy !== 'inference')
  const unheeded = changing.filter(([, { surface, headers = {} }]) => surface === 'management' && !('If-Match' in headers))
  const send = (name: string, header: string): Promise<{ status: number; json: object }> => {
    const [method = '', path = ''] = name.split(' ')
    const body = method === 'DELETE' ? {} : { body: '{}' }
    return ask(method, exampleOf(path), { key: 'a management key', headers: { [header]: '"1"' }, ...body })
  }

  test.each(unheeded.map(([name]) => name))('412, and nothing is changed: %s', async (name) => {
    for (const header of ['if-match', 'if-none-match', 'if-unmodified-since']) expect((await send(name, header)).status).toBe(412)
  })

  test('changes nothing of what is read', async () => {
    const headers = { 'if-match': '"1"', 'if-none-match': '"1"' }
    expect((await ask('GET', '/api/v1/presets', { key: 'a management key', headers })).status).toBe(200)
  })
})

describe('a query parameter that a route does not take', () => {
  const reached = table.filter(([, { policy }]) => policy !== 'session' && policy !== 'inference')
  const send = (name: string, query: string, key: KeyName = 'a management key') => {
    const [method = '', path = ''] = name.split(' ')
    return ask(method, `${exampleOf(path)}?${query}`, { key, ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }) })
  }
  const unknown = { error: { metadata: { issues: [{ path: 'zzzzzzzz', message: expect.stringMatching(/^Unknown parameter\. /) }] } } }
  const [open, closed] = [true, false].map((isOpen) =>
    reached.filter(([, { policy, surface, ignoresUnknownQuery }]) => {
      return isOpen === (policy === 'public' || surface !== 'management' || ignoresUnknownQuery === true)
    }),
  )

  test.each((closed ?? []).map(([name]) => name))('400: %s', async (name) => {
    const { status, json } = await send(name, 'zzzzzzzz=1')
    expect(status).toBe(400)
    expect(json).toMatchObject(unknown)
  })

  test.each((open ?? []).map(([name]) => name))('is ignored: %s', async (name) => {
    expect((await send(name, 'zzzzzzzz=1')).json).not.toMatchObject(unknown)
  })

  test('is ignored by inference, since SDKs of vendors add some', async () => {
    const body = { ...chat(), max_tokens: 10 }
    for (const path of ['/api/v1/messages?beta=true', '/api/v1/chat/completions?beta=true']) {
      expect((await ask('POST', path, { key: 'an inference key', body })).status).toBe(200)
    }
  })

  test('is reported with the nearest known one, or with all that are known', async () => {
    const message = async (path: string): Promise<unknown> => (await ask('GET', `/api/v1${path}`)).json['error']
    expect(await message('/presets?Statsu=active')).toMatchObject({
      code: 400,
      message: 'Invalid request parameters',
      metadata: { error_type: 'invalid_request', issues: [{ path: 'Statsu', message: 'Unknown parameter. Did you mean "status"?' }] },
    })
    expect(await message('/search?colour=red')).toMatchObject({
      metadata: { reason: 'colour: Unknown parameter. Use one of q, workspace_id.' },
    })
    expect(await message('/key?colour=red')).toMatchObject({ metadata: { reason: 'colour: Unknown parameter. GET /key takes none.' } })
  })

  test('a known one that is repeated is refused too: only its first value would be read', async () => {
    const answer = await ask('GET', '/api/v1/presets?status=active&limit=5&status=disabled')
    expect([answer.status, answer.json['error']]).toEqual([
      400,
      expect.objectContaining({
        metadata: expect.objectContaining({ issues: [{ path: 'status', message: expect.stringContaining('once') }] }),
      }),
    ])
  })

  const changes = (closed ?? []).flatMap(([name, { method, query }]) =>
    method === 'GET' ? [] : Object.keys(query ?? {}).map((parameter) => [name, parameter] as const),
  )
  test.each(changes)('a known one of a change is refused if it is empty: %s ?%s=', async (name, parameter) => {
    const answer = await send(name, `${parameter}=`)
    expect([answer.status, answer.json]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({
          metadata: expect.objectContaining({ issues: [{ path: parameter, message: expect.stringContaining('empty') }] }),
        }),
      }),
    ])
  })

  test('is reported once, cut, and with at most seven others', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => `${'x'.repeat(500)}${at}=1`).join('&')
    const { error } = (await ask('GET', `/api/v1/presets?y=1&y=2&${many}`)).json as { error: { metadata: { issues: { path: string }[] } } }
    expect(error.metadata.issues.map(({ path }) => path.length)).toEqual([1, 100, 100, 100, 100, 100, 100, 100])
  })

  test('is reported to nobody without a key', async () => {
    expect((await ask('GET', '/api/v1/presets?statsu=active', { key: null })).status).toBe(401)
  })
})

describe('a refusal comes before the body is read', () => {
  test.each<[KeyName, number]>([
    ['no key', 401],
    ['an inference key', 403],
  ])('%s', async (key, status) => {
    const invalid = await ask('POST', '/api/v1/presets/x/chat/completions', {
      key,
      body: '{"this is": not JSON',
      headers: { 'content-type': 'text/html' },
    })
    expect(invalid.status).toBe(status)
  })
})

describe('what is not there', () => {
  test.each([
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/presets/',
    '/api/v1//presets',
    '//api/v1/presets',
    '/api/v2/models',
    '/health',
    '/api/v1/presets/a/b/c/d',
  ])('404: %s', async (path) => {
    const { status, json } = await ask('GET', path)
    expect(status).toBe(404)
    expect(json).toMatchObject({ error: { code: 404, message: 'Resource not found', metadata: { error_type: 'not_found' } } })
  })

  test('404 below messages is in the shape that its clients read', async () => {
    for (const path of ['/api/v1/messages/count_tokens_x', '/v1/messages/x']) {
      expect((await ask('POST', path, { body: {} })).json).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    }
  })

  test.each<[string, string, number, string]>([
    ['GET', 'responses', 405, 'invalid_request'],
    ['GET', 'responses/x', 404, 'not_found'],
    ['DELETE', 'responses', 405, 'invalid_request'],
  ])('%s %s: %d, with the type at the top as every refusal of Responses has it', async (method, path, expected, type) => {
    for (const base of ['/api/v1', '/v1']) {
      const { status, json } = await ask(method, `${base}/${path}`)
      expect(status).toBe(expected)
      expect(json).toMatchObject({ error: { code: expected, metadata: { error_type: type } }, error_type: type })
    }
  })

  test.each(['chat/completions', 'embeddings'])('405 below %s says in its message what the path answers', async (path) => {
    const { status, json } = await ask('GET', `/api/v1/${path}`)
    expect(status).toBe(405)
    expect(json).toMatchObject({
      error: { code: 405, message: `/api/v1/${path} answers POST, not GET.`, metadata: { error_type: 'invalid_request' } },
    })
  })

  test('405 names what the path answers', async () => {
    const { status, headers } = await ask('PUT', '/api/v1/presets/x')
    expect(status).toBe(405)
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH'])
  })
})

describe('the Host', () => {
  test.each(['a/?', 'a#', 'a b', 'a@b', '"', 'a,b'])('400: %s', async (host) => {
    expect((await ask('GET', '/health/live', { headers: { host } })).status).toBe(400)
  })
  test.each(['a', 'a:80', '127.0.0.1:8080', '[::1]:8080', 'under_score.example'])('%s passes', async (host) => {
    expect((await ask('GET', '/health/live', { headers: { host } })).status).toBe(200)
  })
})

describe('every answer', () => {
  test('has the id of the request, under both of its names, also where it failed', async () => {
    for (const path of ['/api/v1/models/count', '/api/v1/nothing']) {
      const { headers } = await ask('GET', path)
      expect(headers.get('x-request-id')).toMatch(/^req-/)
      expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
    }
  })

  test('can be read by a browser app of an allowed origin, an error too, and by no other', async () => {
    for (const path of ['/api/v1/models/count', '/api/v1/nothing']) {
      expect((await ask('GET', path, { headers: { origin: 'https://app.example' } })).headers.get('access-control-allow-origin')).toBe(
        'https://app.example',
      )
      expect((await ask('GET', path, { headers: { origin: 'https://evil.example' } })).headers.has('access-control-allow-origin')).toBe(
        false,
      )
    }
  })

  test('to a preflight needs no key: 204 for an allowed origin, 400 for any other', async () => {
    const allowed = await ask('OPTIONS', '/api/v1/chat/completions', { key: null, headers: { origin: 'https://app.example' } })
    expect([allowed.status, allowed.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
    expect((await ask('OPTIONS', '/api/v1/chat/completions', { key: null, headers: { origin: 'https://evil.example' } })).status).toBe(400)
    const plain = await ask('OPTIONS', '/api/v1/chat/completions', { key: null })
    expect([plain.status, plain.headers.get('allow')]).toEqual([204, 'POST, OPTIONS'])
  })

  test('is counted by operation and status', async () => {
    const counted = build()
    await ask('GET', '/api/v1/models/count', {}, counted)
    await ask('GET', '/api/v1/nothing', {}, counted)
    const page = (await ask('GET', '/metrics', { key: null }, counted)).text
    expect(page).toContain('patchbay_http_requests_total{operation="countModels",status="200"} 1')
    expect(page).toContain('patchbay_http_requests_total{operation="none",status="404"} 1')
  })
})

describe('when something is wrong with the service', () => {
  const broken = (thrown: unknown) => build({ presets: { ...service.presets, list: () => Promise.reject(thrown) } })

  test.each<[string, unknown, number, string | null]>([
    ['409: storage was locked for too long', new StorageConflict(new Error('busy')), 409, null],
    ['503: storage is away', new StorageUnavailable('away'), 503, '1'],
    ['500: a bug', new TypeError('secret detail'), 500, null],
  ])('%s', async (_, thrown, expected, retryAfter) => {
    const { status, headers, text } = await ask('GET', '/api/v1/presets', {}, broken(thrown))
    expect([status, headers.get('retry-after')]).toEqual([expected, retryAfter])
    expect(text).not.toContain('secret')
  })

  test('503: storage is away while an unknown key is looked up', async () => {
    const keys = createKeys({
      store: { ...createKeyStore(database), find: () => Promise.reject(new StorageUnavailable('away')) },
      clock: createFakeClock(),
      ids: systemIds,
      peppers: () => [{ id: 'first', bytes: new Uint8Array(32) }],
      onError: () => undefined,
    })
    expect((await ask('GET', '/api/v1/models/count', {}, build({ keys }))).status).toBe(503)
  })

  test('503 while it stops: no new inference, which is logged as a refusal and not as a fault; everything else goes on', async () => {
    const stopping = build({ isDraining: () => true, ready: async () => 'draining' })
    const refused = await ask('POST', '/api/v1/chat/completions', { key: 'an inference key', body: chat() }, stopping)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(stopping.faults).toEqual([])
    expect((await ask('GET', '/api/v1/presets', {}, stopping)).status).toBe(200)
    expect((await ask('GET', '/health/live', { key: null }, stopping)).status).toBe(200)
    const ready = await ask('GET', '/health/ready', { key: null }, stopping)
    expect([ready.status, ready.json]).toEqual([503, { status: 'draining' }])
  })
})

describe('an inference body', () => {
  // Some editors and shells write the mark, and nobody sees it.
  test('with a byte order mark is refused in words that name the mark', async () => {
    const { json } = await ask('POST', '/api/v1/chat/completions', { key: 'an inference key', body: `\uFEFF${JSON.stringify(chat())}` })
    expect(json).toMatchObject({ error: { message: 'The body begins with a byte order mark: send UTF-8 without one.' } })
  })

  test.each<[string, string, number]>([
    ['nothing', '', 400],
    ['null', 'null', 400],
    ['a list', '[]', 400],
    ['cut', '{"model":', 400],
    ['a byte order mark', `\uFEFF${JSON.stringify(chat())}`, 400],
    ['the model twice', '{"model":"sandbox/echo","model":"sandbox/lorem","messages":[{"role":"user","content":"x"}]}', 400],
    ['too deep', `{"model":"sandbox/echo","messages":[{"role":"user","content":"x"}],"x":${'['.repeat(70)}${']'.repeat(70)}}`, 400],
    ['too large', JSON.stringify(chat({ x: 'x'.repeat(MAX_BODY) })), 413],
    ['an unknown model', JSON.stringify(chat({ model: 'sandbox/none' })), 404],
    ['an unknown preset', JSON.stringify(chat({ model: '@preset/none' })), 404],
    ['a session that is too long', JSON.stringify(chat({ session_id: 's'.repeat(257) })), 400],
  ])('%s: %d', async (_, body, expected) => {
    const { status, json } = await ask('POST', '/api/v1/chat/completions', { key: 'an inference key', body })
    expect(status).toBe(expected)
    expect((json['error'] as { code: number }).code).toBe(expected)
  })

  test('400: a session header that is too long is refused as the field would be', async () => {
    const { status } = await ask('POST', '/api/v1/chat/completions', {
      key: 'an inference key',
      body: chat(),
      headers: { 'x-session-id': 's'.repeat(257) },
    })
    expect(status).toBe(400)
  })

  test.each(['messages', 'stream_options', 'provider', 'reasoning', 'sandbox', 'user', 'metadata', 'tools', 'usage'])(
    '400, never 500: a large body whose %s is no JSON inside its strings',
    async (field) => {
      const broken = field === 'messages' ? '[{"role":"user","content":"\\x"}]' : '{"a":"\\x"}'
      const fields: Record<string, string> = {
        model: '"sandbox/echo"',
        messages: '[{"role":"user","content":"x"}]',
        stream: 'true',
        pad: `"${'x'.repeat(40_000)}"`,
        [field]: broken,
      }
      const body = `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join()}}`
      const { status, text } = await ask('POST', '/api/v1/chat/completions', { key: 'an inference key', body })
      // A field that nobody reads may pass; none may cause a fault of ours.
      expect(text).not.toContain('Internal Server Error')
      expect([200, 400]).toContain(status)
    },
  )
})

describe('an inference', () => {
  test.each([false, true])('is settled once, and its record can be read at once (stream: %p)', async (stream) => {
    const own = build()
    const { status, headers, text } = await ask(
      'POST',
      '/api/v1/chat/completions',
      { key: 'an inference key', body: chat({ stream }) },
      own,
    )
    expect(status).toBe(200)
    expect(text).toContain('Hi')
    const id = headers.get('x-generation-id') ?? ''
    expect(own.settled.map(({ generation_id }) => generation_id)).toEqual([id])
    const record = await ask('GET', `/api/v1/generation?id=${id}`, { key: 'an inference key' }, own)
    expect(record.json).toMatchObject({ data: { id, streamed: stream, cancelled: false, finish_reason: 'stop', model: 'sandbox/echo' } })
    expect(own.faults).toEqual([])
  })

  test('with a preset says which version served it', async () => {
    const made = await ask('POST', '/api/v1/presets/served/chat/completions', { body: chat({ model: 'sandbox/echo', temperature: 0.5 }) })
    expect(made.status).toBe(200)
    const { headers, status } = await ask('POST', '/api/v1/chat/completions', {
      key: 'an inference key',
      body: chat({ model: '@preset/served' }),
    })
    expect([status, headers.get('x-preset')]).toEqual([200, 'served@1'])
  })

  test.each<[string, Record<string, string>, number]>([
    ['200 by default', {}, 200],
    ['its status, where the client asks for it', { 'x-service-provider-failure': 'status' }, 429],
  ])('that fails at the provider is answered with %s', async (_, headers, expected) => {
    for (const stream of [false, true]) {
      const { status, text } = await ask('POST', '/api/v1/chat/completions', {
        key: 'an inference key',
        body: chat({ model: 'sandbox/error/rate_limit_exceeded', stream }),
        headers,
      })
      expect(status).toBe(expected)
      expect(text).toContain('rate_limit_exceeded')
    }
  })

  test.each([
    ['X-Service-Provider-Failure', 'stauts', '"body" or "status" or "auto"'],
    ['X-Service-Dry-Run', 'true', '"enabled" or "disabled"'],
    ['X-Service-Strict', 'yes', '"enabled" or "disabled"'],
  ])('with a word in %s that it does not know is a 400 that names the words, and no provider is asked', async (name, word, words) => {
    const sent = { key: 'an inference key' as const, body: chat({ model: 'sandbox/echo' }) }
    const refused = await ask('POST', '/api/v1/chat/completions', { ...sent, headers: { [name]: word } })
    expect([refused.status, refused.json]).toMatchObject([400, { error: { message: `${name} is "${word}"; send ${words}.` } }])
    const empty = await ask('POST', '/api/v1/chat/completions', { ...sent, headers: { [name]: '' } })
    expect(empty.status).toBe(200)
  })

  test('that is silent commits its stream after two seconds, and is cancelled when its reader leaves', async () => {
    const own = build()
    const answering = own.app.answer(
      new Request('http://host/api/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${KEYS['an inference key']}` },
        body: JSON.stringify(chat({ model: 'sandbox/slow', stream: true })),
      }),
    )
    let response: Response | null = null
    void answering.then((answered) => (response = answered))
    for (let turns = 0; turns < 10; turns += 1) await turn()
    own.clock.advance(1999)
    for (let turns = 0; turns < 10; turns += 1) await turn()
    const before: Response | null = response
    own.clock.advance(1)
    const { status, headers, body } = await answering
    expect([before, status, headers.get('content-type')]).toEqual([null, 200, 'text/event-stream; charset=utf-8'])
    const reader = body?.getReader()
    // Headers leave only with the first bytes of the body, so a comment is sent first.
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(': SERVICE PROCESSING\n\n')
    const first = reader?.read()
    own.clock.advance(1000)
    expect(Buffer.from((await first)?.value ?? []).toString()).toStartWith('data: {')
    await reader?.cancel()
    // Words of the sandbox without a pause between them still let other work run.
    own.clock.advance(1)
    await turn()
    expect(own.settled.map(({ outcome }) => outcome)).toEqual(['cancelled'])
  })

  test.each([false, true])('whose client is gone before it began is cancelled, not answered to nobody (stream: %p)', async (stream) => {
    const own = build()
    const gone = new AbortController()
    const { pipeline } = own.parts.answering
    const slow = {
      ...own.parts.answering,
      pipeline: {
        ...pipeline,
        admit: async (...given: Parameters<typeof pipeline.admit>) => {
          const admitted = await pipeline.admit(...given)
          gone.abort() // the client leaves while its preset or its budget is looked up
          return admitted
        },
      },
    }
    const app = createApp({ ...own.parts, answering: slow })
    await ask(
      'POST',
      '/api/v1/chat/completions',
      { key: 'an inference key', body: chat({ model: 'sandbox/slow', stream }), signal: gone.signal },
      { ...own, app },
    ).catch(() => undefined)
    expect(own.settled.map(({ outcome }) => outcome)).toEqual(['cancelled'])
    expect(own.clock.waiting).toBeLessThanOrEqual(2)
  })
})

test('large bodies that are read and translated at the same time take one step in each round of the event loop, all of them together', async () => {
  const own = build()
  let [waiting, most, rounds] = [0, 0, 0]
  own.clock.after = (ms, task) => {
    if (ms > 0) return () => undefined
    waiting += 1
    most = Math.max(most, waiting)
    setImmediate(() => {
      waiting -= 1
      rounds += 1
      task()
    })
    return () => undefined
  }
  const large = chat({ messages: [{ role: 'user', content: 'x'.repeat(MAX_BODY / 2) }] })
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => ask('POST', '/api/v1/chat/completions', { key: 'an inference key', body: large }, own)),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(rounds).toBeGreaterThan(16)
  expect(most).toBe(1)
})

describe('over a real socket', () => {
  const server = listen({ host: '127.0.0.1', port: 0, shared: false, app: service.app, onError: () => undefined })

  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1')
      let received = ''
      socket.on('data', (piece: Buffer) => (received += piece.toString()))
      socket.once('close', () => resolve(received))
      socket.once('error', reject)
      socket.write(text)
    })

  const statusOf = async (method: string, target: string, more = ''): Promise<number> =>
    Number((await raw(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n`)).split(' ')[1])

  const management = `Authorization: Bearer ${KEYS['a management key']}\r\n`

  test.each<[string, string, number]>([
    ['GET', '/health/live', 200],
    ['HEAD', '/health/live', 200],
    ['GET', '/api/v1/models/count', 200],
    ['GET', '/api/v1/presets/..', 400],
    ['GET', '/api/v1/presets/%2e%2e', 400],
    ['GET', '/api/v1/presets/.', 400],
    ['GET', '/api/v1/presets/%2E', 400],
    ['DELETE', '/api/v1/presets/..', 400],
    ['GET', '/api/v1/presets/a%2Fb', 400],
    ['GET', '/api/v1/presets/%00', 400],
    ['GET', '/api/v1/presets/%zz', 400],
    ['GET', '//api/v1/models/count', 404],
    ['GET', '/api//v1/models/count', 404],
    ['GET', '/api/v1/models/count/', 404],
    ['GET', '/api/v1/models/count;x', 404],
    ['GET', '/api/v1/%6dodels/count', 404],
    ['GET', '/api/v1/presets/../models/count', 404],
    ['GET', '/api/v1/presets/%2e%2e/models/count', 404],
    ['GET', '/x/../health/live', 404],
    ['GET', '/x/.%2E/health/live', 404],
    ['GET', '/./health/live', 404],
    ['GET', '/x\\..\\health/live', 404],
    ['GET', '/health\\live', 404],
    ['GET', '/x/../health/live/', 404],
    ['GET', '/x//../../health/live', 404],
    ['GET', `${'/x'.repeat(12)}${'/..'.repeat(12)}/health/live`, 404],
    ['GET', 'http://evil.example/x/../health/live', 404],
    ['GET', '/', 302],
    ['TRACE', '/health/live', 405],
  ])('%s %s is %d', async (method, target, status) => {
    expect(await statusOf(method, target, management)).toBe(status)
  })

  test('a slug of two dots does not reach another operation', async () => {
    const body = JSON.stringify(chat({ max_tokens: 5 }))
    for (const slug of ['..', '.', '%2e%2e', '%2E%2e', '.%2e']) {
      const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
      const answer = await raw(
        `POST /api/v1/presets/${slug}/messages HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${management}${length}\r\n${body}`,
      )
      expect([slug, answer.split(' ')[1]]).toEqual([slug, '400'])
    }
  })

  test('HTTP/1.0 without a Host reaches the same routes', async () => {
    expect((await raw('GET /health/live HTTP/1.0\r\n\r\n')).split(' ')[1]).toBe('200')
  })

  test('two keys are no key', async () => {
    expect(await statusOf('GET', '/api/v1/models/count', `${management}${management}`)).toBe(401)
  })

  test('413 for a body without a length is said before it ends, once it is far too long', async () => {
    const chunk = 'x'.repeat(64 * 1024)
    const answer = await raw(
      `POST /api/v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEYS['an inference key']}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(100)}`,
    )
    expect(answer.split(' ')[1]).toBe('413')
    expect(answer).toMatch(/connection: close/i)
  })
})

describe('the expressions of a management body are compiled in steps of their own', () => {
  /** Time advances with each look at the clock, so that every place where the work may yield is counted. */
  let now = 0
  let steps = 0
  const stepping = build({
    clock: { ...createFakeClock(), monotonicMs: () => (now += 1000) },
    async largeStep() {
      steps += 1
    },
  })
  const stepsFor = async (method: string, path: string, body: unknown): Promise<number> => {
    const before = steps
    await ask(method, `/api/v1${path}`, { body }, stepping)
    return steps - before
  }
  const patterns = (name: string): string[] => Array.from({ length: 100 }, (_, at) => `${name}${at}[a-z]+`)
  const filters = (name: string) => patterns(name).map((pattern) => ({ pattern, action: 'redact' }))

  test.each([
    ['POST', '/guardrails', { name: 'many', content_filters: filters('a') }, 100],
    ['PATCH', '/guardrails/default', { content_filters: filters('b') }, 100],
    ['POST', '/guardrail-tests', { guardrail: { content_filters: filters('c') }, text: 'a' }, 100],
    ['POST', '/guardrail-tests/requests', { guardrail: { content_filters: filters('d') } }, 100],
    [
      'POST',
      '/presets/none/evaluations',
      {
        version: 1,
        items: [{ messages: [{ role: 'user', content: 'a' }] }],
        checks: patterns('e')
          .slice(0, 20)
          .map((pattern) => ({ type: 'pattern', pattern })),
      },
      20,
    ],
  ] as const)('%s %s', async (method, path, body, most) => {
    expect(await stepsFor(method, path, body)).toBeGreaterThanOrEqual(most)
  })

  test('a body with many that are refused names eight of them, by their paths', async () => {
    const answer = await ask('POST', '/api/v1/guardrails', {
      body: { name: 'x', content_filters: Array.from({ length: 20 }, () => ({ pattern: String.raw`(a)\1`, action: 'flag' })) },
    })
    expect(answer.status).toBe(400)
    const { issues } = (answer.json['error'] as { metadata: { issues: { path: string; message: string }[] } }).metadata
    expect(issues.map(({ path }) => path)).toEqual(Array.from({ length: 8 }, (_, at) => `content_filters[${at}].pattern`))
    expect(issues[0]?.message).toStartWith('invalid_regex_pattern: ')
  })
})
