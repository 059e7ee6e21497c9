import type { Frame } from '../../canonical/event.ts'
import type { SseEvent } from '../../lib/network/sse.ts'
import type { Steps } from '../../lib/steps.ts'

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
