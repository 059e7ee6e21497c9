/** Clients that send too slowly, read too slowly, or come while the service stops. */
import { connect, type Socket } from 'node:net'

import { afterAll, beforeAll, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { dataEvent, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
timeouts: { body: 0.6, body_idle: 0.2, client_unread: 1 }
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  m/one: { endpoints: [{ provider: fake, model: up }] }
`,
  })
})

const sockets: Socket[] = []
afterAll(() => sockets.forEach((socket) => socket.destroy()))

/** A connection of which nothing is read unless `read` is called. */
const open = (head: string, length: number): { socket: Socket; read: () => Promise<string> } => {
  const { hostname, port, host } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(
    `POST /api/v1/${head} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.inferenceKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  )
  const read = (): Promise<string> =>
    new Promise((resolve) => {
      let received = ''
      socket.setEncoding('utf8').on('data', (piece: string) => (received += piece))
      socket.once('close', () => resolve(received))
      socket.resume()
    })
  return { socket, read }
}

test.each([
  ['a small body', 100],
  ['a large body', 1_000_000],
])('408 for %s that stops coming, in the shape of the interface, and the connection is closed', async (_, length) => {
  const { socket, read } = open('messages', length)
  socket.write('{"model":')
  const received = await read()
  expect(received).toStartWith('HTTP/1.1 408 ')
  expect(received.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect(JSON.parse(received.slice(received.indexOf('{')))).toMatchObject({
    type: 'error',
    error: { error_type: 'timeout', message: 'The body of the request did not arrive in time.' },
    request_id: null,
  })
})

test('408 for a body that trickles', async () => {
  const { socket, read } = open('chat/completions', 1_000_000)
  const drip = setInterval(() => socket.write(' '), 50)
  const received = await read()
  clearInterval(drip)
  expect(received).toStartWith('HTTP/1.1 408 ')
})

test('a client that reads nothing is given up: the connections to it and to the provider are closed, and the run is settled', async () => {
  const chunk = dataEvent(proseChunk('x'.repeat(50_000)))
  upstream.script(async (exchange) => {
    await exchange.head(200)
    let gone = false
    void exchange.gone.then(() => (gone = true))
    while (!gone) {
      await exchange.piece(chunk)
      await Bun.sleep(0)
    }
  })
  const body = JSON.stringify({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], stream: true })
  const { socket } = open('chat/completions', body.length)
  socket.write(body)
  await until(() => upstream.exchanges.length > 0, 'the upstream to be asked')
  await upstream.last.gone
  const running = async (): Promise<boolean> => /patchbay_running_generations 0/.test(await (await fetch(`${service.url}/metrics`)).text())
  await until(running, 'the run to be settled')
  upstream.script(say('Still here.'))
  expect((await infer(service, { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] })).text).toContain('Still here.')
}, 300_000)

test('a service that stops closes each connection with its last answer', async () => {
  const stopping = await services.start()
  const slow = infer(stopping, { model: 'sandbox/slow', messages: [{ role: 'user', content: 'one' }] })
  await until(async () => /patchbay_running_generations 1/.test(await (await fetch(`${stopping.url}/metrics`)).text()), 'the run')
  stopping.signal('SIGTERM')
  const answer = await slow
  expect([answer.status, answer.headers.get('connection')?.toLowerCase()]).toEqual([200, 'close'])
  expect(await stopping.exited).toBe(0)
  expect((await call(service, 'GET', '/models')).status).toBe(200)
})
