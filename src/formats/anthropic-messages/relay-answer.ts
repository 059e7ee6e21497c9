/** Relays a whole message of an upstream that speaks this dialect: its own text except for the members that the service owns. */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { dialectId, metadataMember } from '../answer-parts.ts'
import type { Ending } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed, identityMembers } from '../relay-text.ts'
import { stopMembers } from './stop.ts'
import { endUsage } from './usage.ts'

/** `native` is JSON text that the adapter has already parsed. */
export function* relayAnswer(head: AnswerHead, native: string, ending: Ending, tail: AnswerTail): Steps<string> {
  const body = bodyOfParsed(native)
  yield
  const changes: Record<string, string | null> = {
    ...missingMembers(body, MESSAGE_NEEDS),
    ...unsaidReason(body, ending),
    ...(yield* citedContent(body)),
    ...identityMembers(dialectId('msg', head), head),
    usage: endUsage(body.raw('usage'), tail, head),
  }
  for (const [field, value] of Object.entries(metadataMember(tail))) changes[field] = JSON.stringify(value)
  return body.textWith(changes)
}

/** Some upstreams write null if there are no citations, but the schemas of strict clients require a list. */
function* citedContent(body: JsonBody): Steps<Readonly<Record<string, string>>> {
  // In large texts full of quotes, the search takes longer than parsing.
  if (body.held.length <= LARGE_BYTES && !NO_SOURCES.test(body.searchable)) return {}
  yield* body.reading(['content'])
  const content = body.value('content')
  const raw = body.raw('content')
  if (!Array.isArray(content) || raw === undefined) return {}
  const blocks: readonly JsonValue[] = content
  const isBare = (block: JsonValue | undefined): boolean => isObject(block) && block['type'] === 'text' && block['citations'] === null
  if (!blocks.some(isBare)) return {}
  const cited = (text: string, index: number): string => (isBare(blocks[index]) ? editMembers(text, { citations: '[]' }) : text)
  return { content: yield* editElementsInSteps(raw, cited) }
}

const NO_SOURCES = /"citations"\s*:\s*null/

/** A client tells by the reason whether to run tools, so a message that is over has one, even if the upstream says none. */
export const unsaidReason = (body: JsonBody, ending: Ending): Readonly<Record<string, string>> =>
  (body.get('stop_reason') ?? '') === '' ? { stop_reason: JSON.stringify(stopMembers(ending)['stop_reason']) } : {}

/** The members of a message's end, with default values as JSON texts (docs/contract/messages.md#answer). */
export const END_NEEDS = { stop_reason: 'null', stop_sequence: 'null', stop_details: 'null', container: 'null' }

export const MESSAGE_NEEDS = { type: '"message"', role: '"assistant"', content: '[]', ...END_NEEDS }
