/** Any upstream that speaks Anthropic's Messages. */
import type { Call } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/sse.ts'
import { retryAfterSeconds } from '../classify-failure.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { UpstreamResponse } from '../upstream.ts'
import { createMessagesDecoder, KNOWN_EVENTS, type MessagesDecoder } from './decode.ts'
import { encodeAnthropicRequest } from './encode.ts'
import { anthropicFailure } from './errors.ts'

const ERROR_BODY_MAX = 64 * 1024
const WHOLE_BODY_MAX = 64 * 1024 * 1024
const API_VERSION = '2023-06-01'

export async function* anthropic(attempt: Attempt, context: ProviderContext): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call, target, connection } = attempt
  const response = await context.upstream.post({
    url: messagesUrl(target.baseUrl),
    headers: requestHeaders(attempt, call.stream ? 'text/event-stream' : 'application/json'),
    body: encodeAnthropicRequest(attempt),
    stream: call.stream,
    connection,
  })
  if (response.status !== 200) {
    const seconds = retryAfterSeconds(response.headers.get('retry-after'), context.clock.now())
    throw anthropicFailure(response.status, await response.beginning(ERROR_BODY_MAX), target, seconds)
  }
  // What the upstream sends decides, not what was asked for.
  const streams = /text\/event-stream/i.test(response.headers.get('content-type') ?? '')
  const native = call.dialect === 'messages' && streams === call.stream
  if (streams) yield* streamed(response, target, native)
  else yield [wholeFrame(await response.text(WHOLE_BODY_MAX), target, native)]
}

/** Operators write the address with the version of the API or without it. */
export const messagesUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, '')
  return base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`
}

export const requestHeaders = ({ call, target }: Attempt, accept: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept,
  // Compression would buy nothing on a stream, and a compressed answer can be a bomb.
  'accept-encoding': 'identity',
  ...versionHeaders(call),
  ...(target.apiKey === null ? {} : { 'x-api-key': target.apiKey }),
})

/** A client of this dialect chooses the version and the betas that its request is written for. */
const versionHeaders = ({ dialect, passHeaders }: Call): Record<string, string> => {
  const passed: Readonly<Record<string, string>> = dialect === 'messages' ? passHeaders : {}
  const betas = passed['anthropic-beta']
  return { 'anthropic-version': passed['anthropic-version'] ?? API_VERSION, ...(betas === undefined ? {} : { 'anthropic-beta': betas }) }
}

async function* streamed(response: UpstreamResponse, target: Target, native: boolean): AsyncGenerator<readonly Frame[], void, undefined> {
  const sse = new SseDecoder()
  const read = eventReader(createMessagesDecoder(target.modelId), target, native)
  for await (const piece of response.pieces()) {
    const frames: Frame[] = []
    for (const event of withinLimits(() => sse.push(piece))) {
      frames.push(...read.frames(event))
      if (read.failed || read.stopped) break // whatever an upstream sends after its end is not part of the answer
    }
    if (read.stopped) response.complete()
    // What came before a failure in the same piece still counts, so a failure travels behind it as an event.
    if (frames.length > 0) yield frames
    if (read.failed || read.stopped) return
  }
  const last = withinLimits(() => sse.end())
  if (!read.finished && last !== null) {
    // A last event without its blank line counts only where it is the end of the answer (reliability.md 2.1, rule 6).
    const frames = read.frames(last)
    if (read.finished) yield frames
  }
  if (!read.finished) throw unusable(target, 'ended the stream before the answer was complete.')
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

interface EventReader {
  frames(event: SseEvent): Frame[]
  /** The model has ended. */
  readonly finished: boolean
  /** So has the stream. */
  readonly stopped: boolean
  readonly failed: boolean
}

const eventReader = (decoder: MessagesDecoder, target: Target, native: boolean): EventReader => {
  const state = { finished: false, stopped: false, failed: false }
  const fail = (error: GatewayError): Frame[] => {
    state.failed = true
    return [{ events: [{ type: 'error', error }] }]
  }
  return {
    get finished() {
      return state.finished
    },
    get stopped() {
      return state.stopped
    },
    get failed() {
      return state.failed
    },
    frames({ event: name, data }) {
      // Routers of this dialect end with the marker of another.
      if (data === '[DONE]') return []
      let event: unknown
      try {
        event = JSON.parse(data)
      } catch (cause) {
        return fail(unusable(target, 'sent a stream event that is not JSON.', cause))
      }
      if (!isObject(event)) return fail(unusable(target, 'sent a stream event that is not an object.'))
      if (event['type'] === 'error' || name === 'error' || isObject(event['error'])) return fail(anthropicFailure(200, data, target))
      if (!KNOWN_EVENTS.has(event['type'])) return []
      const events = decoder.event(event)
      state.finished ||= events.some(({ type }) => type === 'finish')
      state.stopped = event['type'] === 'message_stop'
      return [{ events, ...(native ? { native: { dialect: 'messages', json: data } as const } : {}) }]
    },
  }
}

const wholeFrame = (text: string, target: Target, native: boolean): Frame => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw unusable(target, 'answered with something that is not JSON.', cause)
  }
  if (isObject(body) && (body['type'] === 'error' || isObject(body['error']))) throw anthropicFailure(200, text, target)
  if (!isObject(body) || !Array.isArray(body['content'])) throw unusable(target, 'answered without any content.')
  const events: readonly ModelEvent[] = createMessagesDecoder(target.modelId).message(body)
  return { events, ...(native ? { native: { dialect: 'messages', json: text } as const } : {}) }
}

const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })
