/**
 * Handles items that a client references instead of sending them, as programs do that assume their answers are stored: an
 * `item_reference` (which may lack its type) and an image without its bytes. Nothing is stored here, and a provider must not look
 * them up in the operator's account, which also holds other clients' items.
 */
import type { Warning } from '../../canonical/warning.ts'
import { shortText } from '../findings.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps } from '../../lib/json/json-splice.ts'
import { isList, isObject, type JsonValue } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { includesInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'

/** Removes all references. One to an item of the same request adds nothing; any other gets a warning. */
export function* withoutReferences(body: JsonBody): Steps<{ readonly body: JsonBody; readonly warnings: readonly Warning[] }> {
  const [input, raw] = (yield* mayHoldReference(body.searchable)) ? [body.value('input'), body.raw('input')] : []
  if (!isList(input) || raw === undefined) return { body, warnings: [] }
  const sent = new Set(input.map((item) => (isReference(item) ? undefined : idOf(item))))
  const warnings: Warning[] = []
  const kept = yield* editElementsInSteps(raw, (text, index) => {
    const item = input[index]
    if (!isReference(item)) return text
    const id = idOf(item)
    if (id === undefined || !sent.has(id)) warnings.push(unknownItem(`input[${index}]`, id))
    return null
  })
  return { body: kept === raw ? body : yield* body.changing({ input: kept }), warnings }
}

function* mayHoldReference(json: string): Steps<boolean> {
  if ((yield* lookForName(REFERENCE, json)) || (yield* includesInSteps(json, '"image_generation_call"'))) return true
  return (yield* includesInSteps(json, '"id"')) && (yield* testInSteps(UNTYPED, json))
}

const REFERENCE = /item_reference/

/** Matches an object that has an id and no type, and any object with a long id, which might be one. */
const UNTYPED = /\{\s*(?:"type"\s*:\s*null\s*,\s*)?"id"\s*:\s*"(?:[^"]{0,64}"\s*(?:,\s*"type"\s*:\s*null\s*)?\}|[^"]{65})/

const unknownItem = (field: string, id: string | undefined): Warning => {
  const named = id === undefined ? 'The item' : shortText(id)
  return { code: 'unsupported_field', field, message: `${named} is not in this request, and nothing is stored here; it was left out.` }
}

const isReference = (item: JsonValue | undefined): boolean => {
  if (!isObject(item)) return false
  const type = item['type'] ?? null
  if (type === 'image_generation_call') return (item['result'] ?? '') === ''
  return type === 'item_reference' || (type === null && !Object.hasOwn(item, 'role') && idOf(item) !== undefined)
}

const idOf = (item: JsonValue | undefined): string | undefined => {
  const id = isObject(item) ? item['id'] : undefined
  return typeof id === 'string' ? id : undefined
}
