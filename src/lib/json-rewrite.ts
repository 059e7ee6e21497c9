import { scanElements } from './json-scan.ts'
import { editMembers, readMembers } from './json-splice.ts'
import { isObject, type JsonObject, type JsonValue } from './json.ts'
import { mapInSteps, startPace, type Steps } from './steps.ts'

/** JSON text of a value that was made of another: what the two share, as the same object, is copied from the other's text. */
export function* rewrittenText(value: JsonValue, from: JsonValue, text: string): Steps<string> {
  if (value === from) return text
  if (isList(value) && isList(from)) return yield* rewrittenList(value, from, text)
  if (!isMap(value) || !isMap(from)) return JSON.stringify(value)
  const changes: [string, string | null][] = Object.keys(from).flatMap((key) => (Object.hasOwn(value, key) ? [] : [[key, null]]))
  let texts: ReadonlyMap<string, string> | undefined
  for (const [key, member] of Object.entries(value)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined
    if (member === before) continue
    const raw = before === undefined ? undefined : (texts ??= readMembers(text)).get(key)
    changes.push([key, before === undefined || raw === undefined ? JSON.stringify(member) : yield* rewrittenText(member, before, raw)])
  }
  return changes.length === 0 ? text : editMembers(text, Object.fromEntries(changes))
}

function* rewrittenList(value: readonly JsonValue[], from: readonly JsonValue[], text: string): Steps<string> {
  const spans = scanElements(text)
  yield
  if (value.length === from.length) {
    const pieces: string[] = []
    const isStep = startPace()
    let cursor = 0
    for (const [index, { start, end }] of spans.entries()) {
      const [element = null, before = null] = [value[index], from[index]]
      if (element !== before) {
        pieces.push(text.slice(cursor, start), yield* rewrittenText(element, before, text.slice(start, end)))
        cursor = end
      }
      if (isStep(end - start)) yield
    }
    return pieces.join('') + text.slice(cursor)
  }
  // Grown or shortened: what stands in both is copied.
  const raw = new Map(from.map((element, index) => [element, spans[index]]))
  yield
  const texts = yield* mapInSteps(value, (element) => {
    const span = typeof element === 'object' && element !== null ? raw.get(element) : undefined
    return span === undefined ? JSON.stringify(element) : text.slice(span.start, span.end)
  })
  return `[${texts.join(',')}]`
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
const isMap = (value: JsonValue): value is JsonObject => isObject(value)
