import type { FinishReason } from '../../canonical/event.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Ending } from '../ending.ts'

/** Messages' words for the ends of an answer. */
export const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/** The members that say why a message ended (docs/contract/messages.md#answer). */
export const stopMembers = (ending: Ending): JsonObject => {
  const stopSequence = ending.reason === 'stop' ? ending.stopSequence : null
  const reason = stopSequence === null ? STOP_REASONS[ending.reason] : 'stop_sequence'
  return {
    stop_reason: reason,
    stop_sequence: stopSequence,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: ending.refusal } : null,
    container: null,
  }
}
