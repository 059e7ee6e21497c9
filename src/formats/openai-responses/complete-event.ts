/** Adds to an upstream's event what strict clients need and some upstreams omit (docs/contract/responses.md#stream). */
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed } from '../relay-text.ts'
import { completeItem, completePart, completeSource, lacksMembers } from './complete-item.ts'

/**
 * Returns the event's own text if nothing is missing and it has its number in the stream. A text search is enough to know, because a
 * quote within a JSON string is preceded by a backslash. `begun`: the earlier events that began an item.
 */
export function* completeEvent(type: string, json: string, number: number, begun: readonly string[]): Steps<string> {
  const needed = neededBy(type, json, begun)
  if (needed === null && json.length <= LARGE_BYTES && Number(NUMBER.exec(json)?.[1]) === number) return json
  const body = bodyOfParsed(json)
  if (json.length > LARGE_BYTES) yield
  const item = ITEM_EVENTS.has(type) ? body.raw('item') : undefined
  const part = PART_EVENTS.has(type) ? body.raw('part') : undefined
  const annotation = type === SOURCE_EVENT ? body.raw('annotation') : undefined
  return body.textWith({
    ...missingMembers(body, needed ?? {}),
    ...(body.get('sequence_number') === number ? {} : { sequence_number: String(number) }),
    ...(item === undefined ? {} : { item: yield* completeItem(item, Number(body.get('output_index') ?? 0), statusIn(type)) }),
    ...(part === undefined ? {} : { part: yield* completePart(part) }),
    ...(annotation === undefined ? {} : { annotation: completeSource(annotation) }),
  })
}

const NUMBER = /"sequence_number"\s*:\s*(\d+)\b/

/** Returns the missing members as JSON texts by name; null if the event is complete. */
const neededBy = (type: string, json: string, begun: readonly string[]): JsonTexts | null => {
  // A long text is parsed to find its members, because many quotes make each search take tens of milliseconds.
  const isLong = json.length > LARGE_BYTES
  if (TEXT_EVENTS.has(type)) return !isLong && json.includes('"logprobs"') ? null : { logprobs: '[]' }
  if (type === 'response.function_call_arguments.done') return !isLong && json.includes('"name"') ? null : nameOf(json, begun)
  if (type === SOURCE_EVENT) return SOURCE_MEMBERS.every((name) => json.includes(`"${name}"`)) ? null : {}
  return (ITEM_EVENTS.has(type) || PART_EVENTS.has(type)) && (isLong || lacksMembers(json)) ? {} : null
}

type JsonTexts = Readonly<Record<string, string>>

const TEXT_EVENTS: ReadonlySet<string> = new Set(['response.output_text.delta', 'response.output_text.done'])
const ITEM_EVENTS: ReadonlySet<string> = new Set(['response.output_item.added', 'response.output_item.done'])
const PART_EVENTS: ReadonlySet<string> = new Set(['response.content_part.added', 'response.content_part.done'])
const statusIn = (type: string): 'in_progress' | 'completed' => (type === 'response.output_item.added' ? 'in_progress' : 'completed')
const SOURCE_EVENT = 'response.output_text.annotation.added'
const SOURCE_MEMBERS = ['title', 'start_index', 'end_index']

/** The name of the call whose arguments the event carries. */
const nameOf = (json: string, begun: readonly string[]): JsonTexts | null => {
  const index = bodyOfParsed(json).get('output_index')
  // It is nearly always the last one, and an answer may have thousands of items.
  const event = begun.findLast((each) => bodyOfParsed(each).get('output_index') === index)
  const item = event === undefined ? undefined : bodyOfParsed(event).raw('item')
  const name = item === undefined ? undefined : bodyOfParsed(item).raw('name')
  return name === undefined ? null : { name }
}
