import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { startForwardProxy } from '../../../test/support/forward-proxy.ts'
import { listenForTests } from '../../../test/support/listen.ts'
import { until } from '../../../test/support/started-service.ts'
import { systemClock } from '../../lib/clock.ts'
import { refusal } from './refusal.test-kit.ts'
import { createSafeFetch, type SafeFetchParts } from './safe-fetch.ts'

const pem = readFileSync(join(import.meta.dir, '../../../test/fixtures/tls/wrong-name.pem'), 'utf8')
const secure = await listenForTests(createSecureServer({ key: pem, cert: pem }, (_, response) => response.end('never')))
const plain = await listenForTests(
  createServer((request, response) => {
    // The proxy would hear nothing of later requests on the same connection.
    response.setHeader('connection', 'close')
    if (request.url?.endsWith('/to-private') === true) response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
    else response.end(`${request.headers.host} ${request.url}`)
  }),
)
const proxy = await startForwardProxy()

const unknown = async (): Promise<readonly string[]> => {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
}

const ask = (url: string, parts: Partial<SafeFetchParts> = {}, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  createSafeFetch({
    clock: systemClock,
    trustedHosts: [],
    trustedBy: 'media.trusted_hosts',
    plainHttp: true,
    resolve: unknown,
    proxyOf: () => proxy.url,
    ...parts,
  })({ url, headers: { authorization: 'Bearer secret' }, body: null, timeoutMs: 5000, maxBytes: 1000, ...more })

/** The heads that the proxy receives meanwhile. */
const headsOf = async (asked: Promise<unknown>): Promise<readonly string[]> => {
  const before = proxy.heads.length
  await asked
  return proxy.heads.slice(before)
}

test('a page without TLS is asked for by its whole address, with the credentials of the proxy, though its name is unknown here', async () => {
  proxy.answer({ forward: plain })
  const address = proxy.url.replace('//', '//user:p%40ss@')
  const heads = await headsOf(
    ask('http://example.com/a?b=c', { proxyOf: () => address }).then(({ status, text, url }) =>
      expect({ status, text, url }).toEqual({ status: 200, text: 'example.com http://example.com/a?b=c', url: 'http://example.com/a?b=c' }),
    ),
  )
  expect(heads.map((head) => head.split('\r\n')[0])).toEqual(['get http://example.com/a?b=c http/1.1'])
  expect(heads[0]).toContain(`proxy-authorization: ${`Basic ${btoa('user:p@ss')}`.toLowerCase()}`)
})

describe('a tunnel for TLS', () => {
  test('is asked for by name, shows nothing of the request to the proxy, and serves only who has a certificate for the name', async () => {
    proxy.answer({ forward: secure })
    const heads = await headsOf(refusal(ask('https://example.com/secret')).then((reason) => expect(reason).toMatch(/SELF_SIGNED|ALTNAME/)))
    expect(heads).toEqual(['connect example.com:443 http/1.1\r\nhost: example.com:443'])
  })

  test.each([
    [403, 'the proxy does not connect to it (403)'],
    [502, 'the proxy does not connect to it (502)'],
    [407, 'the proxy wants other credentials (407)'],
  ])('that is refused with %d is a failure of the connection, in words without the address of the proxy', async (status, reason) => {
    proxy.answer({ status })
    expect(await refusal(ask('https://example.com/', { proxyOf: () => proxy.url.replace('//', '//user:word@') }))).toBe(reason)
  })

  test('that never opens is given up in time and when the client leaves, and its connection is closed', async () => {
    proxy.answer('hang')
    expect(await refusal(ask('https://example.com/', {}, { timeoutMs: 50 }))).toBe('no answer within 50 ms')
    await until(() => proxy.tunnels === 0, 'no connection to the proxy')
    const leaving = new AbortController()
    const asked = refusal(ask('https://example.com/', {}, { signal: leaving.signal }))
    await until(() => proxy.tunnels > 0, 'a connection to the proxy')
    leaving.abort()
    expect(await asked).not.toBe('not refused')
    await until(() => proxy.tunnels === 0, 'no connection to the proxy')
  })

  test('is not asked for by a client that has left', async () => {
    proxy.answer('hang')
    expect(await refusal(ask('https://example.com/', {}, { signal: AbortSignal.abort() }))).toBe('the request was given up')
  })

  test('leaves no connection behind, whatever becomes of it', async () => {
    proxy.answer({ forward: secure })
    await refusal(ask('https://example.com/'))
    await until(() => proxy.tunnels === 0, 'no connection to the proxy')
  })
})

describe('an address is refused before the proxy hears of it', () => {
  const cases: readonly [string, string, Partial<SafeFetchParts>][] = [
    ['if it is private', 'http://10.0.0.1/', {}],
    ['if its name leads to a private address here', 'https://wiki.example.com/', { resolve: async () => ['93.184.216.34', '10.0.0.1'] }],
    ['if its name is unknown here, and one that no public network has', 'https://vault.internal/', {}],
    ['if its name has one label', 'https://vault/', {}],
  ]
  test.each(cases)('%s', async (_, url, parts) => {
    proxy.answer({ forward: plain })
    const heads = await headsOf(refusal(ask(url, parts)).then((reason) => expect(reason).toContain('not of the open internet')))
    expect(heads).toEqual([])
  })

  test('if a redirect leads there', async () => {
    proxy.answer({ forward: plain })
    const heads = await headsOf(
      refusal(ask('http://example.com/to-private')).then((reason) => expect(reason).toContain('not of the open internet')),
    )
    expect(heads.length).toBe(1)
  })
})

test('a lookup that hangs holds a request up for a second at most', async () => {
  proxy.answer({ forward: plain })
  const { status } = await ask('http://example.com/', { resolve: () => new Promise(() => {}) })
  expect(status).toBe(200)
})

test('a trusted host is not looked up here', async () => {
  proxy.answer({ forward: plain })
  const resolve = async (): Promise<readonly string[]> => ['10.0.0.1']
  expect((await ask('http://vault.internal/', { trustedHosts: ['vault.internal'], resolve })).status).toBe(200)
})

test('what goes to no proxy is checked and connected to as without one', async () => {
  const direct = { proxyOf: () => null, trustedHosts: ['near.example'], resolve: async () => ['127.0.0.1'] }
  const heads = await headsOf(
    ask(`http://near.example:${plain}/x`, direct).then(({ text }) => expect(text).toBe(`near.example:${plain} /x`)),
  )
  expect(heads).toEqual([])
})

test('a proxy of another kind is named as the cause', async () => {
  expect(await refusal(ask('https://example.com/', { proxyOf: () => 'socks5://user:word@127.0.0.1:1' }))).toBe(
    'the proxy of the environment is neither http nor https',
  )
})
