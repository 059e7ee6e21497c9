/**
 * Repairs calls and outputs in the history of a client of the same dialect: OpenAI refuses the whole request for a call without an output,
 * an output that belongs to no call, or an output without content. After an interruption, agents send such items in every later request.
 * A call that runs in the background (`async`) may be answered in any later request (OpenAI's guide "Async tool calling"), and an output
 * may name its tool in place of a call.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { editElementsInSteps, editMembers, rawMember } from '../../lib/json/json-splice.ts'
import { isObject, type JsonValue, textOf } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { loneResult, pairingRepairs, type Repairs } from '../tools/paired-results.ts'

/** Calls whose output is text. Outputs of other calls have forms of their own, so they are neither made nor changed. */
const OUTPUT_TYPES: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}
const TEXT_OUTPUTS: ReadonlySet<string> = new Set(Object.values(OUTPUT_TYPES))

/** True if a request may hold such a call or output; otherwise its history is not read. */
export const mayHoldCalls = (searchable: string): Steps<boolean> => lookForName(CALLS, searchable)

const CALLS = /"(?:function|custom_tool)_call(?:_output)?"/

/**
 * JSON text for `input`; null if it can be sent as it is. `items` are its parsed items; `textOf` returns its text and is called only if
 * something changes. An output may come anywhere. A compacted history may hold a call in a part that cannot be read here, so it stays as it
 * is.
 */
export function* lawfulInput(textOf: () => string, items: readonly JsonValue[], warn: (warning: Warning) => void): Steps<string | null> {
  const types = items.map(typeOf)
  if (!types.some((type) => Object.hasOwn(OUTPUT_TYPES, type) || TEXT_OUTPUTS.has(type)) || types.some(isCompaction)) return null
  yield
  const answeredLater = new Set(items.flatMap((item) => (isObject(item) && item['async'] === true ? [item['call_id']] : [])))
  const skeleton = yield* mapInSteps(items, (item, place) => skeletonOf(item, place, answeredLater))
  const repairs = yield* pairingRepairs(skeleton, { openEnd: false })
  const isSilent = (place: number): boolean => TEXT_OUTPUTS.has(types[place] ?? '') && saysNothing(items[place])
  if (repairs === null && !items.some((_, place) => isSilent(place))) return null
  yield
  const { lone, late, due } = repairs ?? NOTHING_TO_REPAIR
  const outputTypes = new Map(items.flatMap((item, place) => (isObject(item) ? [[item['call_id'], OUTPUT_TYPES[types[place] ?? '']]] : [])))
  const text = textOf()
  const lawful = yield* editElementsInSteps(text, function* (item, place) {
    const { parts = [], at } = skeleton[place] ?? {}
    const isLone = TEXT_OUTPUTS.has(types[place] ?? '') && parts.some((part) => lone.has(part))
    const owed = due.get(place) ?? []
    if (owed.length === 0 && !isLone && !isSilent(place)) return item
    yield
    if (isLone) warn(loneResult(at))
    const said = isSilent(place) ? editMembers(item, { output: '""' }) : item
    const missing = owed.flatMap(({ result, warning }) => {
      const type = late.has(result) ? undefined : outputTypes.get(result.callId)
      if (type === undefined) return []
      warn(warning)
      return [JSON.stringify({ type, call_id: result.callId, output: result.text })]
    })
    return [isLone ? `{"type":"message","role":"user","content":${rawMember(said, 'output') ?? '""'}}` : said, ...missing].join(',')
  })
  return lawful === text ? null : lawful
}

const NOTHING_TO_REPAIR: Repairs = { lone: new Set(), late: new Set(), due: new Map() }

const saysNothing = (item: JsonValue | undefined): boolean => isObject(item) && (item['output'] ?? null) === null

const typeOf = (item: JsonValue): string => (isObject(item) && typeof item['type'] === 'string' ? item['type'] : 'message')

const isCompaction = (type: string): boolean => type.startsWith('compaction')

/** The call or the output of an item, unless it needs no counterpart; everything else in it is left out. */
const skeletonOf = (item: JsonValue, place: number, answeredLater: ReadonlySet<unknown>): Message => {
  const at = `input[${place}]`
  const type = typeOf(item)
  const { call_id: id = null, name, role } = isObject(item) ? item : {}
  const stands = answeredLater.has(id) || (type === 'function_call_output' && id === null && typeof name === 'string')
  if (type.endsWith('_output')) return { role: 'user', at, parts: stands ? [] : [{ type: 'tool-result', callId: textOf(id), text: '' }] }
  if (type === 'message') return { role: role === 'assistant' ? 'assistant' : 'user', at, parts: [] }
  const isCall = type.endsWith('_call') && typeof id === 'string' && !stands
  const call: Part[] = isCall ? [{ type: 'tool-call', id, name: typeof name === 'string' ? name : type, arguments: '' }] : []
  return { role: 'assistant', at, parts: call }
}
