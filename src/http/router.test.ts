import { describe, expect, test } from 'bun:test'

import { GatewayError } from '../errors.ts'
import type { Route } from './route.ts'
import { emptyRoute as route } from './route.test-kit.ts'
import { later } from './later-routes.ts'
import { createRouter } from './router.ts'
import { rejectionText } from '../storage/testing/rejection.ts'

const router = createRouter([
  {
    base: '/api',
    rows: [
      route('GET', '/things'),
      route('POST', '/things'),
      route('GET', '/things/:id'),
      route('DELETE', '/things/:id'),
      route('GET', '/things/count'),
      route('GET', '/things/:id/parts/:part'),
      route('GET', '/things/count/parts/:part/deep'),
      route('GET', '/deep/a/:x/end'),
      route('GET', '/deep/:y/:z'),
      route('GET', '/deep/:y/:z/other'),
      route('GET', '/app'),
      route('GET', '/app/*'),
      route('GET', '/app/files/:name'),
      route('GET', '/app/:screen/edit'),
      { ...route('POST', '/open'), anyOrigin: true },
      route('GET', '/open'),
    ],
  },
  { base: '', rows: [route('GET', '/health')] },
])

const found = async (method: string, path: string, among = router): Promise<string> => {
  try {
    const { route, params } = await among.match(method, path)
    return `${route.operation} ${JSON.stringify(params)}`
  } catch (thrown) {
    if (thrown instanceof GatewayError) return String(thrown.status)
    throw thrown
  }
}

test.each<[string, string, string]>([
  ['GET', '/api/things', 'GET /things {}'],
  ['POST', '/api/things', 'POST /things {}'],
  ['GET', '/health', 'GET /health {}'],
  ['GET', '/api/things/7', 'GET /things/:id {"id":"7"}'],
  ['DELETE', '/api/things/7', 'DELETE /things/:id {"id":"7"}'],
  // A literal wins over a parameter, for every method that it has.
  ['GET', '/api/things/count', 'GET /things/count {}'],
  ['HEAD', '/api/things/count', 'GET /things/count {}'],
  // An object may be called as the literal is.
  ['DELETE', '/api/things/count', 'DELETE /things/:id {"id":"count"}'],
  ['GET', '/api/things/7/parts/8', 'GET /things/:id/parts/:part {"id":"7","part":"8"}'],
  // A star matches what no other path does.
  ['GET', '/api/app', 'GET /app {}'],
  ['GET', '/api/app/', 'GET /app/* {}'],
  ['GET', '/api/app/a/b%2Fc/d', 'GET /app/* {}'],
  ['GET', '/api/app/files/x', 'GET /app/files/:name {"name":"x"}'],
  ['GET', '/api/app/keys/edit', 'GET /app/:screen/edit {"screen":"keys"}'],
  ['GET', '/api/app/keys/other', 'GET /app/* {}'],
  ['POST', '/api/app/a', '405'],
  // If a literal leads nowhere, the search backtracks and keeps nothing from that branch.
  ['GET', '/api/things/count/parts/8', 'GET /things/:id/parts/:part {"id":"count","part":"8"}'],
  ['GET', '/api/things/count/parts/8/deep', 'GET /things/count/parts/:part/deep {"part":"8"}'],
  ['GET', '/api/deep/a/b', 'GET /deep/:y/:z {"y":"a","z":"b"}'],
  ['GET', '/api/deep/a/b/end', 'GET /deep/a/:x/end {"x":"b"}'],
  ['GET', '/api/deep/a/b/other', 'GET /deep/:y/:z/other {"y":"a","z":"b"}'],
  // Decoded once, and treated as data ever after.
  ['GET', '/api/things/a%20b', 'GET /things/:id {"id":"a b"}'],
  ['GET', '/api/things/a%2Fb', 'GET /things/:id {"id":"a/b"}'],
  ['GET', '/api/things/a%252Fb', 'GET /things/:id {"id":"a%2Fb"}'],
  ['GET', '/api/things/%2e%2e', 'GET /things/:id {"id":".."}'],
  ['GET', '/api/things/%C3%A4', 'GET /things/:id {"id":"ä"}'],
  ['GET', '/api/things/%00', 'GET /things/:id {"id":"\\u0000"}'],
  ['GET', '/api/things/+', 'GET /things/:id {"id":"+"}'],
  ['GET', '/api/things/:id', 'GET /things/:id {"id":":id"}'],
  ['GET', '/api/things/__proto__', 'GET /things/:id {"id":"__proto__"}'],
  ['GET', '/api/things/..', 'GET /things/:id {"id":".."}'],
  // HEAD is GET without its body.
  ['HEAD', '/api/things', 'GET /things {}'],
  ['GET', '/api/things/%', '400'],
  ['GET', '/api/things/%zz', '400'],
  ['GET', '/api/things/%C3', '400'],
  ['PUT', '/api/things', '405'],
  ['PATCH', '/api/things/7', '405'],
  ['PATCH', '/api/things/count', '405'],
  ['HEAD', '/api/nothing', '404'],
  ['TRACE', '/health', '405'],
  ['get', '/health', '405'],
  ['GET', '', '404'],
  ['GET', '/', '404'],
  ['GET', '/api', '404'],
  ['GET', '/api/', '404'],
  ['GET', '/api/things/', '404'],
  ['GET', '//api/things', '404'],
  ['GET', '/api//things', '404'],
  // An empty name is for the operation to refuse.
  ['GET', '/api/things//parts/8', 'GET /things/:id/parts/:part {"id":"","part":"8"}'],
  ['GET', '/api/things/7/parts/', '404'],
  ['GET', '/api/./things', '404'],
  ['GET', '/api/x/../things', '404'],
  ['GET', '/api/%74hings', '404'],
  ['GET', '/API/things', '404'],
  ['GET', '/api/things;x=1', '404'],
  ['GET', '/api/things/7/parts', '404'],
  ['GET', '/api/things/7/parts/8/9', '404'],
  ['GET', '/constructor', '404'],
  ['GET', '/health/live', '404'],
  ['GET', `/api${'/x'.repeat(100_000)}`, '404'],
])('%s %s', async (method, path, expected) => {
  expect(await found(method, path)).toBe(expected)
})

