/** A whole message of an upstream that speaks this dialect itself: its own text, but for the members that are ours. */
import { dialectId, metadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed, identityMembers } from '../relay-text.ts'
import { completeUsage, relayedUsage } from './usage.ts'

/** `native` is JSON that the adapter has parsed. */
export const relayAnswer = (head: AnswerHead, native: string, tail: AnswerTail): string => {
  const body = bodyOfParsed(native)
  const changes: Record<string, string | null> = {
    ...missingMembers(body, MESSAGE_NEEDS),
    ...identityMembers(dialectId('msg', head), head),
    usage: completeUsage(mergedUsage(body.raw('usage') ?? null, relayedUsage(tail)), head.inputTokensEstimate),
  }
  for (const [field, value] of Object.entries(metadataMember(tail))) changes[field] = JSON.stringify(value)
  return body.textWith(changes)
}

/** JSON texts of what an end says (contract 3.5). */
export const END_NEEDS = { stop_reason: 'null', stop_sequence: 'null', stop_details: 'null', container: 'null' }

export const MESSAGE_NEEDS = { type: '"message"', role: '"assistant"', content: '[]', ...END_NEEDS }
