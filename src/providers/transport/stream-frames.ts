/** Reads an answer that comes as server-sent events, alike for every dialect: what counts, when the answer is over, and what breaks it. */
import type { Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { parseExactInSteps } from '../../lib/json/json-steps.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/network/sse.ts'
import { inTurns, LARGE_BYTES, type Steps, type Turn } from '../../lib/steps.ts'
import { beginningOf, leftOf, takeInTurns, turnsOf } from './answer-turns.ts'
import { unusable } from '../failures/classify-failure.ts'
import { requireFewParts } from './parts-of-answer.ts'
import type { Attempt, ProviderContext, Target } from '../provider.ts'
import type { UpstreamResponse } from './upstream.ts'

/** How a dialect reads one stream. */
export interface EventReader {
  /**
   * Adds to `frames` what an event says; `body` is its parsed data. If the event reports a failure, throws it after the frames are added.
   */
  read(body: unknown, event: SseEvent, frames: Frame[]): void
  /** Like `read`, for a large event of which a part takes longer to read than one step. */
  readInSteps?(body: unknown, event: SseEvent, frames: Frame[]): Steps<void>
  /**
   * The frame of an event that differs from an earlier one only in a piece of the model's output; null for any other event, which is then
   * parsed.
   */
  alike?(event: SseEvent): Frame | null
  /** Says whether the event just read ends the stream, so that nothing after it counts. `finished`: the model has ended. */
  stopped?(finished: boolean): boolean
  /** For a dialect that never says that it ended: returns whether the answer is complete if the bytes end now. */
  mayEnd?(): boolean
  /** The frame that then ends the answer. Throws if that end is a failure. */
  ending?(): Frame
  /**
   * For a dialect whose streams end with the marker: the frame that ends an answer whose model never said that it ended; null if nothing
   * came before the marker. The usage may still follow the marker.
   */
  endMarked?(): Frame | null
  /** How long to wait for what may come after the model's end, if a second is not enough. */
  readonly patienceMs?: number
  /**
   * For a dialect with several answers in one stream, after the end of the first: `begun` if others that began are still going on,
   * `expected` if fewer began than were asked for; null if none is left.
   */
  unfinished?(): 'begun' | 'expected' | null
}

/** All dialects end with this marker or with nothing: routers write the marker of one dialect into the streams of another. */
const END_MARKER = '[DONE]'

/**
 * Some servers and proxies keep a connection open with events that say nothing in place of comments: a bare word, or an event of that name
 * whose data are no object.
 */
const isPing = ({ event, data }: SseEvent): boolean =>
  data.charAt(0) !== '{' && event !== 'error' && (PING.test(data) || PING.test(event ?? ''))

const PING = /^(?:ping|pong|keep-?alive|heartbeat|null)$/i

/**
 * Passes on a batch of frames for each piece that holds any. Once the model has ended, the answer is whole, whether the stream then ends
 * well, breaks or falls silent. Before that, each of these throws; a failure that the upstream reports is thrown after what came before it
 * in the same piece, which still counts. Other requests get their turn between the parts of a large piece, and within a large event, which
 * is passed on by itself.
 */
export const streamFrames = async (
  response: UpstreamResponse,
  reader: EventReader,
  attempt: Pick<Attempt, 'target' | 'connection'>,
  context: Pick<ProviderContext, 'turn'>,
  take: TakeFrames,
): Promise<void> => {
  const { target } = attempt
  const turn = turnsOf(context, attempt)
  const sse = new SseDecoder()
  /** The model has ended its first answer. */
  let ended = false
  /** The model has ended all its answers. */
  let finished = false
  /** The usage was reported. */
  let counted = false
  /** The end marker has come. */
  let marked = false
  let stopped = false
  let frames: Frame[] = []

  const handOn: TakeFrames = (batch) => {
    if (finished) response.complete(reader.patienceMs)
    return batch.length > 0 ? take(batch) : undefined
  }

  const handOver = (): ReturnType<TakeFrames> => {
    const batch = frames
    frames = []
    return handOn(batch)
  }

  const end = (said: Frame[]): void => {
    marked = true
    const ending = ended || finished ? null : (reader.endMarked?.() ?? null)
    finished ||= ended || ending !== null
    if (ending !== null) said.push(ending)
  }

  /** Returns the failure of the event, unless it comes too late to count. */
  const read = (event: SseEvent, body: unknown, said: Frame[]): Thrown | null => {
    const before = said.length
    try {
      if (body instanceof Thrown) throw body.thrown
      reader.read(body, event, said)
      noteEnd(said, before)
    } catch (thrown) {
      return inTime(thrown)
    }
    return null
  }

  const readInTurns = async (event: SseEvent, said: Frame[]): Promise<Thrown | null> => {
    const body = await parsedInTurns(event, target, turn)
    if (reader.readInSteps === undefined || body instanceof Thrown) return read(event, body, said)
    const before = said.length
    try {
      await inTurns(reader.readInSteps(body, event, said), turn)
      noteEnd(said, before)
    } catch (thrown) {
      return inTime(thrown)
    }
    return null
  }

  const noteEnd = (said: readonly Frame[], from: number): void => {
    if (marked) return
    ended ||= hasEvent(said, 'finish', from)
    finished ||= (ended && (reader.unfinished?.() ?? null) === null) || reader.mayEnd?.() === true
  }

  /** Null if the answer was over before the failure came. */
  const inTime = (thrown: unknown): Thrown | null => ((marked || finished) && thrown instanceof GatewayError ? null : new Thrown(thrown))

  const pieces = response.pieces()
  let left: Uint8Array | null = null
  try {
    while (!stopped) {
      if (left !== null) await turn()
      const next: Uint8Array | null = left ?? (await pieces.next())
      if (next === null) break
      left = leftOf(next)
      const piece = beginningOf(next, left)
      let failure: Thrown | null = null
      let events: readonly SseEvent[] = []
      try {
        events = withinLimits(() => sse.push(piece))
      } catch (thrown) {
        // A complete answer stays complete, whatever the upstream does to the rest of its stream (docs/contract/streams.md#ends).
        if (finished && thrown instanceof GatewayError) stopped = true
        else failure = new Thrown(thrown)
      }
      for (const event of events) {
        if (isPing(event)) continue
        const isLarge = event.data.length > LARGE_BYTES
        const alike = marked || isLarge ? null : (reader.alike?.(event) ?? null)
        if (alike !== null) {
          frames.push(alike)
          continue
        }
        let said: Frame[] = isLarge || marked ? [] : frames
        const before = said.length
        if (event.data === END_MARKER) end(said)
        else {
          if (isLarge) await handOver()
          failure = isLarge ? await readInTurns(event, said) : read(event, parsed(event, target), said)
          // Anything that an upstream sends after its end is not part of the answer, except the usage if it was not reported before.
          if (marked) said = usesIn(said)
        }
        counted ||= hasEvent(said, 'usage', before)
        if (isLarge) await takeInTurns(said, turn, handOn)
        else if (said !== frames) frames.push(...said)
        stopped = (marked && (counted || !finished || reader.endMarked === undefined)) || (reader.stopped?.(finished) ?? false)
        if (stopped || failure !== null) break
      }
      const behind = handOver()
      if (behind !== undefined) await behind
      if (failure !== null) throw failure.thrown
    }
  } finally {
    pieces.close()
  }
  const last = stopped || finished ? null : withinLimits(() => sse.end())
  if (last !== null && last.data !== END_MARKER) {
    // A last event without its blank line counts only if it is the end of the answer (docs/contract/streams.md#reading-providers).
    const failure = last.data.length > LARGE_BYTES ? await readInTurns(last, frames) : read(last, parsed(last, target), frames)
    if (failure !== null && !(failure.thrown instanceof GatewayError)) throw failure.thrown
    if (finished) await take(frames)
  }
  // Some servers give only one answer, however many are asked for.
  finished ||= ended && reader.unfinished?.() === 'expected'
  if (!finished) throw unusable(target, 'ended the stream before the answer was complete.')
  if (reader.ending !== undefined && reader.mayEnd?.() === true) await take([reader.ending()])
}

/** Holds an error to be thrown later, once what came before it was passed on. */
class Thrown {
  readonly thrown: unknown

  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

/** Returns the value, or a Thrown with the error of reading it. */
const parsed = ({ data }: SseEvent, target: Target): unknown => {
  try {
    return checked(data, parseExact(data), target)
  } catch (thrown) {
    return new Thrown(unreadable(thrown, target))
  }
}

const parsedInTurns = async ({ data }: SseEvent, target: Target, turn: Turn): Promise<unknown> => {
  try {
    return checked(data, await inTurns(parseExactInSteps(data), turn), target)
  } catch (thrown) {
    return new Thrown(unreadable(thrown, target))
  }
}

const checked = (text: string, value: unknown, target: Target): unknown => {
  requireFewParts(text, value, target)
  return value
}

const unreadable = (thrown: unknown, target: Target): GatewayError =>
  thrown instanceof GatewayError ? thrown : unusable(target, 'sent a stream event that is not JSON.', thrown)

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

/** Looks at the frames from the index `from` on. */
const hasEvent = (frames: readonly Frame[], type: ModelEvent['type'], from: number): boolean => {
  for (let at = from; at < frames.length; at += 1) if (frames[at]?.events.some((event) => event.type === type) === true) return true
  return false
}
