/**
 * Sends HTTP requests to providers, with our own deadlines. Redirects are never followed, so that a credential goes only to the address
 * that the operator wrote. One of the few files that may use the runtime directly (ARCHITECTURE.md).
 */
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { joinCohort } from '../../lib/cohort.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { UNLIMITED } from '../../lib/json/json-limits.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { AnswerSpace } from './answer-room.ts'
import { isOwnLimit, noConnectionLeft } from './own-limits.ts'
import { Unreached, type Reachability } from './reachability.ts'

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

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  /** The pieces as they arrive. May be called only once. */
  pieces(): PieceReader
  /**
   * Says that the answer is complete: anything after it is waited for no longer than `patienceMs` in all (a second by default), and closing
   * its pieces now keeps the connection for reuse, once its last bytes have come.
   */
  complete(patienceMs?: number): void
  /** The whole body as text; throws `provider_unavailable` for more than `maxBytes`, and what `space` refuses with. */
  text(maxBytes: number, space?: AnswerSpace): Promise<string>
  /** The body's first `maxBytes` as text; the rest stays unread. For bodies of errors, whose status says enough. */
  beginning(maxBytes: number): Promise<string>
}

/** Servers answer a POST with 201 too, and Portkey with 246 if a check of its guardrails failed: their clients take each for an answer. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

export interface PieceReader {
  /**
   * The next piece; null at the end. Throws `provider_unavailable` if the connection breaks and `timeout` on silence; after `complete` both
   * count as the end.
   */
  next(): Promise<Uint8Array | null>
  /** Stops reading: before the end this closes the connection, after the end it does nothing. */
  close(): void
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

const responseOf = (response: Response, connection: AbortController, clock: Clock, idleMs: number): UpstreamResponse => {
  const patience = createPatience(clock, () => connection.abort())
  const pieces = (): PieceReader => {
    const reader = response.body?.getReader()
    const silence = watchSilence(clock, idleMs, () => {
      if (patience.began()) return
      connection.abort(new GatewayError('timeout', `The provider sent nothing for ${Math.round(idleMs / 1000)} seconds.`))
    })
    let ended = false
    const end = (): null => {
      ended = true
      silence.stop()
      return null
    }
    return {
      async next() {
        if (reader === undefined || ended) return end()
        try {
          silence.listen()
          // Pieces that come in the meantime are read as one. After the end few come.
          if (!patience.began()) await joinCohort()
          const { done, value } = await patience.during(reader)
          silence.pause()
          return done ? end() : value
        } catch (thrown) {
          end()
          // A fault after a complete answer changes nothing (docs/contract/streams.md#ends), unless the client no longer wants the answer.
          if (!patience.began() || (connection.signal.aborted && !patience.expired())) throw transportError(thrown, connection.signal)
          return null
        }
      },
      close() {
        if (ended) return
        end()
        // Without this the provider would go on sending.
        if (patience.began() && reader !== undefined) void readAway(reader, connection, clock)
        else connection.abort()
      },
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    pieces,
    complete: patience.begin,
    async beginning(maxBytes) {
      const decoder = new TextDecoder()
      let text = ''
      let left = maxBytes
      const body = pieces()
      while (left > 0) {
        const piece = await body.next()
        if (piece === null) break
        text += decoder.decode(piece.subarray(0, left), { stream: true })
        left -= piece.byteLength
      }
      body.close()
      return text + decoder.decode()
    },
    async text(maxBytes, space) {
      // A small body with a known length is read in one go, which costs less than a reader's loop; for a large one the loop splits the work
      // into many steps. A compressed answer, which was not asked for, does not show its length.
      const { headers } = response
      if (!headers.has('content-encoding') && Number(headers.get('content-length') ?? Number.NaN) <= Math.min(maxBytes, LARGE_BYTES))
        return readWhole(response, connection, clock, idleMs)
      return joinedText(pieces(), maxBytes, space)
    },
  }
}

/**
 * The same pieces, for a reader that keeps them: throws `provider_unavailable` for more than `maxBytes`, and what `space` refuses with, and
 * stops reading.
 */
export const keptPieces = (pieces: PieceReader, maxBytes: number, space?: AnswerSpace): PieceReader => {
  let bytes = 0
  return {
    async next() {
      const piece = await pieces.next()
      if (piece === null) return null
      bytes += piece.byteLength
      const refusal = bytes > maxBytes ? tooLarge(maxBytes) : (space?.take(piece.byteLength) ?? null)
      if (refusal === null) return piece
      pieces.close()
      throw refusal
    },
    close: pieces.close,
  }
}

/** Throws what `keptPieces` throws. */
export const joinedText = async (source: PieceReader, maxBytes: number, space?: AnswerSpace): Promise<string> => {
  const pieces = keptPieces(source, maxBytes, space)
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) text += decoder.decode(piece, { stream: true })
  } finally {
    pieces.close()
  }
  return text + decoder.decode()
}

const tooLarge = (bytes: number): GatewayError =>
  new GatewayError('provider_unavailable', `The provider's response is larger than ${bytes} bytes.`)

