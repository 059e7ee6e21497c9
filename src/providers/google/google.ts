/** The adapter for Google's generateContent API. */
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { isObject } from '../../lib/json/json.ts'
import { unusable } from '../failures/classify-failure.ts'
import { jsonAdapter } from '../transport/json-adapter.ts'
import type { Body, WholeAnswer } from '../transport/json-post.ts'
import { withLoadedMedia } from '../media/load-media.ts'
import { withUnescapedMedia } from '../media/unescaped-media.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { EventReader } from '../transport/event-reader.ts'
import { createGoogleDecoder, firstCandidate, type Ending, type GoogleDecoder } from './decode.ts'
import { encodeGoogleRequest } from './encode.ts'
import { geminiModel } from './gemini-model.ts'
import { isReadByGoogle, malformedData } from './encode-media.ts'
import { blockedPrompt, brokenEnding, errorIn, googleFailure } from './errors.ts'

/** The usage may come after the end of the answer, so the bytes are read to their end, but for no longer than this. */
const AFTER_ENDING_MS = 5000

export const google = jsonAdapter((attempt, context) => {
  const { call, target } = attempt
  return {
    dialect: null,
    url: `${modelUrl(target)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: keyHeader(target),
    body: bodyOf(attempt, context),
    failure: googleFailure,
    // A proxy that loses the query answers with a list of chunks instead of events.
    events: () => chunkReader(target),
    whole: (answer, _, frames) => readWhole(answer, target, frames),
  }
})

const bodyOf = async (attempt: Attempt, context: ProviderContext): Promise<Body> =>
  encoded(encodeGoogleRequest(await withReadableMedia(attempt, context)), attempt, context)

/** The same attempt with the media in a form that Google reads. */
export const withReadableMedia = async (attempt: Attempt, context: ProviderContext): Promise<Attempt> => {
  const model = geminiModel(attempt.target.upstreamModel)
  const unescaped = await withUnescapedMedia(attempt, context, malformedData)
  return await withLoadedMedia(unescaped, context.loadMedia, ({ url }) => !isReadByGoogle(url, model))
}

export const keyHeader = ({ apiKey }: Target): Readonly<Record<string, string>> => (apiKey === null ? {} : { 'x-goog-api-key': apiKey })

export const modelUrl = (target: Target): string => {
  const base = target.baseUrl.replace(/\/+$/, '')
  const versioned = /\/v1(?:alpha|beta)?$/.test(base) ? base : `${base}/v1beta`
  return `${versioned}/${pathOf(target).map(encodeURIComponent).join('/')}`
}

/** The name of the model with its collection, as it stands in a body. */
export const resourceOf = (target: Target): string => pathOf(target).join('/')

/** The name of a tuned model that the operator lists includes its collection. A name from a client is always that of a plain model. */
const pathOf = ({ upstreamModel, unlisted }: Target): readonly string[] =>
  unlisted !== true && upstreamModel.includes('/') ? upstreamModel.split('/') : ['models', upstreamModel.replace(/^models\//, '')]

const chunkReader = (target: Target): EventReader => {
  const decoder = createGoogleDecoder(target.modelId, geminiModel(target.upstreamModel).chargesSearchesByPrompt)
  return {
    patienceMs: AFTER_ENDING_MS,
    read(chunk, _, frames) {
      readChunk(chunk, decoder, target, frames)
    },
    mayEnd: () => decoder.ending() !== null,
    ending: () => ({ events: [finishOf(decoder.ending(), target)] }),
  }
}

const readChunk = (chunk: unknown, decoder: GoogleDecoder, target: Target, frames: Frame[]): void => {
  if (Array.isArray(chunk)) {
    for (const entry of chunk as unknown[]) readChunk(entry, decoder, target, frames)
    return
  }
  if (!isObject(chunk)) throw unusable(target, 'sent an answer that is not an object.')
  if (errorIn(chunk) !== null) throw googleFailure(200, JSON.stringify(chunk), target)
  const events = decoder.events(chunk)
  if (events.length > 0) frames.push({ events })
  const blocked = blockedPrompt(chunk, target)
  if (blocked !== null) throw blocked
}

const finishOf = (ending: Ending | null, target: Target): ModelEvent => {
  if (ending === null) throw unusable(target, 'answered without any candidates.')
  const { reason, native } = ending
  if (reason === null) throw brokenEnding(ending, target)
  return { type: 'finish', reason, native }
}

/** Reads a whole answer, or a list of the chunks that make it up. */
const readWhole = ({ body }: WholeAnswer, target: Target, frames: Frame[]): void => {
  const decoder = createGoogleDecoder(target.modelId, geminiModel(target.upstreamModel).chargesSearchesByPrompt)
  readChunk(body, decoder, target, frames)
  const ending = decoder.ending()
  // A whole body is complete even if it does not report its end; a list of chunks may have been cut off.
  if (ending === null && isObject(body) && firstCandidate(body) !== undefined) {
    const called = frames.some(({ events }) => events.some(({ type }) => type === 'tool-call'))
    frames.push({ events: [{ type: 'finish', reason: called ? 'tool_calls' : 'stop', native: null }] })
  } else frames.push({ events: [finishOf(ending, target)] })
}
