/**
 * Relays the stream of an upstream that speaks this dialect: its own events except for the members that the service owns. The end
 * is held back until the cost is known.
 */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { DONE_FRAME, eventFrame } from '../../lib/network/sse.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { dialectId, metadataMember } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, StreamRenderer, Written } from '../format.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed, eventType, hasLargeText, identityMembers, nativeText, oneLine } from '../relay-text.ts'
import { writtenInSteps } from '../written-in-steps.ts'
import { failedStream, messageStart } from './message-events.ts'
import { stopMembers } from './stop.ts'
import { END_NEEDS, MESSAGE_NEEDS, unsaidReason } from './relay-answer.ts'
import { completeUsage, messagesUsage, endUsage } from './usage.ts'

export class MessageRelay implements StreamRenderer<Written> {
  readonly #head: AnswerHead
  readonly #ending = watchEnding()
  #started = false
  /** The indices, as JSON, of blocks that the upstream has started but not stopped. */
  readonly #open = new Set<string>()
  /** JSON texts of the upstream's last `message_delta` and `message_stop`; null until they arrive. */
  #delta: string | null = null
  #stop: string | null = null

  constructor(head: AnswerHead) {
    this.#head = head
  }

  frames(frames: readonly Frame[]): Written {
    const relaying = this.#frames(frames)
    return frames.some(hasLargeText) ? writtenInSteps(relaying) : atOnce(relaying)
  }

  *#frames(frames: readonly Frame[]): Steps<string> {
    let out = ''
    for (const frame of frames) {
      for (const event of frame.events) this.#ending.see(event)
      const json = nativeText(frame, 'messages')
      if (json === null) continue
      const type = eventType(json)
      out += type === 'message_start' ? yield* this.#start(json) : this.#relay(type, json)
    }
    return out
  }

  finish(tail: AnswerTail): string {
    const start = this.#started ? '' : messageStart(this.#head, [])
    return `${start}${this.#closeBlocks()}${this.#endDelta(tail)}${this.#endStop(tail)}${DONE_FRAME}`
  }

  fail(error: GatewayError, tail: AnswerTail | null): string {
    return failedStream(error, tail)
  }

  #relay(type: string, json: string): string {
    switch (type) {
      case 'content_block_delta':
        return eventFrame(type, oneLine(json))
      case 'message_delta': {
        // All but the last are passed on at once; only the usage of the last one counts.
        const before = this.#delta
        this.#delta = json
        return this.#closeBlocks() + (before === null ? '' : eventFrame(type, oneLine(before)))
      }
      case 'message_stop':
        this.#stop = json
        return ''
      case 'content_block_start':
        if (INDEX.test(indexOf(json))) this.#open.add(indexOf(json))
        return eventFrame(type, oneLine(json))
      case 'content_block_stop':
        this.#open.delete(indexOf(json))
        return eventFrame(type, oneLine(json))
      default:
        // Some clients fail on an event name that they do not know (docs/contract/messages.md#stream); pings are sent by the service
        // itself.
        return CONTENT.test(type) ? eventFrame(type, oneLine(json)) : ''
    }
  }

  *#start(json: string): Steps<string> {
    if (this.#started) return ''
    this.#started = true
    const isLarge = json.length > LARGE_BYTES
    const body = bodyOfParsed(json)
    if (isLarge) yield
    const reported = bodyOfParsed(objectText(body.raw('message')))
    if (isLarge) yield
    const message = reported.textWith({
      ...missingMembers(reported, MESSAGE_NEEDS),
      ...identityMembers(dialectId('msg', this.#head), this.#head),
      usage: completeUsage(reported.raw('usage'), this.#head),
    })
    if (isLarge) yield
    return eventFrame('message_start', oneLine(body.textWith({ message })))
  }

  /** Clients treat a block as complete only once it has stopped, and some servers never stop one. */
  #closeBlocks(): string {
    const stops = [...this.#open].map((index) => eventFrame('content_block_stop', `{"type":"content_block_stop","index":${index}}`))
    this.#open.clear()
    return stops.join('')
  }

  #endDelta(tail: AnswerTail): string {
    if (this.#delta === null) {
      const delta = JSON.stringify({ type: 'message_delta', delta: stopMembers(this.#ending), usage: messagesUsage(tail) })
      return eventFrame('message_delta', delta)
    }
    const body = bodyOfParsed(this.#delta)
    const reported = bodyOfParsed(objectText(body.raw('delta')))
    const delta = reported.textWith({ ...missingMembers(reported, END_NEEDS), ...unsaidReason(reported, this.#ending) })
    const usage = endUsage(body.raw('usage'), tail, this.#head)
    return eventFrame('message_delta', oneLine(body.textWith({ delta, usage })))
  }

  #endStop(tail: AnswerTail): string {
    const metadata = Object.entries(metadataMember(tail)).map(([field, value]): [string, string] => [field, JSON.stringify(value)])
    const stop = bodyOfParsed(this.#stop ?? '{"type":"message_stop"}')
    return eventFrame('message_stop', oneLine(stop.textWith(Object.fromEntries(metadata))))
  }
}

const CONTENT = /^(?:content_block|message)_\w+$/

const indexOf = (json: string): string => bodyOfParsed(json).raw('index') ?? ''

const INDEX = /^\d{1,9}$/

/** Returns `{}` if the upstream left the object out or wrote something else. */
const objectText = (json: string | undefined): string => (json?.startsWith('{') === true ? json : '{}')
