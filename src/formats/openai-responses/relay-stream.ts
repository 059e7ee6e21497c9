/**
 * Relays the stream of an upstream that speaks this dialect: its own events except for the members that the service owns. The end
 * is held back until the cost is known.
 */
import type { Frame } from '../../canonical/event.ts'
import { TERMINAL } from '../../canonical/responses-protocol.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { DONE_FRAME, eventFrame } from '../../lib/network/sse.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { errorMetadataMember, metadataMember, withoutVendorsTier } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, StreamRenderer, Written } from '../format.ts'
import { writtenInSteps } from '../written-in-steps.ts'
import { bodyOfParsed, eventType, hasLargeText, nativeText, oneLine } from '../relay-text.ts'
import { completeEvent } from './complete-event.ts'
import { completeItem, lacksMembers } from './complete-item.ts'
import { outcomeOf, outcomeOfFailure } from './outcome.ts'
import { relayedResponse, responseIdentity } from './relay-answer.ts'
import { type RelayProgress, watchProgress } from './relay-progress.ts'
import { missingOfResponse, responseWriter } from './response-object.ts'
import type { ResponseState } from './response-object.ts'

export class ResponseRelay implements StreamRenderer<Written> {
  readonly #head: AnswerHead
  readonly #ending = watchEnding()
  readonly #progress: RelayProgress
  /** JSON text of the upstream's terminal event; null until it arrives. */
  #terminal: string | null = null
  /** The upstream's `response.created` event: an end that the service writes states the same time. */
  #created: string | null = null
  /** The number of events sent, which is the number of the next one. */
  #count = 0

  constructor(head: AnswerHead) {
    this.#head = head
    this.#progress = watchProgress(head.keep)
  }

  frames(frames: readonly Frame[]): Written {
    const relaying = this.#frames(frames)
    return frames.some(hasLargeText) ? writtenInSteps(relaying) : atOnce(relaying)
  }

  *#frames(frames: readonly Frame[]): Steps<string> {
    let out = ''
    for (const frame of frames) {
      for (const event of frame.events) this.#ending.see(event)
      const json = nativeText(frame, 'responses')
      if (json === null || this.#terminal !== null) continue
      const type = eventType(json)
      this.#progress.see(type, json, frame.events)
      out += yield* this.#relay(type, json)
    }
    return out
  }

  finish(tail: AnswerTail): Written {
    if (this.#terminal === null) {
      const outcome = outcomeOf(this.#ending)
      const output = this.#output()
      return this.#end({ outcome, output, tail, more: metadataMember(tail) })
    }
    const ending = this.#relayedEnd(this.#terminal, tail)
    return this.#terminal.length > LARGE_BYTES ? writtenInSteps(ending) : atOnce(ending)
  }

  *#relayedEnd(terminal: string, tail: AnswerTail): Steps<string> {
    const type = eventType(terminal)
    const body = bodyOfParsed(yield* completeEvent(type, terminal, this.#count, []))
    yield
    const relayed = bodyOfParsed(responseOf(body))
    yield
    const response = yield* relayedResponse(this.#head, relayed, tail)
    yield
    return eventFrame(type, oneLine(body.textWith({ response }))) + DONE_FRAME
  }

  fail(error: GatewayError, tail: AnswerTail | null): string {
    return this.#end({
      outcome: outcomeOfFailure(error),
      output: this.#output(),
      tail,
      more: errorMetadataMember(error, tail),
    })
  }

  *#relay(type: string, json: string): Steps<string> {
    if (TERMINAL.has(type)) {
      this.#head.keep?.(json.length)
      this.#terminal = json
      return ''
    }
    // Upstreams also send events that only keep a connection alive, and clients fail on unknown event names.
    if (!OWN_EVENT.test(type)) return ''
    if (type === 'response.created') this.#created = json
    const whole = yield* completeEvent(type, json, this.#count, this.#progress.begun)
    this.#count += 1
    if (json.length > LARGE_BYTES) yield
    const event = eventFrame(type, oneLine(LIFECYCLE.has(type) ? this.#withOurs(whole) : whole))
    return type === 'response.created' ? event + this.#echo() : event
  }

  #withOurs(json: string): string {
    const body = bodyOfParsed(json)
    const response = bodyOfParsed(responseOf(body))
    const changes = { ...missingOfResponse(response, this.#head, null), ...responseIdentity(this.#head), ...withoutVendorsTier(response) }
    return body.textWith({ response: response.textWith(changes) })
  }

  /** Written directly after `response.created`: an event for each body that was sent upstream (docs/contract/debugging.md#echo). */
  #echo(): string {
    const first = this.#count
    const { echoes = [] } = this.#head
    this.#count += echoes.length
    return echoes
      .map(({ body }, index) =>
        eventFrame('response.debug', `{"type":"response.debug","debug":{"echo_upstream_body":${body}},"sequence_number":${first + index}}`),
      )
      .join('')
  }

  #output(): readonly string[] {
    return this.#progress.output().map((item, at) => (lacksMembers(item) ? atOnce(completeItem(item, at, 'completed')) : item))
  }

  /** Writes our own terminal event, with the whole response object. */
  #end(state: ResponseState): string {
    const type = `response.${state.outcome.status}`
    const created = bodyOfParsed(responseOf(bodyOfParsed(this.#created ?? '{}'))).get('created_at')
    const head = typeof created === 'number' ? { ...this.#head, createdSeconds: created } : this.#head
    const response = responseWriter(head)(state)
    return eventFrame(type, `{"type":"${type}","response":${oneLine(response)},"sequence_number":${this.#count}}`) + DONE_FRAME
  }
}

const responseOf = (event: JsonBody): string => event.raw('response') ?? '{}'

const LIFECYCLE: ReadonlySet<string> = new Set(['response.queued', 'response.created', 'response.in_progress'])

const OWN_EVENT = /^response\.[\w.]+$/
