/** Renders a response as a stream of lifecycle events (docs/contract/responses.md#stream). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { DONE_FRAME, eventFrame } from '../../lib/network/sse.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import { endingOnce, errorMetadataMember, metadataMember } from '../answer-parts.ts'
import { BlockSequence } from '../block-sequence.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, Echo, StreamRenderer, Written } from '../format.ts'
import { inOneLane } from '../lanes.ts'
import { IN_PROGRESS, outcomeOf, outcomeOfFailure } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { OutputItems } from './output-items.ts'
import { ResponseRelay } from './relay-stream.ts'
import { responseWriter } from './response-object.ts'
import type { ResponseState } from './response-object.ts'

/** Writes `response.created`, the items, one terminal event with the full response, and `[DONE]`. */
export const openStream = (head: AnswerHead): StreamRenderer<Written> =>
  endingOnce(inOneLane('responses', { relay: () => new ResponseRelay(head), render: () => new ResponseStream(head) }))

class ResponseStream implements StreamRenderer<Written> {
  readonly #response: (state: ResponseState) => string
  readonly #items: OutputItems
  readonly #blocks: BlockSequence
  readonly #ending = watchEnding()
  readonly #echoes: readonly Echo[]
  #out = ''
  /** The pieces before `#out`, if one of them is long. */
  #before: string[] = []
  #sequence = 0

  constructor(head: AnswerHead) {
    this.#echoes = head.echoes ?? []
    this.#response = responseWriter(head)
    this.#items = new OutputItems(head, (type, members) => this.#emit(type, members))
    this.#blocks = new BlockSequence(this.#items, head.keep)
  }

  frames(frames: readonly Frame[]): Written {
    if (frames.length > 0) this.#begin()
    for (const frame of frames) {
      for (const event of frame.events) {
        this.#ending.see(event)
        this.#blocks.push(event)
      }
    }
    return this.#take()
  }

  finish(tail: AnswerTail): Written {
    this.#begin()
    const outcome = outcomeOf(this.#ending)
    this.#closeItems(outcome)
    return this.#terminal({ outcome, output: this.#items.done, tail, more: { ...this.#ending.own('responses'), ...metadataMember(tail) } })
  }

  /** Items that a real failure leaves open get no `done` event, because agents run a tool call as soon as its item is done. */
  fail(error: GatewayError, tail: AnswerTail | null): Written {
    this.#begin()
    const outcome = outcomeOfFailure(error)
    if (outcome.status === 'incomplete') this.#closeItems(outcome)
    return this.#terminal({
      outcome,
      output: this.#items.soFar(),
      tail,
      more: errorMetadataMember(error, tail),
    })
  }

  #begin(): void {
    if (this.#sequence > 0) return
    const response = `"response":${this.#response({ outcome: IN_PROGRESS, output: [], tail: null })}`
    this.#emit('response.created', response)
    for (const { body } of this.#echoes) this.#emit('response.debug', `"debug":{"echo_upstream_body":${body}}`)
    this.#emit('response.in_progress', response)
  }

  #closeItems(outcome: Outcome): void {
    if (outcome.status === 'incomplete') this.#items.cutShort()
    this.#blocks.end()
    this.#items.closeLast()
  }

  #terminal(state: ResponseState): Written {
    this.#emit(`response.${state.outcome.status}`, `"response":${this.#response(state)}`)
    this.#out += DONE_FRAME
    return this.#take()
  }

  #emit(type: string, members: string): void {
    const event = eventFrame(type, `{"type":"${type}",${members},"sequence_number":${this.#sequence}}`)
    this.#sequence += 1
    if (event.length > LARGE_BYTES) {
      this.#before.push(this.#out, event)
      this.#out = ''
    } else this.#out += event
  }

  #take(): Written {
    const out = this.#out
    this.#out = ''
    if (this.#before.length === 0) return out
    const pieces = [...this.#before, out]
    this.#before = []
    return pieces
  }
}
