/** The common part of every dialect over JSON: how a request goes out, and how an answer that is refused or whole is read. */
import type { Frame, TakeFrames } from '../canonical/event.ts'
import type { GatewayError } from '../errors.ts'
import { joinCohort, nextStage } from '../lib/cohort.ts'
import { parseExact } from '../lib/exact-json.ts'
import { parseExactInSteps } from '../lib/json-steps.ts'
import { atOnce, inTurns, LARGE_BYTES, type Steps } from '../lib/steps.ts'
import { takeInTurns } from './answer-turns.ts'
import { unusable } from './classify-failure.ts'
import { requireFewParts } from './parts-of-answer.ts'
import type { Attempt, ProviderContext, Target } from './provider.ts'
import { retryHint } from './retry-hint.ts'
import { joinedText, type PieceReader, type UpstreamResponse } from './upstream.ts'

const ERROR_BODY_MAX = 64 * 1024

/** The most bytes of a model's whole answer: pictures and sound come inside it. */
const WHOLE_BODY_MAX = 64 * 1024 * 1024

export type Body = string | Uint8Array<ArrayBuffer>

export interface JsonPost {
  readonly url: string
  /** The dialect's own, such as those of its key and its version. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | Promise<Body>
  readonly stream: boolean
  /** A response of any status but 200 as an error, by the dialect's words for them. */
  readonly failure: (status: number, bodyText: string, target: Target, retryAfterSeconds?: number) => GatewayError
}

/** Answers with a response of status 200. Throws a GatewayError for any other, and where none came. */
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
      // Compression would buy nothing on a stream, and a compressed answer can be a bomb.
      'accept-encoding': 'identity',
      ...headers,
    },
    body: sent,
    stream,
    // Some answer with a stream where a whole answer was wanted, which is kept until it ends.
    mostBytes: stream ? undefined : WHOLE_BODY_MAX,
    connection,
  })
  if (response.status === 200) return response
  throw failure(response.status, await response.beginning(ERROR_BODY_MAX), target, retryHint(response.headers, clock.now()))
}

/**
 * The upstream's answer decides, not what was asked for: some answer a stream request with a whole body, and some
 * streams come as plain text or as nothing in particular, so that only their beginning shows the form. `response` is to be read
 * in place of the one that was given.
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
  while (beginning.length < LONGEST_FIELD) {
    const piece = await rest.next()
    if (piece === null) break
    read.push(piece)
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
    response: { ...response, pieces: () => again, text: (maxBytes) => joinedText(again, maxBytes) },
  }
}

/** How a line of an event stream begins; a comment has no name. */
const EVENT_FIELD = /^(?:data|event|id|retry)?:/
const LONGEST_FIELD = 'retry:'.length

/** A whole answer, and what its JSON says. */
export interface WholeAnswer {
  readonly text: string
  readonly body: unknown
}

/** Behind a large one others get their turn. Throws `provider_unavailable` for what is not JSON, or has too many parts. */
export const readWholeAnswer = async (
  response: UpstreamResponse,
  { target }: Pick<Attempt, 'target'>,
  { turn }: Pick<ProviderContext, 'turn'>,
): Promise<WholeAnswer> => {
  const text = await response.text(WHOLE_BODY_MAX)
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
 * Hands over what a whole answer says, also where it ends in a failure, which is thrown behind it. `read` answers with steps where the
 * answer is large and has to be written anew. A large one goes on in parts,
 * with turns for others between them, but for one in the client's own dialect, whose text is passed on.
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
