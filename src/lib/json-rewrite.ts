import { scanElements } from './json-scan.ts'
import { editElements, editMembers, rawMember } from './json-splice.ts'
import { isObject, type JsonObject, type JsonValue } from './json.ts'

/** JSON text of a value that was made of another: what the two share, as the same object, is copied from the other's text. */
export const rewrittenText = (value: JsonValue, from: JsonValue, text: string): string => {
  if (value === from) return text
  if (isList(value) && isList(from)) return rewrittenList(value, from, text)
  if (!isMap(value) || !isMap(from)) return JSON.stringify(value)
  const changes: [string, string | null][] = Object.keys(from).flatMap((key) => (Object.hasOwn(value, key) ? [] : [[key, null]]))
  for (const [key, member] of Object.entries(value)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined
    if (member === before) continue
    const raw = before === undefined ? undefined : rawMember(text, key)
    changes.push([key, before === undefined || raw === undefined ? JSON.stringify(member) : rewrittenText(member, before, raw)])
  }
  return changes.length === 0 ? text : editMembers(text, Object.fromEntries(changes))
}

const rewrittenList = (value: readonly JsonValue[], from: readonly JsonValue[], text: string): string => {
  if (value.length === from.length) return editElements(text, (raw, index) => rewrittenText(value[index] ?? null, from[index] ?? null, raw))
  // Grown or shortened: what stands in both is copied.
  const spans = scanElements(text)
  const raw = new Map(from.map((element, index) => [element, spans[index]]))
  const texts = value.map((element) => {
    const span = typeof element === 'object' && element !== null ? raw.get(element) : undefined
    return span === undefined ? JSON.stringify(element) : text.slice(span.start, span.end)
  })
  return `[${texts.join(',')}]`
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
const isMap = (value: JsonValue): value is JsonObject => isObject(value)
