/** Clients that send too slowly, read too slowly, or connect while the service stops. */
import { connect, type Socket } from 'node:net'

import { afterAll, describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { dataEvent, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()

const service = await services.start({
  config: `
timeouts: { body: 0.6, body_idle: 0.2, client_unread: 3 }
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  m/one: { endpoints: [{ provider: fake, model: up }] }
`,
})

const sockets: Socket[] = []
afterAll(() => sockets.forEach((socket) => socket.destroy()))

/** A connection from which nothing is read unless `read` is called. */
const open = (head: string, length: number, at = service): { socket: Socket; read: (until?: string) => Promise<string> } => {
  const { hostname, port, host } = new URL(at.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(
    `POST /api/v1/${head} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${at.inferenceKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  )
  /** Reads to the end of the connection, or up to this text. */
  const read = (end?: string): Promise<string> =>
    new Promise((resolve) => {
      let received = ''
      socket.setEncoding('utf8').on('data', (piece: string) => {
        received += piece
        if (end !== undefined && received.slice(-10_000).includes(end)) resolve(received)
      })
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

test('413 for a client that sends its whole body before it reads, and its next request on the same connection is answered', async () => {
  const limited = await services.start({ config: 'limits: { max_body_bytes: 1048576 }' })
  const tooLong = 4 * 1024 * 1024
  const { socket, read } = open('messages', tooLong, limited)
  await new Promise((resolve) => socket.write('x'.repeat(tooLong), resolve))
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  const received = await read('{"status":"live"}')
  expect(received).toStartWith('HTTP/1.1 413 ')
  expect(received).toContain('\r\n\r\n{"status":"live"}')
})

test('408 for a body that trickles in', async () => {
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

describe('whole answers that nobody reads', () => {
  /** Sockets buffer four megabytes or more of an answer; the service must hold the rest. */
  const LONG = 'x'.repeat(12_000_000)
  const body = JSON.stringify({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] })
  const unreadAt = async (at: StartedService): Promise<number> =>
    Number(/^patchbay_unread_answer_bytes (\d+)$/m.exec(await (await fetch(`${at.url}/metrics`)).text())?.[1])

  test('count as memory: new bodies are refused, health and small reads keep working, and all is released when the clients leave or read', async () => {
    const bounded = await services.start({
      config: `
limits: { loop_lag_ms: 0, body_bytes_in_flight: 33554432 }
timeouts: { client_unread: 600 }
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  m/one: { endpoints: [{ provider: fake, model: up }] }
`,
    })
    upstream.script(say(LONG))
    const clients = Array.from({ length: 8 }, () => open('chat/completions', body.length, bounded))
    for (const { socket } of clients) socket.write(body)
    await until(async () => (await unreadAt(bounded)) > 33_554_432, 'answers that fill the memory for them', patient(6000))
    const refused = await infer(bounded, { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] })
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    expect(refused.error.metadata).toMatchObject({ reason: 'body_bytes_in_flight' })
    expect((await fetch(`${bounded.url}/health/ready`)).status).toBe(200)
    expect((await call(bounded, 'GET', '/key')).status).toBe(200)
    const [slow, ...gone] = clients
    for (const { socket } of gone) socket.destroy()
    // One client reads again, and gets its whole answer.
    const received = (await slow?.read('"finish_reason":"stop"')) ?? ''
    expect(received.match(/x+/g)?.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThanOrEqual(LONG.length)
    await until(async () => (await unreadAt(bounded)) === 0, 'what they left to be free')
    upstream.script(say('Still here.'))
    expect((await infer(bounded, { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] })).text).toContain('Still here.')
    expect(await bounded.stop()).toBe(0)
  })

  test('are abandoned after a while: the connection breaks, and nothing is kept', async () => {
    upstream.script(say(LONG))
    const { socket, read } = open('chat/completions', body.length)
    const before = upstream.exchanges.length
    socket.write(body)
    await until(() => upstream.exchanges.length > before, 'the upstream to be asked')
    await until(async () => /patchbay_running_generations 0/.test(await (await fetch(`${service.url}/metrics`)).text()), 'the answer')
    await until(async () => (await unreadAt(service)) > 0, 'the answer to wait for its reader')
    await until(async () => (await unreadAt(service)) === 0, 'the client to be given up')
    expect(await read()).not.toContain('"finish_reason":"stop"')
  })
})

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
