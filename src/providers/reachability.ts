/**
 * Says whether a provider can be connected to, however long it thinks. The runtime's HTTP client does not say
 * when it has connected, so a request that has no answer after a while is accompanied by a connection of our own, which
 * does nothing but connect (decisions/0010). An address that has answered of late needs none.
 */
import type { Socket } from 'node:net'

import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

export interface Reachability {
  /** An answer has come from there. */
  reached(url: URL): void
  /** Aborts `connection` where the address cannot be connected to in time. To be called at the end of the waiting. */
  watch(url: URL, connection: AbortController): () => void
  /** Says whether a connection to there may be open from before. */
  known(url: URL): boolean
}

/** Tries to connect, name and TLS included. `done` is called once, unless the returned function ended the attempt before. */
export type Probe = (url: URL, done: () => void) => () => void

/** The reason of a request that never left: nothing was connected. */
export class Unreached extends Error {
  override readonly name = 'Unreached'
  constructor(cause?: unknown) {
    super('nothing was sent', cause === undefined ? undefined : { cause })
  }
}

/** For how long an address counts as reachable. */
const REACHED_MS = 30_000
/** The share of the time to connect during which a request is alone with it: most have connected by then, or have an answer. */
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

export const probeAddress: Probe = (url, done) => {
  // Loaded on first use: a provider that answers at once needs neither.
  const [{ connect: connectTcp, isIP }, { connect: connectTls }] = [
    process.getBuiltinModule('node:net'),
    process.getBuiltinModule('node:tls'),
  ]
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket: Socket =
    url.protocol === 'https:'
      ? // Nothing is sent over it: that it can be trusted is for the request itself to find out.
        connectTls(
          { host, port: Number(url.port || 443), ...(isIP(host) === 0 ? { servername: host } : {}), rejectUnauthorized: false },
          connected,
        )
      : connectTcp({ host, port: Number(url.port || 80) }, connected)
  function connected(): void {
    done()
    socket.destroy()
  }
  // A host that refuses this connection refuses the request too, which says so better.
  socket.on('error', () => socket.destroy())
  return () => void socket.destroy()
}

/** Finds every address in reach: for where ours are not the provider's to connect to, as behind a proxy. */
export const probeNothing: Probe = (_url, done) => {
  done()
  return () => undefined
}
