/** The adapter for all upstreams that speak Chat Completions. */
import { passesAsWritten } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { isObject, objectsIn } from '../../lib/json/json.ts'
import type { SseEvent } from '../../lib/network/sse.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { unusable } from '../failures/classify-failure.ts'
import { jsonAdapter } from '../transport/json-adapter.ts'
import type { Body, WholeAnswer } from '../transport/json-post.ts'
import { holdsError } from '../failures/failure-words.ts'
import { withLoadedMedia } from '../media/load-media.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import { vendorOf } from '../vendors/vendors.ts'
import type { EventReader } from '../transport/event-reader.ts'
import { addressOf, keyHeader } from './address.ts'
import { createChatDecoder, type ChatDecoder } from './decode.ts'
import { decodeUsage, usageObject } from './decode-usage.ts'
import { chatWire } from './encode.ts'
import { chatFailure } from './errors.ts'
import { failureOfFinish, finishWord } from './finish-reasons.ts'
import { createPieceReader } from './piece-reader.ts'
import { chatText, chatTextInSteps } from './vendor-text.ts'

export const openaiChat = jsonAdapter((attempt, context) => {
  const { call, target } = attempt
  return {
    dialect: 'chat',
    url: addressOf(target, '/chat/completions'),
    headers: keyHeader(target),
    body: passesAsWritten(call, 'chat') ? encoded(chatWire(attempt), attempt, context) : translatedBody(attempt, context),
    failure: chatFailure,
    events: (native) => chunkReader(target, native, answersOf(call)),
    whole: (answer, native, frames) => readWhole(answer, target, native, frames),
  }
})

const translatedBody = async (attempt: Attempt, context: ProviderContext): Promise<Body> => {
  // Some vendors accept files only as inline data.
  const { files } = vendorOf(attempt.target.provider)
  const loaded = await withLoadedMedia(attempt, context.loadMedia, ({ type }) => type === 'file' && files === 'data')
  return encoded(chatWire(loaded), attempt, context)
}

const answersOf = ({ body, dialect }: Attempt['call']): number => {
  const asked = dialect === 'chat' ? body.get('n') : 1
  return typeof asked === 'number' ? asked : 1
}

/** `native`: a stream was asked for in this dialect, so a chunk can be passed on as it is. */
const chunkReader = (target: Target, native: boolean, answers: number): EventReader => {
  const decoder = createChatDecoder(target.modelId)
  const pieces = createPieceReader(native)
  const reading: Reading = { decoder, target, native, several: answers > 1 }
  /** The chunk of a call with an empty object as its arguments, until the next chunk says if that counts. */
  let held: Frame | null = null

  const release = (frames: Frame[]): void => {
    const voided = decoder.takeVoided()
    if (held === null) return
    const isVoid = (event: ModelEvent): boolean => event.type === 'tool-arguments' && event.index === voided
    frames.push(held.events.some(isVoid) ? { events: held.events.filter((event) => !isVoid(event)) } : held)
    held = null
  }

  /** `isWhole`: the chunk was read without a failure. */
  const handOn = (read: readonly Frame[], frames: Frame[], isWhole: boolean): void => {
    release(frames)
    const [frame] = read
    if (isWhole && decoder.hasEmptyCall && frame?.events.some(({ type }) => type === 'tool-arguments')) held = frame
    else frames.push(...read)
  }

  return {
    alike(event) {
      if (held !== null) return null
      const frame = pieces.read(event)
      if (frame === null || (decoder.hasWholeCall && frame.events.some(({ type }) => type === 'tool-arguments'))) return null
      for (const said of frame.events) decoder.heard(said)
      return frame
    },
    unfinished: () => decoder.unfinished(answers),
    endMarked() {
      const events = [...(held?.events ?? []), ...decoder.ending()]
      held = null
      return events.length === 0 ? null : { events }
    },
    read(chunk, event, frames) {
      const read: Frame[] = []
      let isWhole = false
      try {
        pieces.learn(event, readChunk(chunk, event, reading, read))
        isWhole = true
      } finally {
        handOn(read, frames, isWhole)
      }
    },
    *readInSteps(chunk, event, frames) {
      const read: Frame[] = []
      let isWhole = false
      try {
        yield* readChunkInSteps(chunk, event, reading, read)
        isWhole = true
      } finally {
        handOn(read, frames, isWhole)
      }
    },
  }
}

