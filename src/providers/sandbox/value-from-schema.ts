/**
 * Makes a value that satisfies a JSON Schema, for the keywords that tools and output formats use: types, enum, const, the members of
 * objects and arrays, ranges, lengths, common formats, anyOf, oneOf, allOf and local $ref. A pure function; limits bound the cost of a
 * hostile schema.
 */
import { isObject, type JsonObject, type JsonValue, listOf, membersOf, textsIn } from '../../lib/json/json.ts'

export const valueFor = (schema: unknown): JsonValue =>
  make(schema as JsonValue, { root: schema as JsonValue, depth: 0, budget: { nodes: NODES_MAX } })

/** The limit exists because references can multiply what a small schema asks for. */
const NODES_MAX = 2000
/** Beyond this depth an object has only its required members, and beyond DEPTH_MAX values are null: a recursive schema must end. */
const OPTIONAL_DEPTH_MAX = 4
const DEPTH_MAX = 16
const ITEMS_MAX = 16
const LENGTH_MAX = 1000

interface Place {
  readonly root: JsonValue
  readonly depth: number
  readonly budget: { nodes: number }
}

const make = (schema: JsonValue, place: Place): JsonValue => {
  place.budget.nodes -= 1
  if (!isObject(schema) || place.depth > DEPTH_MAX || place.budget.nodes < 0) return null
  const inner = { ...place, depth: place.depth + 1 }
  const { $ref: ref, const: constant, enum: choices, anyOf, oneOf, allOf } = schema
  if (typeof ref === 'string') return make(resolve(place.root, ref), inner)
  if (constant !== undefined) return constant
  if (Array.isArray(choices) && choices[0] !== undefined) return choices[0]
  if (Array.isArray(allOf)) return make(mergeAll(schema, allOf, place.root), inner)
  const branches = [anyOf, oneOf].find((branches) => Array.isArray(branches))
  if (Array.isArray(branches)) return make(mergeAll({ ...schema, anyOf: null, oneOf: null }, [preferred(branches)], place.root), inner)
  const type = typeOf(schema)
  return Object.hasOwn(MAKERS, type) ? (MAKERS[type]?.(schema, inner) ?? null) : null
}

const MAKERS: Readonly<Record<string, (schema: JsonObject, place: Place) => JsonValue>> = {
  object: (schema, place) => makeObject(schema, place),
  array: (schema, place) => makeArray(schema, place),
  string: (schema) => makeString(schema),
  integer: (schema) => makeInteger(schema),
  number: (schema) => makeNumber(schema),
  boolean: () => true,
}

/** The first type that is not null; without a type, the one that other keywords imply. */
const typeOf = (schema: JsonObject): string => {
  const { type } = schema
  const types: readonly (JsonValue | undefined)[] = Array.isArray(type) ? type : [type]
  const named = types.find((one) => one !== 'null') ?? types[0]
  if (typeof named === 'string') return named
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array'
  if (schema['minimum'] !== undefined || schema['maximum'] !== undefined) return 'number'
  return schema['format'] !== undefined || schema['minLength'] !== undefined || schema['pattern'] !== undefined ? 'string' : 'object'
}

const makeObject = (schema: JsonObject, place: Place): JsonValue => {
  const properties = membersOf(schema['properties'])
  const required = textsIn(schema['required'])
  const names = place.depth > OPTIONAL_DEPTH_MAX ? required : [...new Set([...Object.keys(properties), ...required])]
  // A member may be named `__proto__`, because schemas come from clients; fromEntries makes it an ordinary member.
  return Object.fromEntries(
    names.map((name) => [name, make(Object.hasOwn(properties, name) ? (properties[name] ?? {}) : TEXT, place)] as const),
  )
}

const TEXT: JsonObject = { type: 'string' }

