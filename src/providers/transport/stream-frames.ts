/** Reads an answer that comes as server-sent events, alike for every dialect: what counts, when the answer is over, and what breaks it. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { isObject, jsonIn } from '../../lib/json/json.ts'
import { parseExactInSteps } from '../../lib/json/json-steps.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../lib/network/sse.ts'
import { inTurns, LARGE_BYTES, type Turn } from '../../lib/steps.ts'
import { unusable } from '../failures/classify-failure.ts'
import type { Target } from '../provider.ts'
import { AnswerEnd } from './answer-end.ts'
import { beginningOf, leftOf, takeInTurns } from './answer-turns.ts'
import type { EventReader } from './event-reader.ts'
import { requireFewParts } from './parts-of-answer.ts'
import type { UpstreamResponse } from './upstream-response.ts'

interface StreamReading {
  readonly reader: EventReader
  readonly target: Target
  /** The turns of the attempt (`turnsOf`). */
  readonly turn: Turn
}

/**
 * Passes on a batch of frames for each piece that holds any. Once the model has ended, the answer is whole, whether the stream then ends
 * well, breaks or falls silent. Before that, each of these throws; a failure that the upstream reports is thrown after what came before it
 * in the same piece, which still counts. Other requests get their turn between the parts of a large piece, and within a large event, which
 * is passed on by itself.
 */
export const streamFrames = (response: UpstreamResponse, reading: StreamReading, take: TakeFrames): Promise<void> =>
  new FrameStream(response, reading, take).read()

/** All dialects end with this marker or with nothing: routers write the marker of one dialect into the streams of another. */
const END_MARKER = '[DONE]'

class FrameStream {
  readonly #response: UpstreamResponse
  readonly #reader: EventReader
  readonly #target: Target
  readonly #turn: Turn
  readonly #take: TakeFrames
  readonly #sse = new SseDecoder()
  readonly #end: AnswerEnd
  /** The frames of the piece that is being read. */
  #frames: Frame[] = []
  /** A failure in that piece, which is thrown once the frames before it were passed on. */
  #failure: Failure | null = null
  #stopped = false

  constructor(response: UpstreamResponse, { reader, target, turn }: StreamReading, take: TakeFrames) {
    this.#response = response
    this.#reader = reader
    this.#target = target
    this.#turn = turn
    this.#take = take
    this.#end = new AnswerEnd(reader)
  }

