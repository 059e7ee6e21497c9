/** Adds to an upstream's output items what strict clients need and some upstreams omit (docs/contract/responses.md#answer). */
import { ITEM_PREFIXES } from '../../canonical/responses-protocol.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonChanges } from '../../lib/json/json.ts'
import { editElements, editElementsInSteps } from '../../lib/json/json-splice.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed } from '../relay-text.ts'

/** Returns the items of a whole response as JSON text; complete items stay as written. */
export function* completeOutput(output: string): Steps<string> {
  if (output.length > LARGE_BYTES) {
    yield
    return yield* editElementsInSteps(output, (item, at) => completeItem(item, at, 'completed'))
  }
  return lacksMembers(output)
    ? editElements(output, (item, at) => (lacksMembers(item) ? atOnce(completeItem(item, at, 'completed')) : item))
    : output
}

/**
 * Returns true if a member is missing. It searches the text, which is slow in a long text full of quotes; a quote within a JSON
 * string is preceded by a backslash.
 */
export const lacksMembers = (json: string): boolean =>
  NEEDS.some(([kind, ...members]) => {
    const wanted = count(json, kind)
    return wanted > 0 && members.some((member) => count(json, member) < wanted)
  })

/** `at`: the position of the item in the output, for the id of one without; `status`: that of a message without. */
export function* completeItem(json: string, at: number, status: 'in_progress' | 'completed'): Steps<string> {
  const item = bodyOfParsed(json)
  if (json.length > LARGE_BYTES) yield
  const type = item.get('type')
  const prefix = typeof type === 'string' ? ITEM_PREFIXES[type] : undefined
  if (prefix === undefined) return json
  const id = { id: item.raw('call_id') ?? `"${prefix}_${at}"` }
  if (type === 'reasoning') return changed(item, json, missingMembers(item, { summary: '[]', ...id }))
  if (type !== 'message') return changed(item, json, missingMembers(item, { ...id, call_id: item.raw('id') ?? `"call_${at}"` }))
  const content = item.raw('content')
  const parts = content?.startsWith('[') === true ? yield* editElementsInSteps(content, completePart) : '[]'
  return changed(item, json, {
    ...(parts === content ? {} : { content: parts }),
    ...missingMembers(item, { role: '"assistant"', status: `"${status}"`, ...id }),
  })
}

/** xAI sends only the URL of a page. */
export const completeSource = (json: string): string => {
  const source = bodyOfParsed(json)
  return source.get('type') === 'url_citation'
    ? source.textWith(missingMembers(source, { title: '""', start_index: '0', end_index: '0' }))
    : json
}

/** Returns a part of a message. */
export function* completePart(json: string): Steps<string> {
  const part = bodyOfParsed(json)
  if (json.length > LARGE_BYTES) yield
  if (part.get('type') !== 'output_text') return json
  const annotations = part.raw('annotations')
  const completed = annotations?.startsWith('[') === true ? yield* editElementsInSteps(annotations, completeSource) : '[]'
  return changed(part, json, completed === annotations ? {} : { annotations: completed })
}

const changed = (body: JsonBody, text: string, changes: JsonChanges): string =>
  Object.keys(changes).length === 0 ? text : body.textWith(changes)

/** The members that each kind of object must have. */
const NEEDS: readonly (readonly [kind: RegExp, ...members: readonly RegExp[]])[] = [
  [/"type"\s*:\s*"(?:message|reasoning|function_call|custom_tool_call)"/g, /"id"\s*:/g],
  [/"type"\s*:\s*"(?:function_call|custom_tool_call)"/g, /"call_id"\s*:/g],
  [/"type"\s*:\s*"message"/g, /"role"\s*:/g, /"status"\s*:/g, /"content"\s*:/g],
  [/"type"\s*:\s*"reasoning"/g, /"summary"\s*:/g],
  [/"type"\s*:\s*"output_text"/g, /"annotations"\s*:\s*\[/g],
  [/"type"\s*:\s*"url_citation"/g, /"title"\s*:/g, /"start_index"\s*:/g, /"end_index"\s*:/g],
]

const count = (json: string, pattern: RegExp): number => json.match(pattern)?.length ?? 0
