/** Reads an answer that comes as server-sent events: when it counts, when it is over and what breaks it, for every dialect alike. */
import { parseExact } from '../lib/exact-json.ts'
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../lib/sse.ts'
import { unusable } from './classify-failure.ts'
import type { Target } from './provider.ts'
import type { UpstreamResponse } from './upstream.ts'

/** What a dialect makes of one stream. */
export interface EventReader {
  /** The frames of an event, whose data is the JSON of `body`. Never throws: a failure travels as the last frame. */
  frames(body: unknown, event: SseEvent): Frame[]
  /** The frame of an event that is like one before it but for a piece of what the model says; null for any other, which is parsed. */
  alike?(event: SseEvent): Frame | null
  /** Whether the event just read ends the stream, so that nothing behind it counts. `finished`: the model has ended. */
  stopped?(finished: boolean): boolean
  /** For a dialect that never says that it ended: the frame that ends the answer if the bytes do; null before it can. */
  ending?(): Frame | null
  /**
   * For a dialect whose streams end with the marker: the frame that ends an answer whose model never said that it ended;
   * null where nothing came before the marker. Behind it the use may still follow.
   */
  endMarked?(): Frame | null
  /** How long to wait for what may come behind the model's end, where a second is not enough. */
  readonly patienceMs?: number
}

/** All dialects end with it or with nothing: routers write the marker of one in the streams of another. */
const END_MARKER = '[DONE]'

/**
 * Hands over a batch of frames for each piece that holds any. Once the model has ended the answer is whole, whether the stream ends
 * well, breaks or falls silent behind it. Before that each of these throws; a failure that the upstream tells is the last
 * frame, so that what came before it in the same piece still counts.
 */
export const streamFrames = async (response: UpstreamResponse, reader: EventReader, target: Target, take: TakeFrames): Promise<void> => {
  const sse = new SseDecoder()
  let finished = false
  /** The use was told. */
  let counted = false
  /** The marker of the end has come. */
  let marked = false
  const end = (): Frame[] => {
    marked = true
    const ending = finished ? null : (reader.endMarked?.() ?? null)
    finished ||= ending !== null
    return ending === null ? [] : [ending]
  }
  const read = (event: SseEvent): Frame[] => {
    const frames = framesOf(event, reader, target)
    finished ||= frames.some((frame) => holds(frame, 'finish')) || (reader.ending?.() ?? null) !== null
    return frames
  }
  let stopped = false
  const pieces = response.pieces()
  try {
    while (!stopped) {
      const piece = await pieces.next()
      if (piece === null) break
      const frames: Frame[] = []
      let failed = false
      for (const event of withinLimits(() => sse.push(piece))) {
        const alike = marked ? null : (reader.alike?.(event) ?? null)
        if (alike !== null) {
          frames.push(alike)
          continue
        }
        // Whatever an upstream sends after its end is not part of the answer, but for the use where it was not told before.
        if (event.data === END_MARKER) frames.push(...end())
        else frames.push(...(marked ? usesIn(framesOf(event, reader, target)) : read(event)))
        counted ||= frames.some((frame) => holds(frame, 'usage'))
        failed = endsInFailure(frames)
        stopped = (marked && (counted || !finished || reader.endMarked === undefined)) || (reader.stopped?.(finished) ?? false)
        if (failed || stopped) break
      }
      if (finished && !failed) response.complete(reader.patienceMs)
      const behind = frames.length > 0 ? take(frames) : undefined
      if (behind !== undefined) await behind
      if (failed) return
    }
  } finally {
    pieces.close()
  }
  const last = stopped || finished ? null : withinLimits(() => sse.end())
  if (last !== null && last.data !== END_MARKER) {
    // A last event without its blank line counts only where it is the end of the answer (docs/contract/streams.md#reading-providers).
    const frames = read(last)
    if (finished) await take(frames)
  }
  if (!finished) throw unusable(target, 'ended the stream before the answer was complete.')
  const ending = reader.ending?.() ?? null
  if (ending !== null) await take([ending])
}

const framesOf = (event: SseEvent, reader: EventReader, target: Target): Frame[] => {
  let body: unknown
  try {
    body = parseExact(event.data)
  } catch (cause) {
    return [failedFrame(unusable(target, 'sent a stream event that is not JSON.', cause))]
  }
  return reader.frames(body, event)
}

const usesIn = (frames: readonly Frame[]): Frame[] => {
  const events = frames.flatMap((frame) => frame.events.filter(({ type }) => type === 'usage'))
  return events.length === 0 ? [] : [{ events }]
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

export const failedFrame = (error: GatewayError): Frame => ({ events: [{ type: 'error', error }] })

export const holds = (frame: Frame, type: ModelEvent['type']): boolean => frame.events.some((event) => event.type === type)

const endsInFailure = (frames: readonly Frame[]): boolean => {
  const newest = frames.at(-1)
  return newest !== undefined && holds(newest, 'error')
}
