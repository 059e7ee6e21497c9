import { scanElements } from './json-scan.ts'
import { nestedMembers, spliceMembers } from './json-splice.ts'
import { writeInSteps } from './json-steps.ts'
import { isList, isMap, type JsonObject, type JsonValue } from './json.ts'
import { startPace, type Steps } from '../steps.ts'

/** JSON text of a value that was derived from another one: parts that both share as the same object are copied from the other's text. */
export function* rewrittenText(value: JsonValue, from: JsonValue, text: string): Steps<string> {
  if (value === from) return text
  if (isList(value) && isList(from)) return yield* rewrittenList(value, from, text)
  if (isMap(value) && isMap(from)) return yield* rewrittenMap(value, from, text)
  return yield* writeInSteps(value)
}

function* rewrittenMap(value: JsonObject, from: JsonObject, text: string): Steps<string> {
  const names = [...Object.keys(value), ...Object.keys(from).filter((name) => !Object.hasOwn(value, name))]
  const changed = names.filter((name) => memberOf(value, name) !== memberOf(from, name))
  if (changed.length === 0) return text
  const members = nestedMembers(text)
  const texts = new Map(members.map(({ key, start, end }) => [key, text.slice(start, end)]))
  const isStep = startPace()
  if (isStep(text.length)) yield
  const changes: [string, string | null][] = []
  for (const name of changed) {
    const member = memberOf(value, name)
    const before = memberOf(from, name)
    const raw = texts.get(name)
    if (member === undefined) changes.push([name, null])
    else if (before === undefined || raw === undefined) changes.push([name, yield* writeInSteps(member)])
    else changes.push([name, yield* rewrittenText(member, before, raw)])
    if (isStep(raw?.length)) yield
  }
  return spliceMembers(text, members, Object.fromEntries(changes))
}

const memberOf = (object: JsonObject, name: string): JsonValue | undefined => (Object.hasOwn(object, name) ? object[name] : undefined)

function* rewrittenList(value: readonly JsonValue[], from: readonly JsonValue[], text: string): Steps<string> {
  const spans = scanElements(text)
  yield
  const isStep = startPace()
  if (value.length === from.length) {
    let out = ''
    let cursor = 0
    for (const [index, { start, end }] of spans.entries()) {
      const [element = null, before = null] = [value[index], from[index]]
      if (element !== before) {
        out += text.slice(cursor, start) + (yield* rewrittenText(element, before, text.slice(start, end)))
        cursor = end
      }
      if (isStep(end - start)) yield
    }
    return out + text.slice(cursor)
  }
  // The list has grown or shrunk: elements that are in both lists are copied.
  const kept = new Map(from.map((element, index) => [element, spans[index]]))
  yield
  const texts: string[] = []
  for (const element of value) {
    const span = typeof element === 'object' && element !== null ? kept.get(element) : undefined
    texts.push(span === undefined ? yield* writeInSteps(element) : text.slice(span.start, span.end))
    if (isStep(texts.at(-1)?.length)) yield
  }
  return `[${texts.join(',')}]`
}
