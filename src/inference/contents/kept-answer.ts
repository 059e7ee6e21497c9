/** Keeps the frames that were sent to a client, to be stored as they went out, up to a limit. */
import type { Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import type { ContentRoom } from '../tracing/content-room.ts'

/** The maximum number of characters of one answer's events. */
const ANSWER_MAX = 1024 * 1024

/**
 * The maximum number of characters of an upstream's own JSON, which is parsed again to be stored; of a longer one only the events are kept.
 */
const NATIVE_MAX = 2 * ANSWER_MAX

export class KeptAnswer {
  readonly #room: ContentRoom
  readonly #frames: Frame[] = []
  #held = 0
  #isCut = false

  constructor(room: ContentRoom) {
    this.#room = room
  }

  observing(take: TakeFrames): TakeFrames {
    return (frames) => {
      if (!this.#isCut) for (const frame of frames) this.#keep(frame)
      return take(frames)
    }
  }

  /** True if the end of the answer was not kept for lack of room. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Null if there was no output. A whole answer that came as one frame is kept as its provider wrote it. */
  get answer(): Frame | null {
    const [only] = this.#frames
    if (only === undefined) return null
    return this.#frames.length === 1 ? only : { events: this.#frames.flatMap(({ events }) => events) }
  }

  free(): void {
    this.#room.free(this.#held)
    this.#held = 0
    this.#frames.length = 0
  }

  #keep(frame: Frame): void {
    if (this.#isCut) return
    const length = frame.events.reduce((sum, event) => sum + lengthOf(event), 0)
    if (this.#held + length > ANSWER_MAX || !this.#room.take(length)) {
      this.#isCut = true
      return
    }
    this.#held += length
    const [first] = this.#frames
    // The upstream's text of a longer answer is never read again, and takes far more room than what it says.
    if (first?.native !== undefined) this.#frames[0] = { events: first.events }
    const isAlone = first === undefined && (frame.native?.json.length ?? 0) <= NATIVE_MAX
    this.#frames.push(isAlone ? frame : { events: frame.events })
  }
}

const lengthOf = (event: ModelEvent): number => {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return event.text.length
  if (event.type === 'tool-arguments') return event.json.length
  if (event.type === 'image') return event.url.length
  return event.type === 'server-tool-end' ? event.outcome.text.length : EVENT_LENGTH
}

/** The length that counts for an event without text of its own. */
const EVENT_LENGTH = 64
