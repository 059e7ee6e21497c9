/** Records the answer that a client gets, to be given again: without its use, and no more of it than is kept. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { withoutCounts } from '../../formats/without-counts.ts'

/** Bytes of an answer beyond which it is not kept. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024
/** Pictures that tools made on the way to it. */
const PICTURE_BYTES_MAX = 1024 * 1024

export class AnswerCapture {
  #frames: string[] = []
  #bytes = 0
  #pictureBytes = 0
  #isGivenUp = false

  observing(take: TakeFrames): TakeFrames {
    return (frames) => {
      if (!this.#isGivenUp) for (const frame of frames) this.#write(frame)
      return take(frames)
    }
  }

  /** JSON text of each frame; null where the answer cannot be kept. */
  get frames(): readonly string[] | null {
    return this.#isGivenUp ? null : this.#frames
  }

  #write({ events, native }: Frame): void {
    if (this.#bytes + leastBytes({ events, native }) > ANSWER_BYTES_MAX) {
      this.#giveUp()
      return
    }
    for (const event of events) {
      if (event.type !== 'server-tool-end') continue
      for (const picture of event.outcome.pictures ?? []) this.#pictureBytes += picture.length
      // The next request may have more luck with the tool.
      if (event.outcome.fault !== null) this.#giveUp()
    }
    const said = JSON.stringify(events.filter(({ type }) => type !== 'usage'))
    const own = native === undefined ? null : withoutCounts(native)
    this.#frames.push(`{"events":${said}${own === null ? '' : `,"native":${JSON.stringify({ dialect: native?.dialect, json: own })}`}}`)
    this.#bytes += Buffer.byteLength(own ?? said)
    if (this.#bytes > ANSWER_BYTES_MAX || this.#pictureBytes > PICTURE_BYTES_MAX) this.#giveUp()
  }

  #giveUp(): void {
    this.#isGivenUp = true
    this.#frames = []
  }
}

/** A frame is written as so many bytes or more: a large one is given up before any work on it. */
const leastBytes = ({ events, native }: Pick<Frame, 'events'> & { readonly native: Frame['native'] | undefined }): number => {
  if (native !== undefined) return native.json.length
  let least = events.length * EVENT_BYTES
  for (const event of events) {
    if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') least += event.text.length
    else if (event.type === 'tool-arguments') least += event.json.length
    else if (event.type === 'image') least += event.url.length
  }
  return least
}

/** The shortest event, as JSON. */
const EVENT_BYTES = 20
