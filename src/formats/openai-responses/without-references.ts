/**
 * Items that a client names instead of sending them (`item_reference`), as programs do that think their answers are stored.
 * Nothing is stored here, and no provider is to look in the operator's account, where another client's items are.
 */
import type { Warning } from '../../canonical/warning.ts'
import { shortText } from '../findings.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { editElements } from '../../lib/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'

/** One that names an item of the same request says nothing new; one that names another is left out with a warning. */
export const withoutReferences = (body: JsonBody): { readonly body: JsonBody; readonly warnings: readonly Warning[] } => {
  const [input, raw] = body.searchable.includes('item_reference') ? [body.value('input'), body.raw('input')] : []
  if (!isList(input) || raw === undefined) return { body, warnings: [] }
  const sent = new Set(input.map((item) => (isReference(item) ? undefined : idOf(item))))
  const warnings: Warning[] = []
  const kept = editElements(raw, (text, index) => {
    const item = input[index]
    if (!isReference(item)) return text
    const id = idOf(item)
    if (id === undefined || !sent.has(id)) warnings.push(unknownItem(`input[${index}]`, id))
    return null
  })
  return { body: kept === raw ? body : body.with({ input: kept }), warnings }
}

const unknownItem = (field: string, id: string | undefined): Warning => {
  const named = id === undefined ? 'The item' : shortText(id)
  return { code: 'unsupported_field', field, message: `${named} is not in this request, and nothing is stored here; it was left out.` }
}

const isReference = (item: JsonValue | undefined): boolean => isObject(item) && item['type'] === 'item_reference'

const idOf = (item: JsonValue | undefined): string | undefined => {
  const id = isObject(item) ? item['id'] : undefined
  return typeof id === 'string' ? id : undefined
}

const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value)
