/** Records the answer that a client gets, so that it can be given again: without its usage, and only up to the limits of the cache. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { withoutCounts } from '../../formats/without-counts.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import { LARGE_BYTES, startPace, type Steps } from '../../lib/steps.ts'

/** Answers of more bytes are not cached. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024
/** The limit in bytes for pictures that tools made for the answer. */
const PICTURE_BYTES_MAX = 1024 * 1024

export class AnswerCapture {
  #frames: Frame[] = []
  #leastBytes = 0
  #pictureBytes = 0
  #isGivenUp = false

  observing(take: TakeFrames): TakeFrames {
    return (frames) => {
      if (!this.#isGivenUp) for (const frame of frames) this.#keep(frame)
      return take(frames)
    }
  }

  /** The JSON text of each frame; null if the answer cannot be cached. A small answer is written in one step. */
  *writing(): Steps<readonly string[] | null> {
    const isLarge = this.#leastBytes > LARGE_BYTES
    const isStep = startPace()
    const written: string[] = []
    let bytes = 0
    for (const frame of this.#frames) {
      const { text, size } = yield* writtenFrame(frame)
      bytes += size
      if (bytes > ANSWER_BYTES_MAX) this.#giveUp()
      if (this.#isGivenUp) return null
      written.push(text)
      if (isStep(text.length) && isLarge) yield
    }
    return this.#isGivenUp ? null : written
  }

  #keep(frame: Frame): void {
    this.#leastBytes += leastBytes(frame)
    for (const event of frame.events) {
      if (event.type !== 'server-tool-end') continue
      for (const picture of event.outcome.pictures ?? []) this.#pictureBytes += picture.length
      // The tool may succeed in the next request.
      if (event.outcome.fault !== null) this.#giveUp()
    }
    if (this.#leastBytes > ANSWER_BYTES_MAX || this.#pictureBytes > PICTURE_BYTES_MAX) this.#giveUp()
    else if (!this.#isGivenUp) this.#frames.push(frame)
  }

  #giveUp(): void {
    this.#isGivenUp = true
    this.#frames = []
  }
}

/** `size` is the number of bytes of the upstream's own JSON or, without that, of the events. */
function* writtenFrame({ events, native }: Frame): Steps<{ readonly text: string; readonly size: number }> {
  const said = yield* writeInSteps(events.filter(({ type }) => type !== 'usage'))
  if (native === undefined) return { text: `{"events":${said}}`, size: Buffer.byteLength(said) }
  const json = withoutCounts(native)
  if (json.length > LARGE_BYTES) yield
  const own = yield* writeInSteps({ dialect: native.dialect, json })
  return { text: `{"events":${said},"native":${own}}`, size: Buffer.byteLength(json) }
}

/** A lower bound of the bytes that the frame is written as: a frame that is too large is given up before any work on it. */
const leastBytes = ({ events, native }: Frame): number => {
  if (native !== undefined) return native.json.length
  let least = events.length * EVENT_BYTES
  for (const event of events) {
    if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') least += event.text.length
    else if (event.type === 'tool-arguments') least += event.json.length
    else if (event.type === 'image') least += event.url.length
  }
  return least
}

/** The length of the shortest event as JSON. */
const EVENT_BYTES = 20