  async read(): Promise<void> {
    const pieces = this.#response.pieces()
    let left: Uint8Array | null = null
    try {
      while (!this.#stopped) {
        if (left !== null) await this.#turn()
        const next: Uint8Array | null = left ?? (await pieces.next())
        if (next === null) break
        left = leftOf(next)
        for (const event of this.#eventsIn(beginningOf(next, left))) {
          if (isPing(event)) continue
          if (event.data.length > LARGE_BYTES) await this.#readLarge(event)
          else this.#read(event)
          if (this.#stopped || this.#failure !== null) break
        }
        const behind = this.#handOver()
        if (behind !== undefined) await behind
        if (this.#failure !== null) throw this.#failure.thrown
      }
    } finally {
      pieces.close()
    }
    if (!this.#stopped && !this.#end.finished) await this.#readUnended()
    if (!this.#end.isWhole()) throw unusable(this.#target, 'ended the stream before the answer was complete.')
    if (this.#reader.ending !== undefined && this.#reader.mayEnd?.() === true) await this.#take([this.#reader.ending()])
  }

  #eventsIn(piece: Uint8Array): readonly SseEvent[] {
    try {
      return this.#sse.push(piece)
    } catch (thrown) {
      // A complete answer stays complete, whatever the upstream does to the rest of its stream (docs/contract/streams.md#ends).
      if (this.#end.finished && thrown instanceof SseLimitError) this.#stopped = true
      else this.#failure = { thrown: brokenLimit(thrown) }
      return []
    }
  }

  #read(event: SseEvent): void {
    const frames = this.#frames
    const alike = this.#end.marked ? null : (this.#reader.alike?.(event) ?? null)
    if (alike !== null) {
      frames.push(alike)
      return
    }
    const before = frames.length
    if (event.data === END_MARKER) this.#end.mark(frames)
    else {
      this.#readInto(frames, event)
      if (this.#end.marked) frames.push(...usesIn(frames.splice(before)))
    }
    this.#end.noteUsage(frames, before)
    this.#stopped = this.#end.isOver()
  }

  /** A large event is passed on by itself, after what came before it. */
  async #readLarge(event: SseEvent): Promise<void> {
    await this.#handOver()
    const said: Frame[] = []
    await this.#readIntoInTurns(said, event)
    const counting = this.#end.marked ? usesIn(said) : said
    this.#end.noteUsage(counting, 0)
    await takeInTurns(counting, this.#turn, (batch) => this.#handOn(batch))
    this.#stopped = this.#end.isOver()
  }

  /** A last event without its blank line counts only if it ends the answer, well or not (docs/contract/streams.md#reading-providers). */
  async #readUnended(): Promise<void> {
    const last = this.#lastEvent()
    if (last === null || last.data === END_MARKER || isPing(last)) return
    const said: Frame[] = []
    if (last.data.length > LARGE_BYTES) await this.#readIntoInTurns(said, last)
    else this.#readInto(said, last)
    // Whole JSON reports its failure; anything else was cut off. No report is large.
    const isReport = last.data.length <= LARGE_BYTES && isReportIn(jsonIn(last.data))
    if (this.#failure !== null && (isReport || !(this.#failure.thrown instanceof GatewayError))) throw this.#failure.thrown
    if (this.#end.finished) await this.#take(said)
  }

  #lastEvent(): SseEvent | null {
    try {
      return this.#sse.end()
    } catch (thrown) {
      throw brokenLimit(thrown)
    }
  }

  #readInto(frames: Frame[], event: SseEvent): void {
    const before = frames.length
    try {
      this.#reader.read(parsed(event, this.#target), event, frames)
      this.#end.noteEnd(frames, before)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  async #readIntoInTurns(frames: Frame[], event: SseEvent): Promise<void> {
    try {
      const body = await parsedInTurns(event, this.#target, this.#turn)
      if (this.#reader.readInSteps === undefined) this.#reader.read(body, event, frames)
      else await inTurns(this.#reader.readInSteps(body, event, frames), this.#turn)
      this.#end.noteEnd(frames, 0)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  /** A failure after the end of the answer does not count. */
  #fail(thrown: unknown): void {
    const isLate = (this.#end.marked || this.#end.finished) && thrown instanceof GatewayError
    if (!isLate) this.#failure = { thrown }
  }

  #handOver(): ReturnType<TakeFrames> {
    const batch = this.#frames
    this.#frames = []
    return this.#handOn(batch)
  }

  #handOn(batch: readonly Frame[]): ReturnType<TakeFrames> {
    if (this.#end.finished) this.#response.complete(this.#reader.patienceMs)
    return batch.length > 0 ? this.#take(batch) : undefined
  }
}

interface Failure {
  readonly thrown: unknown
}

/** Servers report in an object, or in a list of them. */
const isReportIn = (json: unknown): boolean => isObject(json) || Array.isArray(json)

/**
 * Some servers and proxies keep a connection open with events that say nothing in place of comments: a bare word, or an event of that name
 * whose data are no object.
 */
const isPing = ({ event, data }: SseEvent): boolean =>
  data.charAt(0) !== '{' && event !== 'error' && (PING.test(data) || PING.test(event ?? ''))

const PING = /^(?:ping|pong|keep-?alive|heartbeat|null)$/i

const parsed = ({ data }: SseEvent, target: Target): unknown => {
  let value: unknown
  try {
    value = parseExact(data)
  } catch (cause) {
    throw notJson(target, cause)
  }
  requireFewParts(data, value, target)
  return value
}

const parsedInTurns = async ({ data }: SseEvent, target: Target, turn: Turn): Promise<unknown> => {
  let value: unknown
  try {
    value = await inTurns(parseExactInSteps(data), turn)
  } catch (thrown) {
    // The attempt may have been ended meanwhile.
    throw thrown instanceof GatewayError ? thrown : notJson(target, thrown)
  }
  requireFewParts(data, value, target)
  return value
}

const notJson = (target: Target, cause: unknown): GatewayError => unusable(target, 'sent a stream event that is not JSON.', cause)

const usesIn = (frames: readonly Frame[]): Frame[] => {
  const events = frames.flatMap((frame) => frame.events.filter(({ type }) => type === 'usage'))
  return events.length === 0 ? [] : [{ events }]
}

const brokenLimit = (thrown: unknown): unknown =>
  thrown instanceof SseLimitError
    ? new GatewayError('provider_unavailable', `The provider's stream breaks a limit: ${thrown.message}`)
    : thrown
