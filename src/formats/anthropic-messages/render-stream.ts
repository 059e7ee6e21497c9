/** A message as a stream of its events (contract 3.6). */
import type { Frame } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { DONE_FRAME, eventFrame } from '../../lib/sse.ts'
import { dialectId, endingOnce, metadataMember } from '../answer-parts.ts'
import { BlockSequence } from '../block-sequence.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, StreamRenderer } from '../format.ts'
import { BlockEvents } from './block-events.ts'
import { errorBody } from './render-error.ts'
import { stopMembers } from './stop.ts'
import { messagesUsage, startUsage } from './usage.ts'

/** `message_start`, the blocks, `message_delta` with reason and usage, `message_stop`, `[DONE]`. */
export const openStream = (head: AnswerHead): StreamRenderer => endingOnce(new MessageStream(head))

class MessageStream implements StreamRenderer {
  readonly #head: AnswerHead
  readonly #events = new BlockEvents()
  readonly #blocks = new BlockSequence(this.#events)
  readonly #ending = watchEnding()
  #started = false

  constructor(head: AnswerHead) {
    this.#head = head
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
    const delta = JSON.stringify({ type: 'message_delta', delta: stopMembers(this.#ending), usage: messagesUsage(tail) })
    const stop = JSON.stringify({ type: 'message_stop', ...metadataMember(tail) })
    return `${start}${this.#events.take()}${eventFrame('message_delta', delta)}${eventFrame('message_stop', stop)}${DONE_FRAME}`
  }

  fail(error: GatewayError, tail: AnswerTail | null): string {
    return eventFrame('error', JSON.stringify(errorBody(error, tail))) + DONE_FRAME
  }

  #start(frames: readonly Frame[]): string {
    if (this.#started) return ''
    this.#started = true
    const { model, provider, inputTokensEstimate } = this.#head
    const message = {
      id: dialectId('msg', this.#head),
      type: 'message',
      role: 'assistant',
      model,
      provider,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: startUsage(lastUsage(frames), inputTokensEstimate),
    }
    return eventFrame('message_start', JSON.stringify({ type: 'message_start', message }))
  }
}

const lastUsage = (frames: readonly Frame[]): Usage | null => {
  let usage: Usage | null = null
  for (const frame of frames) for (const event of frame.events) if (event.type === 'usage') usage = event.usage
  return usage
}
