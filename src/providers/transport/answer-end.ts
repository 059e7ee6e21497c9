import type { Frame, ModelEvent } from '../../canonical/event.ts'
import type { EventReader } from './event-reader.ts'

/** How far the answer in a stream is from its end: the model ends it, the end marker follows, and the usage comes before or behind either. */
export class AnswerEnd {
  readonly #reader: EventReader
  /** The model has ended its first answer. */
  #ended = false
  #counted = false
  #finished = false
  #marked = false

  constructor(reader: EventReader) {
    this.#reader = reader
  }

  /** The model has ended all its answers: from now on the answer is whole, whatever becomes of the stream. */
  get finished(): boolean {
    return this.#finished
  }

  /** The end marker has come: of what follows, only the usage counts. */
  get marked(): boolean {
    return this.#marked
  }

  /** Notes an end that an event has told in the frames from the index `from` on. */
  noteEnd(frames: readonly Frame[], from: number): void {
    if (this.#marked) return
    this.#ended ||= hasEvent(frames, 'finish', from)
    this.#finished ||= (this.#ended && (this.#reader.unfinished?.() ?? null) === null) || this.#reader.mayEnd?.() === true
  }

  noteUsage(frames: readonly Frame[], from: number): void {
    this.#counted ||= hasEvent(frames, 'usage', from)
  }

  /** Takes the end marker, and adds the frame of an end that the model never told. */
  mark(frames: Frame[]): void {
    this.#marked = true
    const ending = this.#ended || this.#finished ? null : (this.#reader.endMarked?.() ?? null)
    this.#finished ||= this.#ended || ending !== null
    if (ending !== null) frames.push(ending)
  }

  /** True if nothing that may still come would count. */
  isOver(): boolean {
    const hasAll = this.#marked && (this.#counted || !this.#finished || this.#reader.endMarked === undefined)
    return hasAll || (this.#reader.stopped?.(this.#finished) ?? false)
  }

  /** True if the answer is whole now that the stream has ended: some servers give only one answer, however many are asked for. */
  isWhole(): boolean {
    return this.#finished || (this.#ended && this.#reader.unfinished?.() === 'expected')
  }
}

/** Looks at the frames from the index `from` on. */
const hasEvent = (frames: readonly Frame[], type: ModelEvent['type'], from: number): boolean => {
  for (let at = from; at < frames.length; at += 1) if (frames[at]?.events.some((event) => event.type === type) === true) return true
  return false
}
