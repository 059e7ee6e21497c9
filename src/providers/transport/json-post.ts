/** The common part of every dialect over JSON: how a request is sent, and how an error or a whole answer is read. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { joinCohort, nextStage } from '../../lib/cohort.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { parseExactInSteps } from '../../lib/json/json-steps.ts'
import { atOnce, inTurns, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { WHOLE_BODY_MAX } from './answer-room.ts'
import { takeInTurns } from './answer-turns.ts'
import { unusable } from '../failures/classify-failure.ts'
import { requireFewParts } from './parts-of-answer.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import { retryHint } from '../failures/retry-hint.ts'
import { joinedText, type PieceReader } from './piece-reader.ts'
import { isSuccess, type UpstreamResponse } from './upstream-response.ts'

const ERROR_BODY_MAX = 64 * 1024

export type Body = string | Uint8Array<ArrayBuffer>

export interface JsonPost {
  readonly url: string
  /** The headers of the dialect, such as those of its key and its version. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | Promise<Body>
  readonly stream: boolean
  /** Turns a response whose status is no success into an error, by the dialect's words for errors. */
  readonly failure: (status: number, bodyText: string, target: Target, retryAfterSeconds?: number) => GatewayError
}

/** Returns a response of a status 2xx. Throws a GatewayError for any other status, and if no response came. */
export const postJson = async (
  { url, headers, body, stream, failure }: JsonPost,
  { target, connection }: Pick<Attempt, 'target' | 'connection'>,
  { upstream, clock }: ProviderContext,
): Promise<UpstreamResponse> => {
  const sent = body instanceof Promise ? await body : body
  await nextStage
  const response = await upstream.post({
    url,
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      // Compression would gain nothing on a stream, and a compressed answer can be a bomb.
      'accept-encoding': 'identity',
      ...headers,
    },
    body: sent,
    stream,
    connection,
  })
  if (isSuccess(response.status)) return response
  throw failure(response.status, await response.beginning(ERROR_BODY_MAX), target, retryHint(response.headers, clock.now()))
}

/**
 * The upstream's answer decides, not the request: some upstreams answer a stream request with a whole body, and some streams come as plain
 * text or without a type, so that only their beginning shows the form. The caller must read the returned `response` instead of the one that
 * it passed in.
 */
export const answerForm = async (
  response: UpstreamResponse,
  asked: boolean,
): Promise<{ readonly streams: boolean; readonly response: UpstreamResponse }> => {
  const type = response.headers.get('content-type') ?? ''
  if (/text\/event-stream/i.test(type)) return { streams: true, response }
  if (!asked && /json/i.test(type)) return { streams: false, response }
  const rest = response.pieces()
  const read: Uint8Array[] = []
  const decoder = new TextDecoder()
  let beginning = ''
  let bytes = 0
  while (beginning.length < LONGEST_FIELD && bytes < SPACE_MAX) {
    const piece = await rest.next()
    if (piece === null) break
    read.push(piece)
    bytes += piece.byteLength
    beginning = (beginning + decoder.decode(piece, { stream: true })).trimStart()
  }
  const again: PieceReader = {
    next: () => {
      const piece = read.shift()
      return piece === undefined ? rest.next() : Promise.resolve(piece)
    },
    close: rest.close,
  }
  return {
    streams: EVENT_FIELD.test(beginning),
    response: { ...response, pieces: () => again, text: (maxBytes, space) => joinedText(again, maxBytes, space) },
  }
}

/** The beginning of a line of an event stream; a comment has no field name. */
const EVENT_FIELD = /^(?:data|event|id|retry)?:/
const LONGEST_FIELD = 'retry:'.length
/** Some servers send white space until their whole answer is ready. What is more than this is read under the limits of whole answers. */
const SPACE_MAX = 64 * 1024

/** A whole answer and its parsed JSON. */
export interface WholeAnswer {
  readonly text: string
  readonly body: unknown
}

/**
 * Parses a large answer in turns with other requests. Throws `provider_unavailable` for an answer that is not JSON or has too many parts.
 */
export const readWholeAnswer = async (
  response: UpstreamResponse,
  { target }: Pick<Attempt, 'target'>,
  { turn, answerSpace }: Pick<ProviderContext, 'turn' | 'answerSpace'>,
): Promise<WholeAnswer> => {
  const text = await response.text(WHOLE_BODY_MAX, answerSpace)
  await joinCohort()
  let body: unknown
  try {
    body = turn === undefined || text.length <= LARGE_BYTES ? parseExact(text) : await inTurns(parseExactInSteps(text), turn)
  } catch (cause) {
    throw unusable(target, 'answered with something that is not JSON.', cause)
  }
  requireFewParts(text, body, target)
  await nextStage
  return { text, body }
}

/**
 * Passes on what a whole answer says, even if it ends in a failure, which is thrown afterwards. `read` returns steps if the answer is large
 * and has to be rewritten. A large answer is passed on in parts, with turns for other requests between them, unless it is in the client's
 * own dialect and its text is passed on.
 */
export const takeWhole = async (
  { text }: WholeAnswer,
  { turn }: Pick<ProviderContext, 'turn'>,
  take: TakeFrames,
  read: (frames: Frame[]) => void | Steps<void>,
): Promise<void> => {
  const frames: Frame[] = []
  let failure: Thrown | null = null
  try {
    const reading = read(frames)
    if (reading !== undefined) await (turn === undefined ? atOnce(reading) : inTurns(reading, turn))
  } catch (thrown) {
    failure = { thrown }
  }
  if (turn !== undefined && text.length > LARGE_BYTES) await takeInTurns(frames, turn, take)
  else if (frames.length > 0) await take(frames)
  if (failure !== null) throw failure.thrown
}

interface Thrown {
  readonly thrown: unknown
}
