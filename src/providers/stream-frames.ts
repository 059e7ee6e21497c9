/** Reads an answer that comes as server-sent events: when it counts, when it is over and what breaks it, for every dialect alike. */
import { parseExact } from '../lib/exact-json.ts'
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../lib/sse.ts'
import { unusable } from './classify-failure.ts'
import { requireFewParts } from './parts-of-answer.ts'
import type { Target } from './provider.ts'
import type { UpstreamResponse } from './upstream.ts'

/** The reading of one stream by a dialect. */
export interface EventReader {
  /** Adds to `frames` what an event says; `body` is its parsed data. Throws the failure that it reports once the frames are added. */
  read(body: unknown, event: SseEvent, frames: Frame[]): void
  /** The frame of an event that is like one before it but for a piece of what the model says; null for any other, which is parsed. */
  alike?(event: SseEvent): Frame | null
  /** Says whether the event just read ends the stream, so that nothing behind it counts. `finished`: the model has ended. */
  stopped?(finished: boolean): boolean
  /** For a dialect that never says that it ended: whether the answer ends if the bytes do. */
  mayEnd?(): boolean
  /** The frame that then ends it. Throws where that end is a failure. */
  ending?(): Frame
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
 * well, breaks or falls silent behind it. Before that each of these throws; a failure that the upstream reports is thrown after
 * what came before it in the same piece, which still counts.
 */
export const streamFrames = async (response: UpstreamResponse, reader: EventReader, target: Target, take: TakeFrames): Promise<void> => {
  const sse = new SseDecoder()
  let finished = false
  /** The use was reported. */
  let counted = false
  /** The marker of the end has come. */
  let marked = false
  const end = (frames: Frame[]): void => {
    marked = true
    const ending = finished ? null : (reader.endMarked?.() ?? null)
    finished ||= ending !== null
    if (ending !== null) frames.push(ending)
  }
  const read = (event: SseEvent, frames: Frame[]): void => {
    reader.read(bodyOf(event, target), event, frames)
    finished ||= frames.some((frame) => holds(frame, 'finish')) || reader.mayEnd?.() === true
  }
  let stopped = false
  const pieces = response.pieces()
  try {
    while (!stopped) {
      const piece = await pieces.next()
      if (piece === null) break
      const frames: Frame[] = []
      let failure: Thrown | null = null
      try {
        for (const event of withinLimits(() => sse.push(piece))) {
          const alike = marked ? null : (reader.alike?.(event) ?? null)
          if (alike !== null) {
            frames.push(alike)
            continue
          }
          // Anything that an upstream sends after its end is not part of the answer, but for the use where it was not reported before.
          if (event.data === END_MARKER) end(frames)
          else if (marked) frames.push(...usesIn(unlessFailed((uses) => reader.read(bodyOf(event, target), event, uses))))
          else if (finished) frames.push(...unlessFailed((late) => read(event, late)))
          else read(event, frames)
          counted ||= frames.some((frame) => holds(frame, 'usage'))
          stopped = (marked && (counted || !finished || reader.endMarked === undefined)) || (reader.stopped?.(finished) ?? false)
          if (stopped) break
        }
      } catch (thrown) {
        // An answer that is whole stays it, whatever the upstream does to the rest of its stream (docs/contract/streams.md#ends).
        if (finished && thrown instanceof GatewayError) stopped = true
        else failure = { thrown }
      }
      if (finished && failure === null) response.complete(reader.patienceMs)
      const behind = frames.length > 0 ? take(frames) : undefined
      if (behind !== undefined) await behind
      if (failure !== null) throw failure.thrown
    }
  } finally {
    pieces.close()
  }
  const last = stopped || finished ? null : withinLimits(() => sse.end())
  if (last !== null && last.data !== END_MARKER) {
    // A last event without its blank line counts only where it is the end of the answer (docs/contract/streams.md#reading-providers).
    const frames = unlessFailed((into) => read(last, into))
    if (finished) await take(frames)
  }
  if (!finished) throw unusable(target, 'ended the stream before the answer was complete.')
  if (reader.ending !== undefined && reader.mayEnd?.() === true) await take([reader.ending()])
}

interface Thrown {
  readonly thrown: unknown
}

const bodyOf = (event: SseEvent, target: Target): unknown => {
  let body: unknown
  try {
    body = parseExact(event.data)
  } catch (cause) {
    throw unusable(target, 'sent a stream event that is not JSON.', cause)
  }
  requireFewParts(event.data, body, target)
  return body
}

/** The meaning of an event that does not count where it fails: one behind the end, or one that the connection may have cut. */
const unlessFailed = (read: (frames: Frame[]) => void): Frame[] => {
  const frames: Frame[] = []
  try {
    read(frames)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
  }
  return frames
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

const holds = (frame: Frame, type: ModelEvent['type']): boolean => frame.events.some((event) => event.type === type)
