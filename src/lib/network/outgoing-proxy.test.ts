import { describe, expect, test } from 'bun:test'

import { startForwardProxy } from '../../../test/support/forward-proxy.ts'
import { outgoingProxy } from './outgoing-proxy.ts'

const proxy = await startForwardProxy()
proxy.answer({ status: 204 })

/** Nothing listens at any of these. */
const URLS = ['http://127.0.0.1:9/', 'http://[::1]:9/', 'http://localhost:9/', 'http://a.localhost:9/', 'http://localhost.:9/']

const environments: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['no proxy', {}],
  ['another scheme alone', { HTTPS_PROXY: proxy.url }],
  ['upper case', { HTTP_PROXY: proxy.url }],
  ['lower case before upper case', { http_proxy: proxy.url, HTTP_PROXY: 'http://127.0.0.1:9' }],
  ['an empty one for none', { http_proxy: '', HTTP_PROXY: proxy.url, no_proxy: '', NO_PROXY: '127.0.0.1' }],
  ['one for all schemes', { ALL_PROXY: proxy.url }],
  ['one for all schemes, after that of the scheme', { all_proxy: 'http://127.0.0.1:9', HTTP_PROXY: proxy.url }],
  ['an address without a scheme', { HTTP_PROXY: proxy.url.slice('http://'.length) }],
  ...[
    '*',
    'localhost',
    'LOCALHOST',
    '.localhost',
    '*.localhost',
    'localhost.',
    'ocalhost',
    'host',
    '127.0.0.1',
    '127.0.0.1:9',
    '127.0.0.1:10',
    '127.0.0.0/8',
    '128.0.0.0/8',
    '127.',
    '::1',
    '[::1]',
    '[::1]:9',
    '::/64',
    ' a.localhost ,127.0.0.1',
    'localhost ::1',
  ].map((no): [string, Readonly<Record<string, string>>] => [`but for ${no}`, { HTTP_PROXY: proxy.url, NO_PROXY: no }]),
]

/** A request that comes to the proxy is answered; nothing else is. */
const ASK = `console.log(JSON.stringify(await Promise.all(${JSON.stringify(URLS)}.map((url) => fetch(url).then(() => url, () => null)))))`

describe('a request goes through a proxy if the runtime sends its own requests there', () => {
  test.concurrent.each(environments)('%s', async (_, env) => {
    const program = Bun.spawn([process.execPath, '-e', ASK], { env, stdout: 'pipe' })
    const asked = JSON.parse(await program.stdout.text()) as readonly (string | null)[]
    const proxyOf = outgoingProxy(env)
    expect(URLS.map((url) => (proxyOf(new URL(url)) === proxy.url ? url : null))).toEqual([...asked])
  })
})

test('https has a proxy of its own, and the usual port counts as one that is written', () => {
  const proxyOf = outgoingProxy({
    https_proxy: 'https://user:word@one.internal:3128',
    HTTP_PROXY: 'two.internal',
    NO_PROXY: 'a.example:443',
  })
  const asked = ['https://b.example/', 'http://b.example/', 'https://a.example/', 'http://a.example/', 'https://a.example:8443/']
  expect(asked.map((url) => proxyOf(new URL(url)))).toEqual([
    'https://user:word@one.internal:3128',
    'http://two.internal',
    null,
    'http://two.internal',
    'https://user:word@one.internal:3128',
  ])
})
