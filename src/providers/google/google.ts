/** Google's generateContent API. */
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { isObject } from '../../lib/json.ts'
import { unusable } from '../classify-failure.ts'
import { answerForm, parseWhole, postJson, WHOLE_BODY_MAX } from '../json-post.ts'
import { withLoadedMedia } from '../load-media.ts'
import type { ProviderAdapter, Target } from '../provider.ts'
import { type EventReader, failedFrame, holds, streamFrames } from '../stream-frames.ts'
import { createGoogleDecoder, firstCandidate, type Ending, type GoogleDecoder } from './decode.ts'
import { encodeGoogleRequest } from './encode.ts'
import { geminiModel } from './gemini-model.ts'
import { isReadByGoogle } from './media.ts'
import { blockedPrompt, brokenEnding, errorIn, googleFailure } from './errors.ts'

/** The use may come behind the end of the answer, so the bytes are read to their end; for this long at most. */
const AFTER_ENDING_MS = 5000

export const google: ProviderAdapter = async (attempt, context, take) => {
  const { call, target } = attempt
  const model = geminiModel(target.upstreamModel)
  const loaded = await withLoadedMedia(attempt, context.loadMedia, ({ url }) => !isReadByGoogle(url, model))
  const posted = await postJson(
    {
      url: addressOf(target, call.stream),
      headers: target.apiKey === null ? {} : { 'x-goog-api-key': target.apiKey },
      body: encodeGoogleRequest(loaded),
      stream: call.stream,
      failure: googleFailure,
    },
    attempt,
    context,
  )
  const { streams, response } = await answerForm(posted, call.stream)
  // A proxy that loses the query answers with a list of chunks in place of events.
  if (streams) await streamFrames(response, chunkReader(target), target, take)
  else await take(wholeFrames(await response.text(WHOLE_BODY_MAX), target))
}

const addressOf = ({ baseUrl, upstreamModel, unlisted }: Target, stream: boolean): string => {
  const base = baseUrl.replace(/\/+$/, '')
  const versioned = /\/v1(?:alpha|beta)?$/.test(base) ? base : `${base}/v1beta`
  // A tuned model that the operator lists names its collection itself. A client's name is that of a model.
  const [name, ofOperator] = [upstreamModel.replace(/^models\//, ''), unlisted !== true && upstreamModel.includes('/')]
  const model = ofOperator ? upstreamModel.split('/').map(encodeURIComponent).join('/') : `models/${encodeURIComponent(name)}`
  return `${versioned}/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

const chunkReader = (target: Target): EventReader => {
  const decoder = createGoogleDecoder(target.modelId)
  return {
    patienceMs: AFTER_ENDING_MS,
    frames: (chunk) => framesOf(chunk, decoder, target),
    ending() {
      const ending = decoder.ending()
      return ending === null ? null : endingFrame(ending, target)
    },
  }
}

/** The frames of one chunk; a failure in it is the last one. */
const framesOf = (chunk: unknown, decoder: GoogleDecoder, target: Target): Frame[] => {
  if (Array.isArray(chunk)) return (chunk as unknown[]).flatMap((entry) => framesOf(entry, decoder, target))
  if (!isObject(chunk)) return [failedFrame(unusable(target, 'sent an answer that is not an object.'))]
  if (errorIn(chunk) !== null) return [failedFrame(googleFailure(200, JSON.stringify(chunk), target))]
  const events = decoder.events(chunk)
  const blocked = blockedPrompt(chunk, target)
  const frames: Frame[] = events.length === 0 ? [] : [{ events }]
  return blocked === null ? frames : [...frames, failedFrame(blocked)]
}

const endingFrame = (ending: Ending, target: Target): Frame => {
  const { reason, native } = ending
  return reason === null ? failedFrame(brokenEnding(ending, target)) : { events: [{ type: 'finish', reason, native }] }
}

/** A whole answer, or a list of the chunks that make it up: one frame, and behind it the failure where there is one. */
const wholeFrames = (text: string, target: Target): Frame[] => {
  const body = parseWhole(text, target)
  const decoder = createGoogleDecoder(target.modelId)
  const frames = framesOf(body, decoder, target)
  const failure = frames.find((frame) => holds(frame, 'error'))
  const events: ModelEvent[] = frames.filter((frame) => !holds(frame, 'error')).flatMap((frame) => frame.events)
  if (failure !== undefined) return [{ events }, failure]
  const ending = decoder.ending()
  // A whole body is complete however little it says of its end; a list of chunks may have been cut.
  if (ending === null && isObject(body) && firstCandidate(body) !== undefined) {
    const reason = events.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop'
    return [{ events: [...events, { type: 'finish', reason, native: null }] }]
  }
  if (ending === null) throw unusable(target, 'answered without any candidates.')
  const end = endingFrame(ending, target)
  return holds(end, 'error') ? [{ events }, end] : [{ events: [...events, ...end.events] }]
}
