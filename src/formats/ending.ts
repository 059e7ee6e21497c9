/** Records how an answer ended, from its events. */
import type { ClientDialect } from '../canonical/call.ts'
import type { FinishReason, ModelEvent } from '../canonical/event.ts'
import type { JsonObject } from '../lib/json/json.ts'

export interface Ending {
  /** Records an event. */
  see(event: ModelEvent): void
  /** True once the model itself has ended. */
  readonly reported: boolean
  /**
   * The reason why the model ended. Some upstreams say `stop` even after tool calls and refusals, and some `tool_calls` without a call; but
   * clients decide by the reason whether to run tools, so it is corrected here (docs/contract/chat-completions.md#answer).
   */
  readonly reason: FinishReason
  /** The upstream's own reason; null if it gave none. */
  readonly native: string | null
  /** The stop sequence that ended the answer; null if there was none or the provider does not name it. */
  readonly stopSequence: string | null
  /** The model refused, in its own words. */
  readonly refusal: string | null
  /** The members of a provider's answer for a client of its own dialect. */
  own(dialect: ClientDialect): JsonObject
}

export const watchEnding = (): Ending => {
  let reported = false
  let said: FinishReason = 'stop'
  let native: string | null = null
  let stopSequence: string | null = null
  let refusal: string | null = null
  let called = false
  const own: Partial<Record<ClientDialect, JsonObject>> = {}
  return {
    see(event) {
      if (event.type === 'finish') {
        reported = true
        said = event.reason
        native = event.native
        stopSequence = event.stopSequence ?? null
      } else if (event.type === 'tool-call') called = true
      else if (event.type === 'own-members') own[event.dialect] = { ...own[event.dialect], ...event.members }
      else if (event.type === 'refusal' && event.text !== '') refusal = (refusal ?? '') + event.text
    },
    get reported() {
      return reported
    },
    get reason() {
      if (said === 'tool_calls' ? called : said !== 'stop') return said
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
    own: (dialect) => own[dialect] ?? {},
  }
}
