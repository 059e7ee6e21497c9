/** Any upstream that speaks Anthropic's Messages. */
import type { Call } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { isObject } from '../../lib/json.ts'
import { unusable } from '../classify-failure.ts'
import { isEventStream, parseWhole, postJson, WHOLE_BODY_MAX } from '../json-post.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import { type EventReader, failedFrame, streamFrames } from '../stream-frames.ts'
import { createMessagesDecoder, KNOWN_EVENTS } from './decode.ts'
import { anthropicWire } from './encode.ts'
import { anthropicFailure } from './errors.ts'

const API_VERSION = '2023-06-01'

export async function* anthropic(attempt: Attempt, context: ProviderContext): AsyncGenerator<readonly Frame[], void, undefined> {
  const { call, target } = attempt
  const response = await postJson(
    {
      url: messagesUrl(target.baseUrl),
      headers: ownHeaders(attempt),
      body: anthropicWire(attempt),
      stream: call.stream,
      failure: anthropicFailure,
    },
    attempt,
    context,
  )
  const streams = isEventStream(response)
  const native = call.dialect === 'messages' && streams === call.stream
  if (streams) yield* streamFrames(response, eventReader(target, native), target)
  else yield [wholeFrame(await response.text(WHOLE_BODY_MAX), target, native)]
}

/** Operators write the address with the version of the API or without it. */
export const messagesUrl = (baseUrl: string): string => {
  const base = baseUrl.replace(/\/+$/, '')
  return base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`
}

/** The key, and which version of the API the request is written for. */
export const ownHeaders = ({ call, target }: Attempt): Record<string, string> => ({
  ...versionHeaders(call),
  ...(target.apiKey === null ? {} : { 'x-api-key': target.apiKey }),
})

/** A client of this dialect chooses the version and the betas that its request is written for. */
const versionHeaders = ({ dialect, passHeaders }: Call): Record<string, string> => {
  const passed: Readonly<Record<string, string>> = dialect === 'messages' ? passHeaders : {}
  const betas = passed['anthropic-beta']
  return { 'anthropic-version': passed['anthropic-version'] ?? API_VERSION, ...(betas === undefined ? {} : { 'anthropic-beta': betas }) }
}

const eventReader = (target: Target, native: boolean): EventReader => {
  const decoder = createMessagesDecoder(target.modelId)
  let stopped = false
  return {
    stopped: () => stopped,
    frames(event, { event: name, data }) {
      if (!isObject(event)) return [failedFrame(unusable(target, 'sent a stream event that is not an object.'))]
      if (event['type'] === 'error' || name === 'error' || isObject(event['error']))
        return [failedFrame(anthropicFailure(200, data, target))]
      if (!KNOWN_EVENTS.has(event['type'])) return []
      stopped = event['type'] === 'message_stop'
      return [{ events: decoder.event(event), ...(native ? { native: { dialect: 'messages', json: data } as const } : {}) }]
    },
  }
}

const wholeFrame = (text: string, target: Target, native: boolean): Frame => {
  const body = parseWhole(text, target)
  if (isObject(body) && (body['type'] === 'error' || isObject(body['error']))) throw anthropicFailure(200, text, target)
  if (!isObject(body) || !Array.isArray(body['content'])) throw unusable(target, 'answered without any content.')
  const events: readonly ModelEvent[] = createMessagesDecoder(target.modelId).message(body)
  return { events, ...(native ? { native: { dialect: 'messages', json: text } as const } : {}) }
}
