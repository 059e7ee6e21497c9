/**
 * Leaves out members without a name from the input of a call. Models write such members now and then; Converse refuses them, so the call
 * would fail every later turn of its conversation.
 */
import { isExactInteger, parseExact } from '../../lib/json/exact-json.ts'
import { isList, isMap, type JsonValue } from '../../lib/json/json.ts'

/** The same text if all members have names. `json` must be valid. */
export const withNamedMembers = (json: string): string => {
  if (!UNNAMED.test(json)) return json
  const given = parseExact(json) as JsonValue
  const named = inside(given)
  return named === given ? json : JSON.stringify(named)
}

const UNNAMED = /""\s*:/

const inside = (value: JsonValue): JsonValue => {
  if (isExactInteger(value)) return value
  if (isList(value)) {
    const next = value.map(inside)
    return next.every((one, index) => one === value[index]) ? value : next
  }
  if (!isMap(value)) return value
  const members = Object.entries(value)
  const next = members.flatMap(([name, one]): [string, JsonValue][] => (name === '' ? [] : [[name, inside(one)]]))
  return next.length === members.length && next.every(([name, one]) => one === value[name]) ? value : Object.fromEntries(next)
}
