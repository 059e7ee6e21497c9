import { carriesContent, type Frame, type TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { LARGE_BYTES, type Turn } from '../../lib/steps.ts'
import type { AnswerSpace } from '../../providers/transport/answer-room.ts'

/** The maximum number of frames without content. A provider that sends more counts as broken. */
const KEPT_FRAMES_MAX = 10_000

/**
 * The output of one attempt on its way to the client. A stream is kept back until its first content, and a whole answer until its end, so
 * that another attempt can take over before.
 */
export class Delivery {
  readonly #stream: boolean
  readonly #deliver: TakeFrames
  /** Called at the first content of a stream; null for a whole answer. */
  readonly #onContent: (() => void) | null
  readonly #kept: Frame[] = []
  /** Room for the frames of a stream that are kept; those of a whole answer were counted as they were read. */
  readonly #space: AnswerSpace | undefined
  readonly #turn: Turn
  #hasContent = false
  #begun = false

  constructor(stream: boolean, onContent: (() => void) | null, deliver: TakeFrames, turn: Turn, space?: AnswerSpace) {
    this.#stream = stream
    this.#turn = turn
    this.#onContent = onContent
    this.#deliver = deliver
    this.#space = stream ? space : undefined
  }

  /** True if something of this attempt went to the client, so that no other can take over. */
  get begun(): boolean {
    return this.#begun
  }

  /** The frames that never went out; empty if they have no content. */
  get unsent(): readonly Frame[] {
    return this.#hasContent && !this.#begun ? this.#kept : []
  }

  take(frames: readonly Frame[]): ReturnType<TakeFrames> {
    return this.#begun ? this.#deliver(frames) : this.#keepBack(frames)
  }

  /** The provider has answered: what is still kept back goes out. */
  end(): ReturnType<TakeFrames> {
    return this.#begun ? undefined : this.#deliver(this.#kept)
  }

  #keepBack(frames: readonly Frame[]): ReturnType<TakeFrames> {
    for (const { native } of frames) {
      const lack = native === undefined ? null : this.#space?.take(native.json.length)
      if (lack !== null && lack !== undefined) throw lack
    }
    this.#kept.push(...frames)
    this.#hasContent ||= frames.some(({ events }) => events.some(carriesContent))
    if (this.#hasContent) this.#onContent?.()
    else if (this.#kept.length > KEPT_FRAMES_MAX) throw new GatewayError('provider_unavailable', 'The provider sent no content.')
    if (!this.#stream || !this.#hasContent) return undefined
    this.#begun = true
    return this.#kept.some(isLong) || this.#kept.length > BATCH_FRAMES ? this.#deliverInTurns() : this.#deliver(this.#kept)
  }

  /** A provider may send megabytes before the first content. */
  async #deliverInTurns(): Promise<void> {
    let batch: Frame[] = []
    let bytes = 0
    for (const frame of this.#kept) {
      batch.push(frame)
      bytes += frame.native?.json.length ?? 0
      if (bytes < LARGE_BYTES && batch.length < BATCH_FRAMES) continue
      await this.#deliver(batch)
      await this.#turn()
      batch = []
      bytes = 0
    }
    if (batch.length > 0) await this.#deliver(batch)
  }
}

/** Frames that take no longer than one step, if none of them is long. */
const BATCH_FRAMES = 100

const isLong = ({ native }: Frame): boolean => (native?.json.length ?? 0) > LARGE_BYTES / BATCH_FRAMES
