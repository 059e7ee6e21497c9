/** Renders a message as a stream of events (docs/contract/messages.md#stream). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { DONE_FRAME, eventFrame } from '../../lib/network/sse.ts'
import { endingOnce, metadataMember } from '../answer-parts.ts'
import { BlockSequence } from '../block-sequence.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, StreamRenderer, Written } from '../format.ts'
import { inOneLane } from '../lanes.ts'
import { BlockEvents } from './block-events.ts'
import { failedStream, messageStart } from './message-events.ts'
import { MessageRelay } from './relay-stream.ts'
import { besideDelta, endingUsage, stopMembers } from './stop.ts'
import { type EndingSink, thinkingBehindText } from './unasked-thinking.ts'

/** Writes `message_start`, the blocks, `message_delta` with the stop reason and usage, `message_stop`, and `[DONE]`. */
export const openStream = (head: AnswerHead): StreamRenderer<Written> =>
  endingOnce(inOneLane<Written>('messages', { relay: () => new MessageRelay(head), render: () => new MessageStream(head) }))

class MessageStream implements StreamRenderer {
  readonly #head: AnswerHead
  readonly #events = new BlockEvents()
  readonly #sink: EndingSink
  readonly #blocks: BlockSequence
  readonly #ending = watchEnding()
  #started = false

  constructor(head: AnswerHead) {
    this.#head = head
    this.#sink = thinkingBehindText(this.#events, head)
    this.#blocks = new BlockSequence(this.#sink, head.keep)
  }

  frames(frames: readonly Frame[]): string {
    const start = frames.length > 0 ? this.#start(frames) : ''
    for (const frame of frames) {
      for (const event of frame.events) {
        this.#ending.see(event)
        this.#blocks.push(event)
      }
    }
    return start + this.#events.take()
  }

  finish(tail: AnswerTail): string {
    const start = this.#start([])
    this.#blocks.end()
    this.#sink.end()
    const end = { delta: stopMembers(this.#ending), usage: endingUsage(tail, this.#ending), ...besideDelta(this.#ending) }
    const delta = JSON.stringify({ type: 'message_delta', ...end })
    const stop = JSON.stringify({ type: 'message_stop', ...metadataMember(tail) })
    return `${start}${this.#events.take()}${eventFrame('message_delta', delta)}${eventFrame('message_stop', stop)}${DONE_FRAME}`
  }

  fail(error: GatewayError, tail: AnswerTail | null): string {
    return failedStream(error, tail)
  }

  #start(frames: readonly Frame[]): string {
    if (this.#started) return ''
    this.#started = true
    return messageStart(this.#head, frames)
  }
}