const makeArray = (schema: JsonObject, place: Place): JsonValue => {
  const { items = TEXT, prefixItems } = schema
  const fixed = listOf(prefixItems).slice(0, ITEMS_MAX)
  const wanted = Math.max(size(schema['minItems'], 0), place.depth > OPTIONAL_DEPTH_MAX ? 0 : 1, fixed.length)
  const length = Math.min(wanted, size(schema['maxItems'], ITEMS_MAX), ITEMS_MAX)
  return Array.from({ length }, (_, index) => make(fixed[index] ?? items, place))
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  time: '12:00:00Z',
  'date-time': '2026-01-01T12:00:00Z',
  duration: 'PT1H',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

const makeString = (schema: JsonObject): string => {
  const { format } = schema
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? ''
  const least = Math.min(size(schema['minLength'], 0), LENGTH_MAX)
  return 'text'.padEnd(least, 'x').slice(0, size(schema['maxLength'], LENGTH_MAX))
}

/** The integer nearest to 1 within the bounds. */
const makeInteger = (schema: JsonObject): number => {
  const least = Math.max(Math.ceil(bound(schema, 'minimum', -Infinity)), Math.floor(bound(schema, 'exclusiveMinimum', -Infinity)) + 1)
  const most = Math.min(Math.floor(bound(schema, 'maximum', Infinity)), Math.ceil(bound(schema, 'exclusiveMaximum', Infinity)) - 1)
  return multiple(Math.min(Math.max(1, least), most), most, schema)
}

/** Returns 1 if the bounds allow it; else the middle between them, or the number at distance 1 from the only one. */
const makeNumber = (schema: JsonObject): number => {
  const least = Math.max(bound(schema, 'minimum', -Infinity), bound(schema, 'exclusiveMinimum', -Infinity))
  const most = Math.min(bound(schema, 'maximum', Infinity), bound(schema, 'exclusiveMaximum', Infinity))
  if (least < 1 && 1 < most) return multiple(1, most, schema)
  if (least === -Infinity) return multiple(most - 1, most, schema)
  return multiple(most === Infinity ? least + 1 : (least + most) / 2, most, schema)
}

const multiple = (value: number, most: number, { multipleOf }: JsonObject): number => {
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return value
  const up = Math.ceil(value / multipleOf) * multipleOf
  return up <= most ? up : Math.floor(most / multipleOf) * multipleOf
}

/** The first branch that allows more than null, else the first branch. */
const preferred = (branches: readonly JsonValue[]): JsonValue =>
  branches.find((branch) => !isObject(branch) || branch['type'] !== 'null') ?? branches[0] ?? null

const REFERENCES_MAX = 8

/** The schema with the keywords of others merged in: members and required names are joined, and for other keywords the last one counts. */
const mergeAll = (schema: JsonObject, others: readonly JsonValue[], root: JsonValue): JsonObject =>
  others.reduce<JsonObject>(
    (merged, other) => {
      let found = other
      for (let hops = 0; hops < REFERENCES_MAX && isObject(found) && typeof found['$ref'] === 'string'; hops += 1) {
        found = resolve(root, found['$ref'])
      }
      if (!isObject(found)) return merged
      return {
        ...merged,
        ...found,
        properties: { ...membersOf(merged['properties']), ...membersOf(found['properties']) },
        required: [...textsIn(merged['required']), ...textsIn(found['required'])],
      }
    },
    Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'allOf')),
  )

/** Follows `#/$defs/name`, a JSON pointer within the schema itself. */
const resolve = (root: JsonValue, ref: string): JsonValue => {
  if (ref !== '#' && !ref.startsWith('#/')) return null
  let at: JsonValue = root
  for (const step of ref.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    at = isObject(at) && Object.hasOwn(at, key) ? (at[key] ?? null) : null
  }
  return at
}

const bound = (schema: JsonObject, keyword: string, none: number): number => {
  const value = schema[keyword]
  return typeof value === 'number' ? value : none
}

const size = (value: JsonValue | undefined, otherwise: number): number =>
  typeof value === 'number' ? Math.max(0, Math.floor(value)) : otherwise
