/**
 * Sends HTTP requests to providers, with our own deadlines. Redirects are never followed, so that a credential goes only to the address
 * that the operator wrote. One of the few files that may use the runtime directly (ARCHITECTURE.md).
 */
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { UNLIMITED } from '../../lib/json/json-limits.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { Reachability } from './reachability.ts'
import { codeOf, transportError } from './transport-error.ts'
import { responseOf, type UpstreamResponse } from './upstream-response.ts'

export interface UpstreamTimeouts {
  /** Until the response headers, connecting included, if a stream was asked for. */
  readonly streamHeadersMs: number
  /** Until the headers of a whole answer, which come when the model is done. */
  readonly wholeHeadersMs: number
  /** The longest silence between two pieces of a body. */
  readonly idleMs: number
}

export interface UpstreamRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly stream: boolean
  /** Its signal ends the request, and the deadlines here abort it. It must not be used for another request. */
  readonly connection: AbortController
}

export const bodyText = (body: UpstreamRequest['body']): string => (typeof body === 'string' ? body : new TextDecoder().decode(body))

/** Wraps the body for reading a few of its members. */
export function* wireBody(body: UpstreamRequest['body']): Steps<JsonBody> {
  if (typeof body !== 'string')
    return body.byteLength <= LARGE_BYTES ? JsonBody.ofBytes(body, UNLIMITED) : yield* JsonBody.readingBytes(body, UNLIMITED)
  const read = JsonBody.ofParsed(body)
  yield
  return read
}

export interface Upstream {
  post(request: UpstreamRequest): Promise<UpstreamResponse>
}

export const createUpstream = (clock: Clock, timeouts: UpstreamTimeouts, reachability: Reachability | null = null): Upstream => ({
  async post({ url, headers, body, stream, connection }) {
    const address = new URL(url)
    const cancelDeadline = clock.after(stream ? timeouts.streamHeadersMs : timeouts.wholeHeadersMs, () =>
      connection.abort(new GatewayError('timeout', 'The provider sent no response in time.')),
    )
    const endWatch = reachability?.watch(address, connection)
    const send = (keepalive: boolean): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers,
        body,
        keepalive,
        redirect: 'manual',
        // The runtime would decompress a whole piece at once, and a few bytes may expand to gigabytes.
        decompress: false,
        signal: connection.signal,
        // Ours are the only deadlines: the runtime's default timeout would end slow reasoning calls.
        timeout: false,
      })
    const sentMs = clock.monotonicMs()
    try {
      const response = await send(true).catch((thrown: unknown) => {
        if (!isReuseRace(thrown, clock.monotonicMs() - sentMs) || reachability?.known(address) !== true) throw thrown
        return send(false)
      })
      reachability?.reached(address)
      return responseOf(response, connection, clock, timeouts.idleMs)
    } catch (thrown) {
      throw transportError(thrown, connection.signal)
    } finally {
      cancelDeadline()
      endWatch?.()
    }
  },
})

/** The `date` header of a host's answer to a HEAD request, whatever its status; null if there is none. Rejects if no host answers. */
export const dateOf = async (url: string, withinMs: number, clock: Clock): Promise<string | null> => {
  const connection = new AbortController()
  const cancel = clock.after(withinMs, () => connection.abort(new Error(`no answer within ${withinMs / 1000} s`)))
  try {
    const { headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: connection.signal })
    return headers.get('date')
  } finally {
    cancel()
  }
}

/** If a provider closes an idle connection, this shows within so many milliseconds of its next use. */
const REUSE_RACE_MS = 1000

/**
 * Says whether a request probably met a connection that was being closed: it was reset at once, without a byte of an answer. It is sent
 * once more, on a connection of its own; no other provider is tried and no client hears of it
 * (docs/contract/failover.md#reused-connections).
 */
const isReuseRace = (thrown: unknown, afterMs: number): boolean => {
  const code = codeOf(thrown)
  return (code === 'ECONNRESET' || code === 'EPIPE') && afterMs < REUSE_RACE_MS
}
