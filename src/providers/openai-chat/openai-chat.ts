/** Any upstream that speaks Chat Completions. */
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/sse.ts'
import { retryAfterSeconds } from '../classify-failure.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { UpstreamResponse } from '../upstream.ts'
import { addressOf, keyHeader } from './address.ts'
import { createChatDecoder, type ChatDecoder } from './decode.ts'
import { encodeChatRequest } from './encode.ts'
import { chatFailure } from './errors.ts'
import { chatText } from './vendor-text.ts'

const ERROR_BODY_MAX = 64 * 1024
const WHOLE_BODY_MAX = 64 * 1024 * 1024

export async function* openaiChat(attempt: Attempt, context: ProviderContext): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call, target, connection } = attempt
  const response = await context.upstream.post({
    url: addressOf(target, '/chat/completions'),
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      // Compression would buy nothing on a stream, and a compressed answer can be a bomb.
      'accept-encoding': 'identity',
      ...keyHeader(target),
    },
    body: encodeChatRequest(attempt),
    stream: call.stream,
    connection,
  })
  if (response.status !== 200) {
    const seconds = retryAfterSeconds(response.headers.get('retry-after'), context.clock.now())
    throw chatFailure(response.status, await response.beginning(ERROR_BODY_MAX), target, seconds)
  }
  // What the upstream sends decides, not what was asked for: some answer a stream request with a whole body.
  const own = call.dialect === 'chat'
  if (/text\/event-stream/i.test(response.headers.get('content-type') ?? '')) yield* streamed(response, target, own && call.stream)
  else yield wholeFrames(await response.text(WHOLE_BODY_MAX), target, own && !call.stream)
}

async function* streamed(response: UpstreamResponse, target: Target, asked: boolean): AsyncGenerator<readonly Frame[], void, undefined> {
  const sse = new SseDecoder()
  const decoder = createChatDecoder(target.modelId)
  let finished = false
  for await (const piece of response.pieces()) {
    const frames: Frame[] = []
    let done = false
    for (const event of withinLimits(() => sse.push(piece))) {
      if (event.data === '[DONE]') {
        response.complete()
        done = true // whatever an upstream sends after its end marker is not part of the answer
        break
      }
      frames.push(...chunkFrames(event, decoder, target, asked))
      const newest = frames.at(-1)
      if (newest !== undefined && holds(newest, 'error')) {
        // What came before it in the same piece still counts, so a failure travels behind it as an event.
        yield frames
        return
      }
      finished ||= newest !== undefined && holds(newest, 'finish')
    }
    if (frames.length > 0) yield frames
    if (done) break
  }
  const last = withinLimits(() => sse.end())
  if (!finished && last !== null && last.data !== '[DONE]') {
    // A last event without its blank line counts only where it is the end of the answer (reliability.md 2.1, rule 6).
    const frames = chunkFrames(last, decoder, target, asked)
    finished = frames.some((frame) => holds(frame, 'finish'))
    if (finished) yield frames
  }
  if (!finished) throw unusable(target, 'ended the stream before the answer was complete.')
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

/** `asked`: a stream was asked for in this dialect, so the chunk can be passed on as it is. */
const chunkFrames = (event: SseEvent, decoder: ChatDecoder, target: Target, asked: boolean): Frame[] => {
  let chunk: unknown
  try {
    chunk = JSON.parse(event.data)
  } catch (cause) {
    return [failed(unusable(target, 'sent a stream event that is not JSON.', cause))]
  }
  if (!isObject(chunk)) return [failed(unusable(target, 'sent a stream event that is not an object.'))]
  if (holdsError(chunk) || event.event === 'error') return [failed(chatFailure(200, event.data, target))]
  const events = decoder.events(chunk)
  const failure = choiceFailure(chunk, target)
  if (failure !== null) return [{ events }, failed(failure)]
  const json = asked ? chatText(chunk, event.data) : null
  return [json === null ? { events } : { events, native: { dialect: 'chat', json } }]
}

/** An object with a code and a sentence, or, from smaller servers, the sentence alone. */
const holdsError = ({ error }: Readonly<Record<string, unknown>>): boolean => isObject(error) || (typeof error === 'string' && error !== '')

/** An upstream that is itself a router tells a failure at the end of its choice, beside what was said before it (service.md, "Where error_type appears"). */
const choiceFailure = (body: Readonly<Record<string, unknown>>, target: Target): GatewayError | null => {
  const choices: unknown[] = Array.isArray(body['choices']) ? body['choices'] : []
  for (const choice of choices) {
    if (!isObject(choice)) continue
    if (choice['finish_reason'] === 'error') return chatFailure(200, JSON.stringify({ error: choice['error'] ?? {} }), target)
    // api-docs.deepseek.com, "Create chat completion": its servers broke the answer off.
    if (choice['finish_reason'] === BROKEN_OFF)
      return chatFailure(200, JSON.stringify({ error: { code: 503, message: 'The answer was broken off for want of resources.' } }), target)
  }
  return null
}

const BROKEN_OFF = 'insufficient_system_resource'

const failed = (error: GatewayError): Frame => ({ events: [{ type: 'error', error }] })

const holds = (frame: Frame, type: ModelEvent['type']): boolean => frame.events.some((event) => event.type === type)

const unusable = (target: Target, did: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', `${target.providerName} ${did}`, { cause, metadata: { provider_name: target.providerName } })

const wholeFrames = (text: string, target: Target, asked: boolean): Frame[] => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw unusable(target, 'answered with something that is not JSON.', cause)
  }
  if (isObject(body) && holdsError(body)) throw chatFailure(200, text, target)
  if (!isObject(body) || !Array.isArray(body['choices']) || body['choices'].length === 0)
    throw unusable(target, 'answered without any choices.')
  const decoded = createChatDecoder(target.modelId).events(body)
  const failure = choiceFailure(body, target)
  if (failure !== null) return [{ events: decoded }, failed(failure)]
  const ended = decoded.some(({ type }) => type === 'finish')
  // Some vendors leave the reason empty, xAI where there are calls.
  const called = decoded.some(({ type }) => type === 'tool-call')
  const events: readonly ModelEvent[] = ended
    ? decoded
    : [...decoded, { type: 'finish', reason: called ? 'tool_calls' : 'stop', native: null }]
  const json = asked ? chatText(body, text) : null
  return [json === null ? { events } : { events, native: { dialect: 'chat', json } }]
}
