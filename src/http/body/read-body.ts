/** Reads a request body: JSON text in UTF-8, or bytes that are stored elsewhere; never more than is allowed, whatever the headers claim. */
import { isUtf8 } from 'node:buffer'

import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { joinCohort, nextStage } from '../../lib/cohort.ts'
import type { JsonValue } from '../../lib/json/json.ts'
import { joinBytes } from '../../lib/join-bytes.ts'
import { JsonBody, readJsonObject } from '../../lib/json/json-body.ts'
import { inTurns, LARGE_BYTES } from '../../lib/steps.ts'
import { writtenOut } from './written-out.ts'
import type { BodySpace } from '../../limits/body-room.ts'
import { compressedRefusal, tooLarge, typeRefusal } from './body-refusals.ts'
import { codingsOf, decompressed } from './decompress.ts'

/** The part of a request that is used: the runtime has several request types. */
export type HttpRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body' | 'arrayBuffer'>

export interface BodyLimits {
  readonly maxBytes: number
  readonly clock: Clock
  /** The time limits for the whole body, and for the pause between two pieces of it. */
  readonly totalMs: number
  readonly idleMs: number
  /** Counts the body's bytes while they are in memory. */
  readonly space: Pick<BodySpace, 'take'>
  /** Awaited between the steps of work on a large body: resolves when the next step may run. */
  readonly pause: () => Promise<void>
}

type Readable = Pick<HttpRequest, 'headers' | 'body' | 'arrayBuffer'>

/** Reads the description of an object of the management API, which is parsed at once. */
export const readBodyText = async (request: Readable, limits: BodyLimits): Promise<string> =>
  decoder.decode(await readBody(request, { ...limits, maxBytes: Math.min(limits.maxBytes, DESCRIPTION_BYTES_MAX) }))

const DESCRIPTION_BYTES_MAX = 4 * 1024 * 1024

/** A body of any allowed length: an object, read in steps. */
export interface ReadObject {
  readonly members: Record<string, JsonValue>
  /** The text, for callers who compare it. */
  readonly text: () => string
  /** Await it between two steps of work on the body, so that other requests get their turn after a step on a large one. */
  readonly turn: () => Promise<void>
}

/** Throws GatewayError, and JsonTextError. */
export const readObject = async (request: Readable, limits: BodyLimits): Promise<ReadObject> => {
  const bytes = await readBody(request, limits)
  const text = (): string => decoder.decode(bytes)
  if (bytes.byteLength <= LARGE_BYTES) return { members: readJsonObject(text()), text, turn: async () => undefined }
  const body = await inTurns(JsonBody.readingBytes(bytes), limits.pause)
  return { members: await inTurns(body.readingAll(), limits.pause), text, turn: limits.pause }
}

/**
 * The body as JSON whose members are parsed later, and its length in UTF-8. Throws GatewayError, and
 * JsonTextError for a body that is not JSON within the limits.
 */
export const readJsonBody = async (request: Readable, limits: BodyLimits): Promise<{ readonly body: JsonBody; readonly bytes: number }> => {
  const read = await readBody(request, limits)
  await nextStage
  const body = read.byteLength <= LARGE_BYTES ? JsonBody.ofBytes(read) : await inTurns(JsonBody.readingBytes(read), limits.pause)
  return { body, bytes: read.byteLength }
}

/** Returns valid UTF-8, decompressed. Throws GatewayError. */
const readBody = async (request: Readable, limits: BodyLimits): Promise<Uint8Array> => {
  const codings = codingsOf(request.headers)
  const sent = await readSent(request, typeRefusal(request.headers) ?? (codings instanceof GatewayError ? codings : null), limits)
  const bytes = codings instanceof GatewayError || codings.length === 0 ? sent : await decompressed(sent, codings, limits)
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.')
  if (bytes.byteLength <= LARGE_BYTES) return bytes
  await limits.pause()
  return writtenOut(bytes, limits.pause)
}

/** Returns the bytes as they were sent. */
const readSent = async (request: Readable, refused: GatewayError | null, limits: BodyLimits): Promise<Uint8Array> => {
  const { maxBytes, totalMs, idleMs, space } = limits
  const declared = Number(request.headers.get('content-length') ?? 0)
  const refusal = refused ?? (declared > maxBytes ? tooLarge(maxBytes) : space.take(declared))
  if (refusal !== null) throw await afterRest(refusal, declared, request.body?.getReader(), limits)
  if (declared > 0 && declared <= AT_ONCE_MAX) {
    // The runtime joins such a body as it arrives, at less than half the cost of reading its pieces; so pauses between them are not seen.
    const bytes = new Uint8Array(await inTime(request.arrayBuffer(), Math.min(totalMs, idleMs * Math.ceil(declared / PACKETS)), limits))
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
    return bytes
  }
  if (request.body === null) return new Uint8Array()
  const pieces = await readPieces(request.body.getReader(), declared, limits)
  return pieces.length <= 1 ? (pieces[0] ?? new Uint8Array()) : inTurns(joinBytes(pieces), limits.pause)
}

/**
 * Passes the body on as it arrives, for a body that is stored elsewhere than in memory: only a part of it counts as memory. If it may be
 * longer than other bodies, it may also take proportionally longer. A refusal is thrown after the rest was read, as with other bodies.
 */
export const consumeBody = async <Result>(
  request: Readable,
  maxBytes: number,
  shared: BodyLimits,
  consume: (pieces: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> => {
  const limits = { ...shared, maxBytes, totalMs: shared.totalMs * Math.max(1, maxBytes / shared.maxBytes) }
  const declared = Number(request.headers.get('content-length') ?? 0)
  const reader = request.body?.getReader()
  const refusal = compressedRefusal(request.headers) ?? (declared > maxBytes ? tooLarge(maxBytes) : shared.space.take(IN_PASSING_BYTES))
  if (refusal !== null) throw await afterRest(refusal, declared, reader, limits)
  try {
    return await consume(reader === undefined ? NO_PIECES : boundedPieces(reader, limits))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.unread) {
      reader?.cancel().catch(() => undefined)
      throw thrown
    }
    throw await afterRest(thrown, declared, reader, limits)
  }
}

/** The part of a body that is in memory while it passes through. */
const IN_PASSING_BYTES = 1024 * 1024

const NO_PIECES: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
}

async function* boundedPieces(reader: PieceReader, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const next = timedReads(reader, limits)
  let size = 0
  let since = 0
  for (;;) {
    const value = await next()
    if (value === null) return
    size += value.byteLength
    if (size > limits.maxBytes) throw tooLarge(limits.maxBytes)
    for (let from = 0; from < value.byteLength; from += LARGE_BYTES) {
      const piece = value.subarray(from, from + LARGE_BYTES)
      // The bytes that have arrived are read and stored without going through the event loop in between, so pauses are made here.
      if (since + piece.byteLength > LARGE_BYTES) {
        since = 0
        await limits.pause()
      }
      since += piece.byteLength
      yield piece
    }
  }
}

/** Longer bodies are read in pieces. */
const AT_ONCE_MAX = LARGE_BYTES
/** A body of this length arrives in a few packets: it gets as much time as a pause may last. */
const PACKETS = 64 * 1024

interface PieceReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** `taken` is the number of bytes for which room was reserved already. */
const readPieces = async (reader: PieceReader, taken: number, limits: BodyLimits): Promise<readonly Uint8Array[]> => {
  const { maxBytes, space } = limits
  const next = timedReads(reader, limits)
  const pieces: Uint8Array[] = []
  let size = 0
  let refusal: GatewayError | null
  try {
    for (;;) {
      const value = await next()
      if (value === null) return pieces
      const room = Math.max(taken, size)
      size += value.byteLength
      refusal = size > maxBytes ? tooLarge(maxBytes) : space.take(Math.max(0, size - room))
      if (refusal !== null) break
      pieces.push(value)
    }
  } catch (thrown) {
    // Not awaited: if a client sends no more, cancelling does not end either.
    reader.cancel().catch(() => undefined)
    throw thrown
  }
  pieces.length = 0
  throw await afterRest(refusal, taken, reader, limits)
}

/** Returns the next piece, or null at the end; rejects with `timeout` if the body or one piece of it takes too long. */
const timedReads = (reader: PieceReader, limits: BodyLimits): (() => Promise<Uint8Array | null>) => {
  const { totalMs, idleMs, clock } = limits
  const endMs = clock.monotonicMs() + totalMs
  return async () => {
    const { done, value } = await inTime(reader.read(), Math.min(idleMs, endMs - clock.monotonicMs()), limits)
    if (done) return null
    // Bytes that arrive in the meantime are read as one piece: a body in chunks of a byte each would otherwise take a step for each byte, and
    // nobody else's request would get its turn.
    await joinCohort()
    return value ?? null
  }
}

/**
 * Returns the refusal of a body whose rest is discarded. Many clients write the whole body before they read an answer, and see a broken
 * pipe if the connection is closed early. A body far beyond the limit is not received to its end. `declared` is 0 if the length is unknown.
 */
const afterRest = async (
  refusal: GatewayError,
  declared: number,
  reader: PieceReader | undefined,
  limits: BodyLimits,
): Promise<GatewayError> => {
  const most = limits.maxBytes * READ_TO_REFUSE
  const isDiscarded = declared === 0 ? reader === undefined || (await readRest(reader, most, limits)) : declared <= most
  // Not awaited: if a client sends no more, cancelling does not end either.
  reader?.cancel().catch(() => undefined)
  // The runtime discards the rest of a declared length by itself while the answer goes out, and no piece of it takes memory.
  if (isDiscarded) return refusal
  const { type, message, status, metadata, retryAfterSeconds } = refusal
  return new GatewayError(type, message, { status, metadata, retryAfterSeconds, unread: true, cause: refusal })
}

/** Returns true if the body has ended, and false if it is too long or comes too slowly: the connection then ends with the refusal. */
const readRest = async (reader: PieceReader, most: number, limits: BodyLimits): Promise<boolean> => {
  const next = timedReads(reader, { ...limits, idleMs: Math.min(limits.idleMs, REFUSED_IDLE_MS) })
  try {
    for (let size = 0; size <= most;) {
      const value = await next()
      if (value === null) return true
      size += value.byteLength
    }
  } catch {
    // The rest came too slowly, or the client is gone: the refusal stands.
  }
  return false
}

/** A refused body is received up to this multiple of the allowed length and, if its length is unknown, no further than its first pause. */
const READ_TO_REFUSE = 4
const REFUSED_IDLE_MS = 1000

const inTime = async <Value>(reading: Promise<Value>, withinMs: number, { clock }: BodyLimits): Promise<Value> => {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(withinMs, () => late.reject(tooSlow()))
  try {
    return await Promise.race([reading, late.promise])
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : cutOff(thrown)
  } finally {
    cancel()
  }
}

const tooSlow = (): GatewayError =>
  new GatewayError('timeout', 'The body of the request did not arrive in time.', { status: 408, unread: true })

/** The client does not read this error: it is for the log, where a client that leaves is not a fault of ours. */
const cutOff = (cause: unknown): GatewayError =>
  new GatewayError('invalid_request', 'The client left before its request was whole.', { unread: true, cause })

// A byte order mark is kept, so that the JSON reader refuses it; two readers must not disagree about it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
