/** A whole message of an upstream that speaks this dialect itself: its own text, but for the members that are ours. */
import { dialectId, metadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { bodyOfParsed, identityMembers } from '../relay-text.ts'
import { relayedUsage } from './usage.ts'

/** `native` is JSON that the adapter has parsed. */
export const relayAnswer = (head: AnswerHead, native: string, tail: AnswerTail): string => {
  const body = bodyOfParsed(native)
  const changes: Record<string, string> = {
    ...identityMembers(dialectId('msg', head), head),
    usage: mergedUsage(body.raw('usage') ?? null, relayedUsage(tail)),
  }
  for (const [field, value] of Object.entries(metadataMember(tail))) changes[field] = JSON.stringify(value)
  return body.textWith(changes)
}
