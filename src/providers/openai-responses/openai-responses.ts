/** The adapter for all upstreams that speak Responses. */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import type { SseEvent } from '../../lib/network/sse.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { callArguments } from '../tools/call-arguments.ts'
import { unusable } from '../failures/classify-failure.ts'
import { jsonAdapter } from '../transport/json-adapter.ts'
import type { WholeAnswer } from '../transport/json-post.ts'
import { holdsError } from '../failures/failure-words.ts'
import { encoded } from '../transport/encoded.ts'
import type { Target } from '../provider.ts'
import type { EventReader } from '../transport/event-reader.ts'
import { createResponsesDecoder, type ResponsesDecoder } from './decode.ts'
import { responsesWire } from './encode.ts'
import { inBandFailure, responsesFailure } from './errors.ts'
import { createSequence, GOES_ON } from './whole-sequence.ts'

export const openaiResponses = jsonAdapter((attempt, context) => {
  const { target } = attempt
  return {
    dialect: 'responses',
    url: responsesUrl(target),
    headers: keyHeader(target),
    body: encoded(responsesWire(attempt), attempt, context),
    failure: responsesFailure,
    events: (native) => eventReader(target, native),
    whole: (answer, native, frames) => readWhole(answer, target, native, frames),
  }
})

export const responsesUrl = ({ baseUrl }: Target): string => `${baseUrl}/responses`

export const keyHeader = ({ apiKey }: Target): Readonly<Record<string, string>> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }

/** `native`: the client speaks this dialect and asked for a stream, so events can be passed on as they are. */
const eventReader = (target: Target, native: boolean): EventReader => {
  const reading: Reading = { decoder: decoderFor(target), complete: createSequence(), target, native }
  return {
    read: (event, sse, frames) => atOnce(readEvent(event, sse, reading, frames)),
    readInSteps: (event, sse, frames) => readEvent(event, sse, reading, frames),
    // The terminal event holds the usage; at most an end marker follows it.
    stopped: (finished) => finished,
  }
}

const decoderFor = ({ provider }: Target): ResponsesDecoder => createResponsesDecoder({ runsCustomTools: provider === 'xai' })

interface Reading {
  readonly decoder: ResponsesDecoder
  readonly complete: ReturnType<typeof createSequence>
  readonly target: Target
  readonly native: boolean
}

function* readEvent(
  body: unknown,
  { data, event: name }: SseEvent,
  { decoder, complete, target, native }: Reading,
  frames: Frame[],
): Steps<void> {
  if (!isObject(body)) throw unusable(target, 'sent a stream event that is not an object.')
  const event = body['type'] === undefined && name !== null ? { ...body, type: name } : body
  const { type, response } = event
  if (type === 'error' || type === 'response.error' || holdsError(event)) throw inBandFailure(event, data, target)
  if (isObject(response) && isFailed(type, response)) {
    frames.push({ events: complete(event, data.length).flatMap((each) => decoder.events(each)) })
    throw failureOf(response, target)
  }
  const isMended = mendArguments(event)
  for (const each of complete(event, data.length)) {
    const events = decoder.events(each)
    if (native) {
      // An event whose data are in several lines is passed on in one line.
      const json = each !== body || isMended || data.includes('\n') ? JSON.stringify(each) : data
      frames.push({ events, native: { dialect: 'responses', json } })
      if (json.length > LARGE_BYTES) yield
    } else if (events.length > 0) frames.push({ events })
  }
}

const readWhole = ({ text, body }: WholeAnswer, target: Target, native: boolean, frames: Frame[]): void => {
  if (!isObject(body) || (!Array.isArray(body['output']) && !holdsError(body))) throw unusable(target, 'answered without any output.')
  if (!Array.isArray(body['output'])) throw failureOf(body, target)
  const events = decoderFor(target).whole(body)
  if (holdsError(body) || !events.some(({ type }) => type === 'finish')) {
    frames.push({ events })
    throw failureOf(body, target)
  }
  const json = native && mendArguments(body) ? JSON.stringify(body) : text
  frames.push(native ? { events, native: { dialect: 'responses', json } } : { events })
}

/**
 * Arguments are text in this dialect, but some servers send an object. True if any were changed: in the event, its item, or the items of
 * its answer. Those of a search for tools are an object at OpenAI too.
 */
const mendArguments = (body: Record<string, unknown>): boolean => {
  const { item, response } = body
  const output = listOf(body['output'])
  const holders = [body, item, ...output]
    .filter((holder) => isObject(holder))
    .filter((holder) => isObject(holder['arguments']) && holder['type'] !== 'tool_search_call')
  for (const holder of holders) holder['arguments'] = callArguments(holder['arguments'])
  return (isObject(response) && mendArguments(response)) || holders.length > 0
}

const FAILED: ReadonlySet<unknown> = new Set(['failed', 'cancelled'])

const isFailed = (type: unknown, { status }: Readonly<Record<string, unknown>>): boolean =>
  type === 'response.failed' || type === 'response.cancelled' || FAILED.has(status)

/** The rest of a response repeats the request, which must not appear in an error. */
const failureOf = (response: Record<string, unknown>, target: Target): GatewayError => {
  const { error, error_type, status } = response
  if (!holdsError(response) && GOES_ON.has(status)) return unusable(target, `answered before its answer was complete (${String(status)}).`)
  const reported = { error, error_type, ...(holdsError(response) ? {} : { status }) }
  return inBandFailure(reported, JSON.stringify(reported), target)
}
