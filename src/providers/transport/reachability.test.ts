import { createServer, type Server } from 'node:net'

import { afterAll, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { GatewayError } from '../../errors.ts'
import { createReachability, probeUnless } from './reachability.ts'
import { nothingSent } from './transport-error.ts'

const ADDRESS = new URL('https://provider.example/v1/chat/completions')

/** A watch over one request, whose probes the test controls. */
const begin = () => {
  const clock = createFakeClock()
  const probes: { done: () => void; ended: boolean }[] = []
  const reachability = createReachability({
    clock,
    connectMs: 5000,
    probe(_url, done) {
      const probe = { done, ended: false }
      probes.push(probe)
      return () => (probe.ended = true)
    },
  })
  const connection = new AbortController()
  return { clock, probes, reachability, connection, end: reachability.watch(ADDRESS, connection) }
}

test('an address that nobody can connect to, or a name lookup that stalls, is given up after the time to connect, as if nothing was sent', () => {
  const { clock, probes, connection } = begin()
  clock.advance(1999)
  expect(probes).toHaveLength(0)
  clock.advance(3000)
  expect([probes.length, connection.signal.aborted]).toEqual([1, false])
  clock.advance(1)
  const reason: unknown = connection.signal.reason
  if (!(reason instanceof GatewayError)) throw new Error('There is no reason.')
  expect([reason.type, reason.message, nothingSent(reason)]).toEqual([
    'timeout',
    'The provider could not be connected to within 5 seconds.',
    true,
  ])
  expect([probes[0]?.ended, clock.waiting]).toEqual([true, 0])
})

test('one that can be connected to may think for as long as it likes', () => {
  const { clock, probes, connection, end } = begin()
  clock.advance(3000)
  probes[0]?.done()
  clock.advance(600_000)
  expect(connection.signal.aborted).toBe(false)
  end()
  expect(clock.waiting).toBe(0)
})

test('one that answered another request meanwhile is in reach too, and for half a minute needs no probe', () => {
  const { clock, probes, reachability, connection } = begin()
  clock.advance(4000)
  reachability.reached(ADDRESS)
  clock.advance(2000)
  expect(connection.signal.aborted).toBe(false)
  reachability.watch(ADDRESS, connection)
  clock.advance(20_000)
  expect(probes).toHaveLength(1)
  clock.advance(20_000)
  reachability.watch(ADDRESS, connection)
  clock.advance(2000)
  expect(probes).toHaveLength(2)
})

test('an answer in time ends the watch, and no probe is made', () => {
  const { clock, probes, connection, end } = begin()
  clock.advance(1000)
  end()
  clock.advance(60_000)
  expect([probes.length, connection.signal.aborted, clock.waiting]).toEqual([0, false, 0])
})

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

test('a server that accepts is in reach, one that never ends the handshake of TLS is not', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined))
  servers.push(server)
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    }),
  )
  const probe = probeUnless(() => null)
  let secured = false
  const endTls = probe(new URL(`https://127.0.0.1:${port}/v1`), () => (secured = true))
  await new Promise<void>((resolve) => void probe(new URL(`http://127.0.0.1:${port}/v1`), resolve))
  expect(secured).toBe(false)
  endTls()
})