test('405 tells which methods there are', async () => {
  expect(() => router.match('PUT', '/api/things')).toThrow(
    expect.objectContaining({
      message: '/api/things answers GET, HEAD, POST, not PUT.',
      metadata: { allow: ['GET', 'HEAD', 'POST'] },
    }),
  )
  expect(await router.methods('/api/things')).toEqual(['GET', 'HEAD', 'POST'])
  expect(await router.methods('/api/things/count')).toEqual(['GET', 'HEAD', 'DELETE'])
  expect(await rejectionText(router.methods('/api/nothing'))).toStartWith('There is no /api/nothing here.')
})

test('a path is open to apps of every origin only if one of its routes says so', async () => {
  const paths = ['/api/open', '/api/things', '/api/things/7', '/api/nothing', '/health']
  expect(await Promise.all(paths.map((path) => router.isOpen(path)))).toEqual([true, false, false, false, false])
})

test('404 does not repeat a hostile path at length', () => {
  expect(() => router.match('GET', `/${'x'.repeat(100_000)}`)).toThrow(/^There is no .{200} here\./)
})

describe('two routes for one method and path', () => {
  test.each<[string, string]>([
    ['/a', '/a'],
    ['/a/:x', '/a/:y'],
  ])('%s and %s do not start', (one, other) => {
    expect(() => createRouter([{ base: '', rows: [route('GET', one), route('GET', other)] }])).toThrow('Two routes for GET')
  })
})

describe('routes of a file that is loaded when one of their paths is asked for', () => {
  const PATHS = ['/keys', '/keys/:id']
  const routes = [route('GET', '/keys'), route('POST', '/keys'), { ...route('GET', '/keys/:id'), anyOrigin: true as const }]
  const make = (load: () => Promise<readonly Route[]>, paths: readonly string[] = PATHS) => {
    let loads = 0
    const file = later(
      paths,
      () => {
        loads += 1
        return load()
      },
      (loaded) => loaded,
    )
    const rows = [route('POST', '/chat'), file, route('DELETE', '/keys/:id')]
    const made = createRouter([
      { base: '/api', rows },
      { base: '', rows },
    ])
    return { ...made, rows, loads: () => loads }
  }

  test.each<[string, string, string]>([
    ['GET', '/api/keys', 'GET /keys {}'],
    ['HEAD', '/api/keys', 'GET /keys {}'],
    ['GET', '/keys/7', 'GET /keys/:id {"id":"7"}'],
    ['DELETE', '/api/keys/7', 'DELETE /keys/:id {"id":"7"}'],
    ['PUT', '/api/keys', '405'],
    ['GET', '/api/keys/%', '400'],
    ['GET', '/api/others', '404'],
  ])('the first %s %s is answered like every other one', async (method, path, expected) => {
    const one = make(async () => routes)
    expect(await found(method, path, one)).toBe(expected)
    expect(await found(method, path, one)).toBe(expected)
    expect(one.loads()).toBe(expected === '404' ? 0 : 1)
  })

  test('OPTIONS knows their methods, and which are open', async () => {
    expect(await make(async () => routes).methods('/api/keys/7')).toEqual(['DELETE', 'GET', 'HEAD'])
    expect(await make(async () => routes).isOpen('/api/keys/7')).toBe(true)
  })

  test('a path without such routes is matched at once, and loads nothing', () => {
    const one = make(async () => routes)
    expect(one.match('POST', '/api/chat')).not.toBeInstanceOf(Promise)
    expect(one.loads()).toBe(0)
  })

  test('once they are there, their paths are matched at once too', async () => {
    const one = make(async () => routes)
    await one.match('GET', '/api/keys')
    for (const path of ['/keys', '/api/keys/7']) expect(one.match('GET', path)).not.toBeInstanceOf(Promise)
  })

  test('requests that come meanwhile wait for the same file', async () => {
    const one = make(async () => routes)
    const answers = await Promise.all(['/api/keys', '/keys/1', '/api/keys/2'].map((path) => found('GET', path, one)))
    expect(answers).toEqual(['GET /keys {}', 'GET /keys/:id {"id":"1"}', 'GET /keys/:id {"id":"2"}'])
    expect(one.loads()).toBe(1)
  })

  test('a file that could not be read is read again for the next request', async () => {
    let faulty = true
    const one = make(async () => {
      if (faulty) throw new Error('unreadable')
      return routes
    })
    expect(await rejectionText(found('GET', '/api/keys', one))).toBe('unreadable')
    faulty = false
    expect(await found('GET', '/api/keys', one)).toBe('GET /keys {}')
  })

  test.each<[string, readonly string[]]>([
    ['/keys/:id', ['/keys']],
    ['/more', [...PATHS, '/more']],
  ])('a file and the table that differ in %s are a fault', async (path, paths) => {
    const one = make(async () => routes, paths)
    expect(await rejectionText(found('GET', '/api/keys', one))).toEndWith(`: ${path}`)
  })
})