/** The end of a stream usually comes with its last event; a connection on which it does not is not worth waiting for. */
const BEHIND_END_MS = 1000
const READ_AWAY_PIECES = 16

interface Patience {
  begin(patienceMs?: number): void
  began(): boolean
  expired(): boolean
  /** Reads without a time limit before `begin`, and within the time that is left after it. */
  during(reader: BytesReader): ReturnType<BytesReader['read']>
}

type BytesReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>

/** Only time spent waiting counts, so that a slow client loses nothing that the provider still has to send. */
const createPatience = (clock: Clock, expire: () => void): Patience => {
  let leftMs: number | null = null
  let expired = false
  const bounded = async (reader: BytesReader, limitMs: number): Promise<Awaited<ReturnType<BytesReader['read']>>> => {
    const beganMs = clock.monotonicMs()
    const cancel = clock.after(limitMs, () => {
      expired = true
      expire()
    })
    try {
      return await reader.read()
    } finally {
      cancel()
      leftMs = limitMs - (clock.monotonicMs() - beganMs)
    }
  }
  return {
    begin(patienceMs = BEHIND_END_MS) {
      leftMs ??= patienceMs
    },
    began: () => leftMs !== null,
    expired: () => expired,
    during: (reader) => (leftMs === null ? reader.read() : bounded(reader, leftMs)),
  }
}

const readAway = async (reader: { read(): Promise<{ done: boolean }> }, connection: AbortController, clock: Clock): Promise<void> => {
  const cancelDeadline = clock.after(BEHIND_END_MS, () => connection.abort())
  try {
    for (let piece = 0; piece < READ_AWAY_PIECES; piece += 1) if ((await reader.read()).done) return
    connection.abort()
  } catch {
    // The rest broke off or did not end in time. The answer was complete before, so this is not reported.
  } finally {
    cancelDeadline()
  }
}

const readWhole = async (response: Response, connection: AbortController, clock: Clock, deadlineMs: number): Promise<string> => {
  const cancelDeadline = clock.after(deadlineMs, () =>
    connection.abort(new GatewayError('timeout', 'The provider did not finish its response in time.')),
  )
  try {
    return await response.text()
  } catch (thrown) {
    throw transportError(thrown, connection.signal)
  } finally {
    cancelDeadline()
  }
}

/** A timer later than this was not kept by other work alone: the process was stopped, or its container paused. */
const STOOD_STILL_MS = 2000

interface Silence {
  /** Starts counting: from now on we wait for the provider. */
  listen(): void
  /** Stops counting: a piece came, and the time that its consumer takes is not the provider's silence. */
  pause(): void
  stop(): void
}

/**
 * Calls `expire` once we have waited `idleMs` for the provider. One timer per stream, set again when it fires and not for each piece. If it
 * fires late, this process stood still and has not read what came meanwhile, so the provider gets the time once more.
 */
const watchSilence = (clock: Clock, idleMs: number, expire: () => void): Silence => {
  let sinceMs: number | null = null
  const checkIn = (ms: number): (() => void) => {
    const dueMs = clock.monotonicMs() + ms
    return clock.after(ms, () => {
      const nowMs = clock.monotonicMs()
      if (sinceMs !== null && nowMs - dueMs > STOOD_STILL_MS) sinceMs = nowMs
      const leftMs = sinceMs === null ? idleMs : sinceMs + idleMs - nowMs
      if (leftMs <= 0) expire()
      else cancel = checkIn(leftMs)
    })
  }
  let cancel = checkIn(idleMs)
  return {
    listen() {
      sinceMs = clock.monotonicMs()
    },
    pause() {
      sinceMs = null
    },
    stop: () => cancel(),
  }
}

/**
 * The error for a failed connection: our own reason if we ended it, else that the provider could not be reached or the connection broke
 * off.
 */
const transportError = (thrown: unknown, signal: AbortSignal): GatewayError => {
  if (thrown instanceof GatewayError) return thrown
  if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason
  const code = codeOf(thrown)
  if (isOwnLimit(code)) return noConnectionLeft(thrown)
  const detail = code === null ? '' : ` (${code})`
  if (code !== null && UNREACHED.test(code))
    return new GatewayError('provider_unavailable', `The provider could not be reached${detail}.`, { cause: new Unreached(thrown) })
  return new GatewayError('provider_unavailable', `The connection to the provider failed${detail}.`, { cause: thrown })
}

const codeOf = (thrown: unknown): string | null => {
  const code = (thrown as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : null
}

/** Failures of name lookup, connecting or the certificate, all of which come before the first byte of a request. */
const UNREACHED =
  /^(?:ENOTFOUND|EAI_\w+|EDNS\w*|E(?:CONN|NET|HOST)(?:REFUSED|UNREACH|DOWN)|ConnectionRefused|FailedToOpenSocket|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|\w*(?:CERT|SIGNATURE|ISSUER|CRL|SELF_SIGNED)\w*)$/

/** Says whether a request failed before any of it was sent. */
export const nothingSent = (error: GatewayError): boolean => error.cause instanceof Unreached
