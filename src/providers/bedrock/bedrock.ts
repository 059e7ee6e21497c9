/** The adapter for Amazon Bedrock by its Converse API: JSON in, JSON or a binary event stream out, for every model behind it. */
import type { Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { parseExactInSteps } from '../../lib/json/json-steps.ts'
import { isObject } from '../../lib/json/json.ts'
import { atOnce, inTurns, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { beginningOf, leftOf, takeInTurns, turnsOf } from '../transport/answer-turns.ts'
import { readWholeAnswer, takeWhole, type WholeAnswer } from '../transport/json-post.ts'
import { withLoadedMedia } from '../media/load-media.ts'
import { withUnescapedMedia } from '../media/unescaped-media.ts'
import type { Attempt, ProviderAdapter, ProviderContext, Target } from '../provider.ts'
import { retryHint } from '../failures/retry-hint.ts'
import { isSuccess, type UpstreamResponse } from '../transport/upstream-response.ts'
import { createConverseDecoder, isMalformed, type ConverseDecoder } from './decode.ts'
import { encoded } from '../transport/encoded.ts'
import { encodeConverseRequest } from './encode.ts'
import { answersWhole } from './answers-whole.ts'
import { converseFailure } from './errors.ts'
import { EventStreamError, openEventStream, type StreamMessage } from './event-stream.ts'
import { authorized } from './sign.ts'
import { unusable } from '../failures/classify-failure.ts'

const ERROR_BODY_MAX = 64 * 1024

/** After the end of the message come its token counts, and then nothing. */
const MESSAGES_AFTER_END_MAX = 100

const EVENT_STREAM = 'application/vnd.amazon.eventstream'

export const bedrock: ProviderAdapter = async (attempt, context, take) => {
  const { call, target, connection } = attempt
  const stream = call.stream && !answersWhole(attempt)
  const loaded = await withLoadedBytes(attempt, context)
  const url = `${modelUrl(target)}/${stream ? 'converse-stream' : 'converse'}`
  const encoding = encoded(encodeConverseRequest(loaded), attempt, context)
  const body = encoding instanceof Promise ? await encoding : encoding
  const headers = {
    'content-type': 'application/json',
    accept: stream ? EVENT_STREAM : 'application/json',
    // Compression would gain nothing on a stream, and a compressed answer can be a bomb.
    'accept-encoding': 'identity',
  }
  const response = await context.upstream.post({
    url,
    headers: await authorized({ url, headers, body }, target.apiKey, context.clock.now()),
    body,
    stream,
    connection,
  })
  if (!isSuccess(response.status)) {
    const failure = {
      status: response.status,
      name: response.headers.get('x-amzn-errortype'),
      body: await response.beginning(ERROR_BODY_MAX),
      retryAfterSeconds: retryHint(response.headers, context.clock.now()),
    }
    throw converseFailure(failure, target)
  }
  const decoder = createConverseDecoder(target, response.headers.get('x-amzn-requestid'))
  // The upstream's answer decides, not the request.
  if ((response.headers.get('content-type') ?? '').toLowerCase().includes(EVENT_STREAM))
    await streamed(response, decoder, attempt, context, take)
  else {
    const whole = await readWholeAnswer(response, attempt, context)
    await takeWhole(whole, context, take, (frames) => void frames.push(wholeFrame(whole, decoder, target)))
  }
}

export const modelUrl = ({ baseUrl, upstreamModel }: Target, model = upstreamModel): string =>
  `${baseUrl.replace(/\/+$/, '')}/model/${encodeURIComponent(model)}`

/** Converse takes only bytes, and no web addresses. */
export const withLoadedBytes = async (attempt: Attempt, context: ProviderContext): Promise<Attempt> =>
  await withLoadedMedia(await withUnescapedMedia(attempt, context), context.loadMedia, () => true)

const streamed = async (
  response: UpstreamResponse,
  decoder: ConverseDecoder,
  attempt: Pick<Attempt, 'target' | 'connection'>,
  context: Pick<ProviderContext, 'turn'>,
  take: TakeFrames,
): Promise<void> => {
  const { target } = attempt
  const turn = turnsOf(context, attempt)
  const stream = await openEventStream()
  const pieces = response.pieces()
  let left: Uint8Array | null = null
  let sinceEnd: number | null = null
  try {
    for (let over = false; !over;) {
      if (left !== null) await turn()
      const next: Uint8Array | null = left ?? (await pieces.next())
      if (next === null) break
      left = leftOf(next)
      const piece = beginningOf(next, left)
      const frames: Frame[] = []
      let failure: GatewayError | null = null
      try {
        for (const message of stream.read(piece)) {
          const isLarge = sinceEnd === null && message.text.length > LARGE_BYTES
          // A large message is passed on after what came before it.
          if (isLarge && frames.length > 0) await take(frames.splice(0))
          const reading = messageFrame(message, decoder, target)
          const frame = isLarge ? await inTurns(reading, turn) : atOnce(reading)
          if (isLarge) await takeInTurns([frame], turn, take)
          else frames.push(frame)
          const ended = frame.events.some(({ type }) => type === 'finish')
          if (ended || sinceEnd !== null) sinceEnd = (sinceEnd ?? 0) + 1
          over = sinceEnd !== null && (message.name === 'metadata' || sinceEnd > MESSAGES_AFTER_END_MAX)
          if (over) break
        }
      } catch (thrown) {
        // Events before a failure in the same piece still count, and a complete answer stays complete (docs/contract/streams.md#ends).
        if (sinceEnd === null) failure = asFailure(thrown, target)
        else over = true
      }
      // Only the usage may still come, and a broken connection changes nothing in the answer.
      if (over || sinceEnd !== null) response.complete()
      const behind = frames.length > 0 ? take(frames) : undefined
      if (behind !== undefined) await behind
      if (failure !== null) throw failure
    }
  } finally {
    pieces.close()
  }
  if (sinceEnd === null) throw unusable(target, 'ended the stream before the answer was complete.')
}

const asFailure = (thrown: unknown, target: Target): GatewayError => {
  if (thrown instanceof EventStreamError) return unusable(target, `sent a stream that cannot be read: ${thrown.message}`, thrown)
  if (thrown instanceof GatewayError) return thrown
  throw thrown
}

function* messageFrame({ kind, name, text }: StreamMessage, decoder: ConverseDecoder, target: Target): Steps<Frame> {
  if (kind !== 'event') throw converseFailure({ status: null, name, body: text }, target)
  const payload = yield* parsedEvent(text, target)
  if (name === 'messageStop') refuseMalformed(payload['stopReason'], target)
  return { events: decoder.event(name, payload) }
}

const wholeFrame = ({ text, body }: WholeAnswer, decoder: ConverseDecoder, target: Target): Frame => {
  if (!isObject(body)) throw unusable(target, 'answered with something that is not a JSON object.')
  const { output } = body
  if (!isObject(output) || !isObject(output['message'])) {
    if (typeof body['__type'] === 'string') throw converseFailure({ status: null, name: null, body: text }, target)
    throw unusable(target, 'answered without a message.')
  }
  refuseMalformed(body['stopReason'], target)
  const events: readonly ModelEvent[] = decoder.whole(body)
  return { events }
}

const refuseMalformed = (stopReason: unknown, target: Target): void => {
  if (isMalformed(stopReason)) throw unusable(target, `could not read what the model said (${stopReason}).`)
}

function* parsedEvent(text: string, target: Target): Steps<Readonly<Record<string, unknown>>> {
  const fault = 'sent a stream event that is not a JSON object.'
  let value: unknown
  try {
    value = yield* parseExactInSteps(text)
  } catch (cause) {
    throw unusable(target, fault, cause)
  }
  if (!isObject(value)) throw unusable(target, fault)
  return value
}
