/** Any upstream that speaks Responses. */
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/sse.ts'
import { retryAfterSeconds } from '../classify-failure.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { UpstreamResponse } from '../upstream.ts'
import { createResponsesDecoder, type ResponsesDecoder } from './decode.ts'
import { encodeResponsesRequest } from './encode.ts'
import { inBandFailure, responsesFailure } from './errors.ts'

const ERROR_BODY_MAX = 64 * 1024
const WHOLE_BODY_MAX = 64 * 1024 * 1024

export async function* openaiResponses(attempt: Attempt, context: ProviderContext): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call, target, connection } = attempt
  const response = await context.upstream.post({
    url: `${target.baseUrl}/responses`,
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      // Compression would buy nothing on a stream, and a compressed answer can be a bomb.
      'accept-encoding': 'identity',
      ...(target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` }),
    },
    body: encodeResponsesRequest(attempt),
    stream: call.stream,
    connection,
  })
  if (response.status !== 200) {
    const seconds = retryAfterSeconds(response.headers.get('retry-after'), context.clock.now())
    throw responsesFailure(response.status, await response.beginning(ERROR_BODY_MAX), target, seconds)
  }
  const native = call.dialect === 'responses'
  // What the upstream sends decides, not what was asked for: some answer a stream request with a whole body.
  if (/text\/event-stream/i.test(response.headers.get('content-type') ?? '')) yield* streamed(response, target, native && call.stream)
  else yield wholeFrames(await response.text(WHOLE_BODY_MAX), target, native && !call.stream)
}

/** `native`: the client speaks this dialect and asked for a stream, so that events can be passed on as they are. */
async function* streamed(response: UpstreamResponse, target: Target, native: boolean): AsyncGenerator<readonly Frame[], void, undefined> {
  const sse = new SseDecoder()
  const decoder = createResponsesDecoder()
  for await (const piece of response.pieces()) {
    const frames: Frame[] = []
    for (const event of withinLimits(() => sse.push(piece))) {
      // An end marker comes behind the terminal event, where nobody reads any more; before it, it ends nothing.
      if (event.data === '[DONE]') continue
      frames.push(...eventFrames(event, decoder, target, native))
      const newest = frames.at(-1)
      if (newest === undefined || !ends(newest)) continue
      // What came before a failure in the same piece still counts, so it travels behind that as an event.
      if (holds(newest, 'finish')) response.complete()
      yield frames
      return
    }
    if (frames.length > 0) yield frames
  }
  const last = withinLimits(() => sse.end())
  if (last !== null && last.data !== '[DONE]') {
    // A last event without its blank line counts only where it is the end of the answer (reliability.md 2.1, rule 6).
    const frames = eventFrames(last, decoder, target, native)
    if (frames.some((frame) => holds(frame, 'finish'))) {
      yield frames
      return
    }
  }
  throw unusable(target, 'ended the stream before the answer was complete.')
}

const withinLimits = <Read>(read: () => Read): Read => {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof SseLimitError)
      throw new GatewayError('provider_unavailable', `The provider's stream breaks a limit: ${thrown.message}`)
    throw thrown
  }
}

const eventFrames = ({ data, event: name }: SseEvent, decoder: ResponsesDecoder, target: Target, native: boolean): Frame[] => {
  let event: unknown
  try {
    event = JSON.parse(data)
  } catch (cause) {
    return [failed(unusable(target, 'sent a stream event that is not JSON.', cause))]
  }
  if (!isObject(event)) return [failed(unusable(target, 'sent a stream event that is not an object.'))]
  const type = event['type'] ?? name
  if (type === 'error' || type === 'response.error' || holdsError(event)) return [failed(inBandFailure(event, data, target))]
  const events = decoder.events(event['type'] === undefined ? { ...event, type } : event)
  const response = event['response']
  if (isObject(response) && isFailed(type, response)) return [{ events }, failed(failureOf(response, target))]
  if (!native) return events.length === 0 ? [] : [{ events }]
  // An event in several lines of data is passed on in one.
  const json = data.includes('\n') ? JSON.stringify(event) : data
  return [{ events, native: { dialect: 'responses', json } }]
}

const wholeFrames = (text: string, target: Target, native: boolean): Frame[] => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw unusable(target, 'answered with something that is not JSON.', cause)
  }
  if (!isObject(body) || (!Array.isArray(body['output']) && !holdsError(body))) throw unusable(target, 'answered without any output.')
  if (!Array.isArray(body['output'])) throw failureOf(body, target)
  const events = createResponsesDecoder().whole(body)
  if (holdsError(body) || !events.some(({ type }) => type === 'finish')) return [{ events }, failed(failureOf(body, target))]
  return [native ? { events, native: { dialect: 'responses', json: text } } : { events }]
}

/** An object with a code and a sentence, or, from smaller servers, the sentence alone. */
const holdsError = ({ error }: Readonly<Record<string, unknown>>): boolean => isObject(error) || (typeof error === 'string' && error !== '')

const FAILED: ReadonlySet<unknown> = new Set(['failed', 'cancelled'])

const isFailed = (type: unknown, { status }: Readonly<Record<string, unknown>>): boolean =>
  type === 'response.failed' || type === 'response.cancelled' || FAILED.has(status)

/** The rest of a response echoes the request, which is nobody's to read in an error. */
const failureOf = (response: Record<string, unknown>, target: Target): GatewayError => {
  const { error, error_type, status } = response
  const told = { error, error_type, ...(holdsError(response) ? {} : { status }) }
  return inBandFailure(told, JSON.stringify(told), target)
}

const failed = (error: GatewayError): Frame => ({ events: [{ type: 'error', error }] })

const ends = (frame: Frame): boolean => holds(frame, 'finish') || holds(frame, 'error')

const holds = (frame: Frame, type: ModelEvent['type']): boolean => frame.events.some((event) => event.type === type)

const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })
