import type { FinishReason } from '../../canonical/event.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import type { Ending } from '../ending.ts'
import type { AnswerTail } from '../format.ts'
import { messagesUsage } from './usage.ts'

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
  const { stop_reason: own, stop_details: details, container = null } = ending.own('messages')
  const usual = ending.reason === 'length' && typeof own === 'string' ? own : STOP_REASONS[ending.reason]
  const reason = stopSequence === null ? usual : 'stop_sequence'
  return {
    stop_reason: reason,
    stop_sequence: stopSequence,
    stop_details:
      reason === 'refusal' ? { type: 'refusal', category: null, ...(isObject(details) ? details : {}), explanation: ending.refusal } : null,
    container,
  }
}

/** The usage of a message with what only its provider tells. */
export const endingUsage = (tail: AnswerTail, ending: Ending): JsonObject => {
  const own = ownUsage(ending)
  return { ...own, ...messagesUsage(tail), speed: own['speed'] ?? null }
}

export const ownUsage = (ending: Ending): JsonObject => {
  const { usage } = ending.own('messages')
  return isObject(usage) ? usage : {}
}

/** The members of a message that a stream has beside the `delta` of its end. */
export const besideDelta = (ending: Ending): JsonObject =>
  Object.fromEntries(Object.entries(ending.own('messages')).filter(([name]) => !IN_END.has(name)))

const IN_END: ReadonlySet<string> = new Set(['stop_reason', 'stop_details', 'container', 'usage'])
