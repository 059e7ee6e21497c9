/** A request body as text: only JSON, only UTF-8, and never more than is allowed, whatever the headers claim. */
import { isUtf8 } from 'node:buffer'

import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

/** What is used of a request: the runtime has more than one type of them. */
export type HttpRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body' | 'arrayBuffer'>

export interface BodyLimits {
  readonly maxBytes: number
  readonly clock: Clock
  /** Until the whole body is here, and between two pieces of it. */
  readonly totalMs: number
  readonly idleMs: number
}

type Readable = Pick<HttpRequest, 'headers' | 'body' | 'arrayBuffer'>

export const readBodyText = async (request: Readable, limits: BodyLimits): Promise<string> =>
  decoder.decode(await readBody(request, limits))

/** Valid UTF-8. */
export const readBody = async (request: Readable, limits: BodyLimits): Promise<Uint8Array> => {
  const { maxBytes, totalMs, idleMs } = limits
  checkType(request.headers)
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes)
  if (declared !== null && Number(declared) <= AT_ONCE_MAX) {
    // A body this small that takes the time of a pause is one: nothing has to be counted piece by piece.
    const bytes = new Uint8Array(await inTime(request.arrayBuffer(), Math.min(totalMs, idleMs), limits))
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
    return checked(bytes)
  }
  return checked(request.body === null ? new Uint8Array() : await readPieces(request.body.getReader(), limits))
}

/** Bodies of this length arrive in a few packets. */
const AT_ONCE_MAX = 64 * 1024

interface PieceReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

const readPieces = async (reader: PieceReader, limits: BodyLimits): Promise<Uint8Array> => {
  const { maxBytes, totalMs, idleMs, clock } = limits
  const endMs = clock.monotonicMs() + totalMs
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), Math.min(idleMs, endMs - clock.monotonicMs()), limits)
      if (done || value === undefined) return Buffer.concat(pieces)
      size += value.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
      pieces.push(value)
    }
  } catch (thrown) {
    // Nothing waits for it: a client that sends no more ends no cancellation either.
    reader.cancel().catch(() => undefined)
    throw thrown
  }
}

const inTime = async <Value>(reading: Promise<Value>, withinMs: number, { clock }: BodyLimits): Promise<Value> => {
  let cancel: (() => void) | undefined
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(withinMs, () => reject(tooSlow()))
  })
  try {
    return await Promise.race([reading, late])
  } finally {
    cancel?.()
  }
}

const tooSlow = (): GatewayError =>
  new GatewayError('timeout', 'The body of the request did not arrive in time.', { status: 408, unread: true })

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

const checkType = (headers: Headers): void => {
  const type = headers.get('content-type')
  if (type !== null && !JSON_TYPE.test(type)) {
    throw new GatewayError('invalid_request', `Content-Type is "${type.slice(0, 100)}"; send application/json in UTF-8.`, { unread: true })
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw new GatewayError('invalid_request', `Content-Encoding "${encoding.slice(0, 40)}" is not accepted; send the body uncompressed.`, {
      unread: true,
    })
  }
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('payload_too_large', `Request payload too large: at most ${maxBytes} bytes.`, {
    metadata: { max_bytes: maxBytes },
    unread: true,
  })

// A byte order mark is kept, so that the JSON reader refuses it instead of two readers disagreeing on it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const checked = (bytes: Uint8Array): Uint8Array => {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.')
  return bytes
}
