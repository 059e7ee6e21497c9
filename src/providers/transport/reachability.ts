/**
 * Finds out whether a provider can be connected to, however long it thinks. The runtime's HTTP client does not report when it has
 * connected, so a request that has no answer after a while is accompanied by a connection of our own, which does nothing but connect
 * (decisions/0010). An address that answered recently needs none.
 */
import type { Socket } from 'node:net'

import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ProxyOf } from '../../lib/network/outgoing-proxy.ts'
import { portOf } from '../../lib/network/port-of.ts'
import { bareHost } from '../../lib/network/trusted-hosts.ts'

export interface Reachability {
  /** Reports that an answer came from the address. */
  reached(url: URL): void
  /**
   * Aborts `connection` if the address cannot be connected to in time. The caller must call the returned function when it stops waiting.
   */
  watch(url: URL, connection: AbortController): () => void
  /** Says whether an earlier connection to the address may still be open. */
  known(url: URL): boolean
}

/** Tries to connect, including name lookup and TLS. `done` is called once, unless the returned function ended the attempt before. */
export type Probe = (url: URL, done: () => void) => () => void

/** The cause of the error of a request that was never sent, because nothing was connected. */
export class Unreached extends Error {
  override readonly name = 'Unreached'
  constructor(cause?: unknown) {
    super('nothing was sent', cause === undefined ? undefined : { cause })
  }
}

/** How long an address counts as reachable after an answer. */
const REACHED_MS = 30_000
/** The share of the connect timeout that passes before the probe starts: by then most requests have connected or have an answer. */
const ALONE = 0.4

export const createReachability = ({ clock, connectMs, probe }: { clock: Clock; connectMs: number; probe: Probe }): Reachability => {
  const reachedMs = new Map<string, number>()
  const isReached = (origin: string): boolean => {
    const atMs = reachedMs.get(origin)
    return atMs !== undefined && clock.monotonicMs() - atMs < REACHED_MS
  }
  const reach = (origin: string): void => void reachedMs.set(origin, clock.monotonicMs())

  return {
    reached: ({ origin }) => reach(origin),
    known: ({ origin }) => reachedMs.has(origin),
    watch(url, connection) {
      const { origin } = url
      if (isReached(origin)) return () => undefined
      let endProbe = (): void => undefined
      const expire = (): void => {
        endProbe()
        if (isReached(origin)) return
        const reported = `The provider could not be connected to within ${connectMs / 1000} seconds.`
        connection.abort(new GatewayError('timeout', reported, { cause: new Unreached() }))
      }
      let cancel = clock.after(connectMs * ALONE, () => {
        endProbe = probe(url, () => reach(origin))
        cancel = clock.after(connectMs * (1 - ALONE), expire)
      })
      return () => {
        cancel()
        endProbe()
      }
    },
  }
}

const probeAddress: Probe = (url, done) => {
  // Loaded on first use: a provider that answers at once needs neither.
  const { connect: connectTcp, isIP } = process.getBuiltinModule('node:net')
  const { connect: connectTls } = process.getBuiltinModule('node:tls')
  const host = bareHost(url.hostname)
  const socket: Socket =
    url.protocol === 'https:'
      ? // Nothing is sent over it; the request itself finds out whether the certificate can be trusted.
        connectTls({ host, port: portOf(url), ...(isIP(host) === 0 ? { servername: host } : {}), rejectUnauthorized: false }, connected)
      : connectTcp({ host, port: portOf(url) }, connected)
  function connected(): void {
    done()
    socket.destroy()
  }
  // A host that refuses this connection refuses the request too, whose error says more.
  socket.on('error', () => socket.destroy())
  return () => void socket.destroy()
}

/** An address behind a proxy counts as reachable: a connection of our own may not reach it. */
export const probeUnless =
  (proxyOf: ProxyOf): Probe =>
  (url, done) => {
    if (proxyOf(url) === null) return probeAddress(url, done)
    done()
    return () => undefined
  }
