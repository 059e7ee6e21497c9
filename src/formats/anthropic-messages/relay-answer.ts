/** A whole message of an upstream that speaks this dialect itself: its own text, but for the members that are ours. */
import type { JsonBody } from '../../lib/json-body.ts'
import { editElements, editMembers } from '../../lib/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'
import { dialectId, metadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed, identityMembers } from '../relay-text.ts'
import { endUsage } from './usage.ts'

/** `native` is JSON that the adapter has parsed. */
export const relayAnswer = (head: AnswerHead, native: string, tail: AnswerTail): string => {
  const body = bodyOfParsed(native)
  const changes: Record<string, string | null> = {
    ...missingMembers(body, MESSAGE_NEEDS),
    ...citedContent(body),
    ...identityMembers(dialectId('msg', head), head),
    usage: endUsage(body.raw('usage'), tail, head.inputTokensEstimate),
  }
  for (const [field, value] of Object.entries(metadataMember(tail))) changes[field] = JSON.stringify(value)
  return body.textWith(changes)
}

/** Some upstreams say null for no sources, where the schemas of strict clients want a list. */
const citedContent = (body: JsonBody): Readonly<Record<string, string>> => {
  const [content, raw] = NO_SOURCES.test(body.searchable) ? [body.value('content'), body.raw('content')] : []
  if (!Array.isArray(content) || raw === undefined) return {}
  const blocks: readonly JsonValue[] = content
  const isBare = (block: JsonValue | undefined): boolean => isObject(block) && block['type'] === 'text' && block['citations'] === null
  return { content: editElements(raw, (text, index) => (isBare(blocks[index]) ? editMembers(text, { citations: '[]' }) : text)) }
}

const NO_SOURCES = /"citations"\s*:\s*null/

/** JSON texts of what an end says (docs/contract/messages.md#answer). */
export const END_NEEDS = { stop_reason: 'null', stop_sequence: 'null', stop_details: 'null', container: 'null' }

export const MESSAGE_NEEDS = { type: '"message"', role: '"assistant"', content: '[]', ...END_NEEDS }
