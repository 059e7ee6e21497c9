import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { listenForTests } from '../../../test/support/listen.ts'
import { systemClock } from '../../lib/clock.ts'
import { refusal } from './refusal.test-kit.ts'
import { createSafeFetch, type SafeFetchParts } from './safe-fetch.ts'

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const received: Received[] = []
let answer: (request: Received, response: ServerResponse) => void = (_, response) => response.end('{}')

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (piece: string) => (body += piece))
  request.on('end', () => {
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
    received.push(one)
    answer(one, response)
  })
})
const port = await listenForTests(server)

const local = `http://127.0.0.1:${port}`

const post = async (url: string, parts: Partial<SafeFetchParts> = {}, more: { timeoutMs?: number; maxBytes?: number } = {}) => {
  received.length = 0
  const fetch = createSafeFetch({
    clock: systemClock,
    trustedHosts: [],
    trustedBy: 'moderation.trusted_hosts',
    resolve: async () => ['93.184.216.34'],
    ...parts,
  })
  return fetch({
    url,
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
    body: '{"a":1}',
    timeoutMs: 2000,
    maxBytes: 1000,
    ...more,
  })
}

describe('without a trusted host it refuses', () => {
  const cases: readonly [string, string, string][] = [
    ['plain http', 'http://example.com/', 'http is for'],
    ['another port', 'https://example.com:8443/', 'ports but 443'],
    ['credentials in the address', 'https://user:pass@example.com/', 'credentials'],
    ['another protocol', 'file:///etc/passwd', 'not an https address'],
    ['no address at all', 'example.com', 'not an https address'],
    ['an address of this machine', 'https://127.0.0.1/', 'not of the open internet'],
    ['the same in other notations', 'https://2130706433/', 'not of the open internet'],
    ['the same in octal', 'https://0177.0.0.1/', 'not of the open internet'],
    ['the same within IPv6', 'https://[::ffff:127.0.0.1]/', 'not of the open internet'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest', 'not of the open internet'],
  ]
  for (const [what, url, reason] of cases) test(what, async () => expect(await refusal(post(url))).toContain(reason))

  test('a name of which only one address is private', async () => {
    expect(await refusal(post('https://example.com/', { resolve: async () => ['93.184.216.34', '10.0.0.1'] }))).toContain(
      'not of the open internet',
    )
    expect(await refusal(post('https://example.com/', { resolve: async () => [] }))).toContain('no address')
  })

  test('a service of this machine, by a name that is its own', async () => {
    expect(await refusal(post(`https://localhost/`, { resolve: async () => ['127.0.0.1'] }))).toContain('not of the open internet')
    expect(received).toEqual([])
  })
})

test('it connects to the address that was checked, whatever the name answers the next time', async () => {
  const answers = [['127.0.0.1'], ['203.0.113.1']]
  let asked = 0
  const resolve = async (): Promise<readonly string[]> => answers[asked++] ?? []
  const { status } = await post(`http://rebound.example:${port}/x`, { trustedHosts: [`rebound.example:${port}`], resolve })
  expect(status).toBe(200)
  expect(asked).toBe(1)
  expect(received[0]).toMatchObject({ method: 'POST', path: '/x', body: '{"a":1}', headers: { host: `rebound.example:${port}` } })
})

test.each([
  ['in the next request', 200],
  ['behind a redirect to itself', 302],
])('a name that is public first and private later is refused %s, and nothing is sent there', async (_, status) => {
  const answers = [['93.184.216.34'], ['127.0.0.1']]
  const dialed: string[] = []
  const fetch = createSafeFetch({
    clock: systemClock,
    trustedHosts: [],
    trustedBy: null,
    plainHttp: true,
    resolve: async () => answers.shift() ?? [],
    dial: (address) => {
      dialed.push(address)
      return { address: '127.0.0.1', port }
    },
  })
  const page = { url: 'http://rebound.example/', headers: {}, body: null, timeoutMs: 2000, maxBytes: 1000 }
  received.length = 0
  answer = (_request, response) => response.writeHead(status, status === 302 ? { location: page.url } : {}).end('{}')
  const first = fetch(page)
  if (status === 200) expect((await first).status).toBe(200)
  expect(await refusal(status === 200 ? fetch(page) : first)).toContain('not of the open internet')
  expect([dialed, received.length]).toEqual([['93.184.216.34'], 1])
  answer = (_request, response) => response.end('{}')
})

describe('trusted hosts', () => {
  test('may be private and plain, on any port, or on the one that is named', async () => {
    expect((await post(`${local}/`, { trustedHosts: ['127.0.0.1'] })).text).toBe('{}')
    expect((await post(`${local}/`, { trustedHosts: [`127.0.0.1:${port}`] })).text).toBe('{}')
    expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1:1'] }))).toContain('http is for')
  })

  test('trust ends with the host: a name beside it has none', async () => {
    expect(await refusal(post(`http://a.internal:${port}/`, { trustedHosts: ['internal'], resolve: async () => ['127.0.0.1'] }))).toContain(
      'http is for',
    )
  })
})

describe('redirects', () => {
  const to = (status: number, location: string) => (request: Received, response: ServerResponse) => {
    if (request.path === '/end') response.end('end')
    else response.writeHead(status, { location }).end()
  }

  test('307 and 308 keep method and body, 303 asks anew', async () => {
    for (const status of [307, 308]) {
      answer = to(status, '/end')
      expect((await post(`${local}/`, { trustedHosts: ['127.0.0.1'] })).text).toBe('end')
      expect(received.at(-1)).toMatchObject({ method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer secret' } })
    }
    answer = to(303, '/end')
    await post(`${local}/`, { trustedHosts: ['127.0.0.1'] })
    expect(received.at(-1)).toMatchObject({ method: 'GET', body: '' })
  })

  test('another host never gets the body', async () => {
    answer = to(308, `http://other.example:${port}/end`)
    const parts = { trustedHosts: ['127.0.0.1', 'other.example'], resolve: async () => ['127.0.0.1'] }
    expect(await refusal(post(`${local}/`, parts))).toContain('to another host')
    expect(received.map(({ path }) => path)).toEqual(['/'])
    answer = to(303, `http://other.example:${port}/end`)
    expect((await post(`${local}/`, parts)).text).toBe('end')
    expect(received.at(-1)).toMatchObject({ method: 'GET', body: '' })
  })

  test('another host gets no credential', async () => {
    answer = to(303, `http://other.example:${port}/end`)
    await post(`${local}/`, { trustedHosts: ['127.0.0.1', 'other.example'], resolve: async () => ['127.0.0.1'] })
    expect(received.at(-1)?.headers).toMatchObject({ host: `other.example:${port}`, 'content-type': 'application/json' })
    expect(received.at(-1)?.headers.authorization).toBeUndefined()
  })

  test('the same host gets no credential in plain text that it got over TLS', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const pem = readFileSync(join(import.meta.dir, '../../../test/fixtures/tls/wrong-name.pem'), 'utf8')
    let status = 303
    const secure = createSecureServer({ key: pem, cert: pem }, (_, response) =>
      response.writeHead(status, { location: 'http://same.example/end' }).end(),
    )
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    try {
      answer = (_, response) => void response.end('end')
      const parts = {
        trustedHosts: ['same.example'],
        dial: (_: string, asked: number) => ({
          address: '127.0.0.1',
          port: asked === 443 ? (secure.address() as AddressInfo).port : port,
        }),
      }
      expect((await post('https://same.example/', parts)).text).toBe('end')
      expect(received.at(-1)?.headers).toMatchObject({ host: 'same.example', 'content-type': 'application/json' })
      expect(received.at(-1)?.headers.authorization).toBeUndefined()
      status = 307
      expect(await refusal(post('https://same.example/', parts))).toContain('to another host')
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
      secure.close()
    }
  })

  test('each is checked like the first: to a private address, to plain http, to another protocol', async () => {
    for (const [location, reason] of [
      ['https://10.0.0.1/', 'not of the open internet'],
      ['http://example.com/', 'http is for'],
      ['gopher://example.com/', 'not an https address'],
    ] as const) {
      answer = to(302, location)
      expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1'] }))).toContain(reason)
    }
  })

  test('three are followed, a fourth is not', async () => {
    let left = 3
    answer = (_, response) => {
      if (left === 0) response.end('end')
      else response.writeHead(307, { location: `/${(left -= 1)}` }).end()
    }
    expect((await post(`${local}/`, { trustedHosts: ['127.0.0.1'] })).text).toBe('end')
    left = 4
    expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1'] }))).toContain('more than 3 redirects')
  })
})

describe('what is slow, long or broken is given up', () => {
  test('no answer in time', async () => {
    answer = () => {}
    expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1'] }, { timeoutMs: 50 }))).toContain('no answer within 50 ms')
  })

  test('a name that is not resolved in time', async () => {
    const resolve = (): Promise<readonly string[]> => new Promise(() => {})
    expect(await refusal(post('https://example.com/', { resolve }, { timeoutMs: 50 }))).toContain('no answer within 50 ms')
  })

  test('a body of more than the most bytes', async () => {
    answer = (_, response) => response.end('x'.repeat(5000))
    expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1'] }))).toContain('more than 1000 bytes')
  })

  test('a body in chunks of one byte each, long before it has the most bytes', async () => {
    answer = (_, { socket }) =>
      void socket?.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(50_001)}0\r\n\r\n`)
    const asked = post(`${local}/`, { trustedHosts: ['127.0.0.1'] }, { timeoutMs: 20_000, maxBytes: 1_000_000 })
    expect(await refusal(asked)).toContain('too many pieces')
  })

  test('a connection that is cut', async () => {
    answer = (_, response) => void response.socket?.destroy()
    expect(await refusal(post(`${local}/`, { trustedHosts: ['127.0.0.1'] }))).not.toBe('not refused')
  })
})
