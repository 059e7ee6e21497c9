/** Changes every schema inside a JSON Schema, wherever a keyword holds one; what is data, such as a `default`, stays. */
import { isList, isMap, type JsonObject, type JsonValue } from '../../lib/json/json.ts'

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const
const LISTED = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const SINGLE = ['items', 'additionalProperties', 'not', 'propertyNames', 'contains', 'if', 'then', 'else'] as const

/**
 * Calls `change` with each schema after those inside it, and with the schema as it was before those were changed. Returns the same schema
 * if nothing changes.
 */
export const withInnerSchemas = (schema: JsonObject, change: (schema: JsonObject, before: JsonObject) => JsonObject): JsonObject => {
  const inside = (value: JsonValue): JsonValue => (isMap(value) ? withInnerSchemas(value, change) : value)
  const changes: Record<string, JsonValue> = {}
  for (const keyword of NAMED) {
    const named = schema[keyword]
    if (!isMap(named)) continue
    const next = Object.entries(named).map(([name, one]): [string, JsonValue] => [name, inside(one)])
    if (next.some(([name, one]) => one !== named[name])) changes[keyword] = Object.fromEntries(next)
  }
  for (const keyword of [...LISTED, ...SINGLE]) {
    const value = schema[keyword]
    // `items` may be a list too, in its older form.
    if (value === undefined) continue
    const next = isList(value) ? value.map(inside) : inside(value)
    const isSame = isList(next) && isList(value) ? next.every((one, index) => one === value[index]) : next === value
    if (!isSame) changes[keyword] = next
  }
  return change(Object.keys(changes).length === 0 ? schema : { ...schema, ...changes }, schema)
}