interface Reading {
  readonly decoder: ChatDecoder
  readonly target: Target
  readonly native: boolean
  readonly several: boolean
}

const readChunk = (chunk: unknown, event: SseEvent, reading: Reading, frames: Frame[]): Frame => {
  const { decoder, native, several } = reading
  const { body, events } = heard(chunk, event, reading, frames)
  const frame = frameOf(events, native && !decoder.mended ? chatText(body, event.data, { several, renamed: decoder.renamed }) : null)
  frames.push(frame)
  return frame
}

function* readChunkInSteps(chunk: unknown, event: SseEvent, reading: Reading, frames: Frame[]): Steps<void> {
  const { decoder, native, several } = reading
  const { body, events } = heard(chunk, event, reading, frames)
  yield
  if (native && !decoder.mended) yield* addFrame(frames, events, chatTextInSteps(body, event.data, { several, renamed: decoder.renamed }))
  else frames.push({ events })
}

/**
 * Returns the events of a chunk. If the chunk reports a failure, throws it, after its events were added to `frames` if it is that of a
 * choice.
 */
const heard = (chunk: unknown, event: SseEvent, { decoder, target }: Reading, frames: Frame[]): Heard => {
  if (!isObject(chunk)) throw unusable(target, 'sent a stream event that is not an object.')
  if (holdsError(chunk) || event.event === 'error') {
    addUsage(chunk, frames)
    throw chatFailure(200, event.data, target)
  }
  const events = decoder.events(chunk)
  const failure = choiceFailure(chunk, target)
  if (failure !== null) {
    frames.push({ events })
    throw failure
  }
  return { body: chunk, events }
}

/** A router counts beside an error what was used until then. */
const addUsage = (body: Readonly<Record<string, unknown>>, frames: Frame[]): void => {
  const usage = usageObject(body, undefined)
  if (usage !== null) frames.push({ events: [{ type: 'usage', usage: decodeUsage(usage) }] })
}

interface Heard {
  readonly body: Record<string, unknown>
  readonly events: readonly ModelEvent[]
}

/**
 * An upstream that is itself a router reports a failure at the end of its choice, beside what was said before
 * (docs/contract/chat-completions.md#error-chunk).
 */
const choiceFailure = (body: Readonly<Record<string, unknown>>, target: Target): GatewayError | null => {
  for (const choice of objectsIn(body['choices'])) {
    const reported = failureOfFinish(finishWord(choice))
    if (reported !== null) return chatFailure(200, JSON.stringify({ error: choice['error'] ?? reported }), target)
  }
  return null
}

const readWhole = ({ text, body }: WholeAnswer, target: Target, native: boolean, frames: Frame[]): void | Steps<void> => {
  // A router repeats the failure of a choice beside the choices; what the choice said before still counts.
  const failure = isObject(body) ? choiceFailure(body, target) : null
  if (isObject(body) && failure === null && holdsError(body)) {
    addUsage(body, frames)
    throw chatFailure(200, text, target)
  }
  if (!isObject(body) || !Array.isArray(body['choices']) || body['choices'].length === 0)
    throw unusable(target, 'answered without any choices.')
  const decoder = createChatDecoder(target.modelId, 'whole')
  const decoded = decoder.events(body)
  if (failure !== null) {
    frames.push({ events: decoded })
    throw failure
  }
  const ended = decoded.some(({ type }) => type === 'finish')
  // Some vendors leave the finish reason empty, for example xAI if there are calls.
  const events: readonly ModelEvent[] = ended
    ? decoded
    : [...decoded, { type: 'finish', reason: decoded.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop', native: null }]
  // Only the text can carry more than one choice.
  const several = body['choices'].length > 1
  const relays = native && (!decoder.mended || several)
  const form = { several, renamed: decoder.renamed }
  if (relays && text.length > LARGE_BYTES) return addFrame(frames, events, chatTextInSteps(body, text, form))
  frames.push(frameOf(events, relays ? chatText(body, text, form) : null))
}

function* addFrame(frames: Frame[], events: readonly ModelEvent[], writing: Steps<string | null>): Steps<void> {
  frames.push(frameOf(events, yield* writing))
  yield
}

/** `json`: the text to pass on to a client of this dialect; null if there is none. */
const frameOf = (events: readonly ModelEvent[], json: string | null): Frame =>
  json === null ? { events } : { events, native: { dialect: 'chat', json } }
