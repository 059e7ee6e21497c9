/** Google's generateContent API. */
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/sse.ts'
import { retryAfterSeconds } from '../classify-failure.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { UpstreamResponse } from '../upstream.ts'
import { createGoogleDecoder, firstCandidate, type Ending, type GoogleDecoder } from './decode.ts'
import { encodeGoogleRequest } from './encode.ts'
import { blockedPrompt, brokenEnding, errorIn, googleFailure } from './errors.ts'

const ERROR_BODY_MAX = 64 * 1024
const WHOLE_BODY_MAX = 64 * 1024 * 1024

/** The use may come behind the end of the answer, so the bytes are read to their end; for this long at most. */
const AFTER_ENDING_MS = 5000

export async function* google(attempt: Attempt, context: ProviderContext): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call, target, connection } = attempt
  const response = await context.upstream.post({
    url: addressOf(target, call.stream),
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      // Compression would buy nothing on a stream, and a compressed answer can be a bomb.
      'accept-encoding': 'identity',
      ...(target.apiKey === null ? {} : { 'x-goog-api-key': target.apiKey }),
    },
    body: encodeGoogleRequest(attempt),
    stream: call.stream,
    connection,
  })
  if (response.status !== 200) {
    const seconds = retryAfterSeconds(response.headers.get('retry-after'), context.clock.now())
    throw googleFailure(response.status, await response.beginning(ERROR_BODY_MAX), target, seconds)
  }
  // What the upstream sends decides: a proxy that loses the query answers with a list of chunks in place of events.
  if (/text\/event-stream/i.test(response.headers.get('content-type') ?? '')) yield* streamed(response, attempt, context)
  else yield wholeFrames(await response.text(WHOLE_BODY_MAX), target)
}

const addressOf = ({ baseUrl, upstreamModel }: Target, stream: boolean): string => {
  const base = baseUrl.replace(/\/+$/, '')
  const versioned = /\/v1(?:alpha|beta)?$/.test(base) ? base : `${base}/v1beta`
  // A tuned model names its collection itself.
  const model = upstreamModel.includes('/') ? upstreamModel : `models/${upstreamModel}`
  return `${versioned}/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

async function* streamed(
  response: UpstreamResponse,
  { target, connection }: Attempt,
  { clock }: ProviderContext,
): AsyncGenerator<readonly Frame[], void, undefined> {
  const sse = new SseDecoder()
  const decoder = createGoogleDecoder(target.modelId)
  let expired = false
  let stopWaiting: (() => void) | null = null
  const expire = (): void => {
    expired = true
    connection.abort()
  }
  try {
    for await (const piece of response.pieces()) {
      const frames: Frame[] = []
      for (const event of withinLimits(() => sse.push(piece))) {
        frames.push(...chunkFrames(event, decoder, target))
        const newest = frames.at(-1)
        if (newest !== undefined && failedFrame(newest)) {
          // What came before it in the same piece still counts, so a failure travels behind it as an event.
          yield frames
          return
        }
      }
      if (frames.length > 0) yield frames
      if (stopWaiting === null && decoder.ending() !== null) {
        response.complete()
        stopWaiting = clock.after(AFTER_ENDING_MS, expire)
      }
    }
  } catch (thrown) {
    // A connection that breaks behind the end of the answer took nothing from it, unless it was we who ended it.
    if (!(thrown instanceof GatewayError) || decoder.ending() === null || (connection.signal.aborted && !expired)) throw thrown
  } finally {
    stopWaiting?.()
  }
  const last = withinLimits(() => sse.end())
  if (last !== null && decoder.ending() === null) {
    // A last event without its blank line counts only where it is the end of the answer (reliability.md 2.1, rule 6).
    const frames = chunkFrames(last, decoder, target)
    if (decoder.ending() !== null) yield frames
  }
  const ending = decoder.ending()
  if (ending === null) throw unusable(target, 'ended the stream before the answer was complete.')
  yield [endingFrame(ending, target)]
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

const chunkFrames = (event: SseEvent, decoder: GoogleDecoder, target: Target): Frame[] => {
  if (event.data === '[DONE]') return [] // not of this dialect; proxies add it
  let chunk: unknown
  try {
    chunk = JSON.parse(event.data)
  } catch (cause) {
    return [failed(unusable(target, 'sent a stream event that is not JSON.', cause))]
  }
  return framesOf(chunk, decoder, target)
}

/** The frames of one chunk; a failure in it is the last one. */
const framesOf = (chunk: unknown, decoder: GoogleDecoder, target: Target): Frame[] => {
  if (Array.isArray(chunk)) return (chunk as unknown[]).flatMap((entry) => framesOf(entry, decoder, target))
  if (!isObject(chunk)) return [failed(unusable(target, 'sent an answer that is not an object.'))]
  if (errorIn(chunk) !== null) return [failed(googleFailure(200, JSON.stringify(chunk), target))]
  const events = decoder.events(chunk)
  const blocked = blockedPrompt(chunk, target)
  const frames: Frame[] = events.length === 0 ? [] : [{ events }]
  return blocked === null ? frames : [...frames, failed(blocked)]
}

const endingFrame = (ending: Ending, target: Target): Frame => {
  const { reason, native } = ending
  return reason === null ? failed(brokenEnding(ending, target)) : { events: [{ type: 'finish', reason, native }] }
}

const failed = (error: GatewayError): Frame => ({ events: [{ type: 'error', error }] })

const failedFrame = ({ events }: Frame): boolean => events.some(({ type }) => type === 'error')

const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })

/** A whole answer, or a list of the chunks that make it up: one frame, and behind it the failure where there is one. */
const wholeFrames = (text: string, target: Target): Frame[] => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw unusable(target, 'answered with something that is not JSON.', cause)
  }
  const decoder = createGoogleDecoder(target.modelId)
  const frames = framesOf(body, decoder, target)
  const failure = frames.find(failedFrame)
  const events: ModelEvent[] = frames.filter((frame) => !failedFrame(frame)).flatMap((frame) => frame.events)
  if (failure !== undefined) return [{ events }, failure]
  const ending = decoder.ending()
  // A whole body is complete however little it says of its end; a list of chunks may have been cut.
  if (ending === null && isObject(body) && firstCandidate(body) !== undefined) {
    const reason = events.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop'
    return [{ events: [...events, { type: 'finish', reason, native: null }] }]
  }
  if (ending === null) throw unusable(target, 'answered without any candidates.')
  const end = endingFrame(ending, target)
  return failedFrame(end) ? [{ events }, end] : [{ events: [...events, ...end.events] }]
}
