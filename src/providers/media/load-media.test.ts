import { expect, test } from 'bun:test'
import { createServer } from 'node:http'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { listenForTests } from '../../../test/support/listen.ts'
import { createLoadMedia } from './load-media.ts'
import { createSafeFetch } from '../transport/safe-fetch.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

const server = createServer((request, response) => {
  if (request.url === '/missing') response.writeHead(404).end()
  else if (request.url === '/typed') response.writeHead(200, { 'content-type': 'image/png; x=y' }).end(PNG)
  else if (request.url === '/large') response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(2000))
  else response.writeHead(200).end(PNG)
})
const host = `127.0.0.1:${await listenForTests(server)}`

const load = (path: string, trustedHosts = [host], address = host): Promise<string> => {
  const get = createSafeFetch({
    clock: createFakeClock(),
    trustedHosts,
    trustedBy: 'media.trusted_hosts',
    plainHttp: true,
    resolve: async () => ['10.0.0.7'],
  })
  return createLoadMedia(get)({ type: 'image', url: `http://${address}${path}` }, { maxBytes: 1000, signal: new AbortController().signal })
}

const failureOf = (loading: Promise<string>): Promise<string> =>
  loading.then(
    () => 'It was loaded.',
    (thrown: unknown) => String(thrown),
  )

test.each(['/typed', '/untyped'])('the bytes of %s come as a data: URL of their type', async (path) => {
  expect(await load(path)).toBe(`data:image/png;base64,${PNG.toString('base64')}`)
})

test('what is not there, and what is too large, is not loaded', async () => {
  expect(await failureOf(load('/missing'))).toContain('its host answered with status 404')
  expect(await failureOf(load('/large'))).toContain('an answer of more than 1000 bytes')
})

test('a private address is asked for nothing unless its host is trusted', async () => {
  expect(await failureOf(load('/typed', [], '127.0.0.1'))).toContain('its host is not in media.trusted_hosts')
  expect(await failureOf(load('/typed', [], 'a.example'))).toContain('its host is not in media.trusted_hosts')
  expect(await failureOf(load('/typed', [], host))).toContain('ports but 80 and 443 are for hosts in media.trusted_hosts only')
  expect(await failureOf(load('/typed', [], '169.254.169.254'))).toContain('not of the open internet')
})
