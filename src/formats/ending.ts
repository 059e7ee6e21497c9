/** How an answer ended, gathered from its events. */
import type { FinishReason, ModelEvent } from '../canonical/event.ts'

export interface Ending {
  /** Takes note of an event. */
  see(event: ModelEvent): void
  /** The model has ended by itself. */
  readonly reported: boolean
  /**
   * The reason why the model ended. Upstreams say `stop` also after tool calls and refusals; clients decide by the reason whether
   * to run tools, so it is corrected here (docs/contract/chat-completions.md#answer).
   */
  readonly reason: FinishReason
  /** The upstream's own word; null where it said none. */
  readonly native: string | null
  /** The stop sequence that ended it; null where none did, or the provider does not name it. */
  readonly stopSequence: string | null
  /** The model refused, in its own words. */
  readonly refusal: string | null
}

export const watchEnding = (): Ending => {
  let reported = false
  let said: FinishReason = 'stop'
  let native: string | null = null
  let stopSequence: string | null = null
  let refusal: string | null = null
  let called = false
  return {
    see(event) {
      if (event.type === 'finish') {
        reported = true
        said = event.reason
        native = event.native
        stopSequence = event.stopSequence ?? null
      } else if (event.type === 'tool-call') called = true
      else if (event.type === 'refusal' && event.text !== '') refusal = (refusal ?? '') + event.text
    },
    get reported() {
      return reported
    },
    get reason() {
      if (said !== 'stop') return said
      if (refusal !== null) return 'content_filter'
      return called ? 'tool_calls' : 'stop'
    },
    get native() {
      return native
    },
    get stopSequence() {
      return stopSequence
    },
    get refusal() {
      return refusal
    },
  }
}
