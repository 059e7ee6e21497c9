/**
 * Converts a JSON Schema for Google. `parametersJsonSchema` and `responseJsonSchema` take JSON Schema itself, with four differences that
 * are handled here: no `const`, no `enum` without a `type`, no members beside a `$ref`, and references preferably only in recursive schemas. Keywords that Google does
 * not know are left in, since it ignores them.
 */
import { isObject } from '../../lib/json/json.ts'
import { createGrowth, type Growth } from '../../lib/json/json-size.ts'
import { resolvePointer } from '../../lib/json/json-pointer.ts'
import { wordSet } from '../../lib/text/word-set.ts'

type Schema = Readonly<Record<string, unknown>>

/** The most characters by which all schemas of a request may grow when their references are written out; beyond that, references stay. */
const GROWTH_MAX = 100_000
const NESTED_REFERENCES_MAX = 24

export const schemaGrowth = (): Growth => createGrowth(GROWTH_MAX)

/** Returns the same value if it is not a schema. `growth`: of the whole request. */
export const googleSchema = (schema: unknown, growth: Growth = schemaGrowth()): unknown => {
  if (!isObject(schema)) return schema
  const state = { root: schema, growth, keptReferences: false }
  const mapped = mapSchema(schema, [], state)
  return state.keptReferences ? mapped : without(mapped, DEFINITIONS)
}

/**
 * The schema of a function's arguments, which is that of an object; undefined if the function takes none, in which case Google wants no
 * schema.
 */
export const googleParameters = (schema: unknown, growth: Growth = schemaGrowth()): unknown => {
  const mapped = googleSchema(schema, growth)
  if (!isObject(mapped)) return undefined
  const { properties, additionalProperties } = mapped
  const reported = Object.keys(mapped).filter((key) => !NO_PARAMETERS.has(key))
  const free = additionalProperties === true || isObject(additionalProperties)
  if (reported.length === 0 && !free && (!isObject(properties) || Object.keys(properties).length === 0)) return undefined
  // A root that only combines schemas is an object too, since arguments are. Beside a reference no member is allowed.
  return (mapped['type'] ?? null) === null && mapped['$ref'] === undefined ? { ...mapped, type: 'object' } : mapped
}

/** An object schema with only these members has no parameters. */
const NO_PARAMETERS: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'additionalProperties', 'title', 'description'])

const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
/** Members that mean nothing to a model. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', '$comment'])
/** Members whose value is a schema or a list of schemas. */
const HOLDS_SCHEMAS: ReadonlySet<string> = wordSet(`
  items additionalProperties additionalItems contains not if then else propertyNames unevaluatedItems
  unevaluatedProperties anyOf oneOf allOf prefixItems
`)
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas', ...DEFINITIONS])

interface State {
  readonly root: Schema
  readonly growth: Growth
  keptReferences: boolean
}

/** `open`: the references that are being written out around this place. */
const mapSchema = (schema: Schema, open: readonly string[], state: State): Schema => {
  const reference = schema['$ref']
  if (typeof reference === 'string') return mapReference(schema, reference, open, state)
  const inside = (value: unknown): unknown => (isObject(value) ? mapSchema(value, open, state) : value)
  const members: [string, unknown][] = []
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key) || key === 'const') continue
    if (HOLDS_SCHEMAS.has(key)) members.push([key, Array.isArray(value) ? value.map(inside) : inside(value)])
    else if (SCHEMA_MAPS.has(key) && isObject(value))
      members.push([key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]))])
    else members.push([key, value])
  }
  if (Object.hasOwn(schema, 'const') && !Object.hasOwn(schema, 'enum')) members.push(['enum', [schema['const']]])
  return joinSingleAllOf(withTypeOfEnum(Object.fromEntries(members)))
}

const mapReference = (schema: Schema, reference: string, open: readonly string[], state: State): Schema => {
  const target = resolvePointer(state.root, reference)
  if (target === null || open.includes(reference) || open.length >= NESTED_REFERENCES_MAX || !state.growth.take(target)) {
    state.keptReferences = true
    return { $ref: reference }
  }
  // Members beside a reference, such as a description, are about this use of it.
  return mapSchema({ ...target, ...without(schema, REFERENCE) }, [...open, reference], state)
}

/** Google ignores the values of an `enum` without a `type` (pydantic-ai's issue 3610), and calls with others are then malformed. */
const withTypeOfEnum = (schema: Schema): Schema => {
  const { enum: values, type = null } = schema
  if (!Array.isArray(values) || type !== null) return schema
  const types = [...new Set(values.map(typeOf))]
  if (types.length === 0 || types.includes(null)) return schema
  return { type: types.length === 1 ? types[0] : types, ...schema }
}

const typeOf = (value: unknown): string | null => {
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : null
}

/** Generators write an `allOf` of one schema to put a description beside a reference; Google ignores `allOf`. */
const joinSingleAllOf = (schema: Schema): Schema => {
  const { allOf } = schema
  if (!Array.isArray(allOf) || allOf.length !== 1 || !isObject(allOf[0]) || typeof allOf[0]['$ref'] === 'string') return schema
  return { ...allOf[0], ...without(schema, ALL_OF) }
}

const REFERENCE: ReadonlySet<string> = new Set(['$ref'])
const ALL_OF: ReadonlySet<string> = new Set(['allOf'])

const without = (schema: Schema, keys: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.has(key)))
