/**
 * A JSON Schema as Google reads it. `parametersJsonSchema` and `responseJsonSchema` take JSON Schema itself, with three
 * differences that are bridged here: no `const`, nothing beside a `$ref`, and references best only where a schema is
 * recursive. Keywords that Google does not know are left in: it passes over them.
 */
import { isObject } from '../../lib/json.ts'
import { resolvePointer } from '../../lib/json-pointer.ts'

type Schema = Readonly<Record<string, unknown>>

/** A schema may grow this much by its references being written out; what lies beyond stays a reference. */
const NODES_MAX = 5000
const NESTED_REFERENCES_MAX = 24

/** Pure. What is not a schema comes back as it is. */
export const googleSchema = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema
  const state = { root: schema, nodesLeft: NODES_MAX, keptReferences: false }
  const mapped = mapSchema(schema, [], state)
  return state.keptReferences ? mapped : without(mapped, DEFINITIONS)
}

/** The schema of a function's arguments: an object's; undefined where the function takes none, which Google wants unsaid. */
export const googleParameters = (schema: unknown): unknown => {
  const mapped = googleSchema(schema)
  if (!isObject(mapped)) return undefined
  const { properties, additionalProperties } = mapped
  const reported = Object.keys(mapped).filter((key) => !NO_PARAMETERS.has(key))
  const free = additionalProperties === true || isObject(additionalProperties)
  if (reported.length === 0 && !free && (!isObject(properties) || Object.keys(properties).length === 0)) return undefined
  return mapped['type'] === undefined && isObject(properties) ? { type: 'object', ...mapped } : mapped
}

/** An object schema of nothing but these has no parameters. */
const NO_PARAMETERS: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'additionalProperties', 'title', 'description'])

const DEFINITIONS = ['$defs', 'definitions']
/** They say nothing to a model. */
const DROPPED = ['$schema', '$comment']
const ONE_SCHEMA = [
  'items',
  'additionalProperties',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']
const SCHEMA_MAPS = ['properties', 'patternProperties', 'dependentSchemas', ...DEFINITIONS]

interface State {
  readonly root: Schema
  nodesLeft: number
  keptReferences: boolean
}

/** `open`: the references that are being written out around this place. */
const mapSchema = (schema: Schema, open: readonly string[], state: State): Schema => {
  state.nodesLeft -= 1
  const reference = schema['$ref']
  if (typeof reference === 'string') return mapReference(schema, reference, open, state)
  const out: Record<string, unknown> = without(schema, DROPPED)
  if (Object.hasOwn(out, 'const')) {
    if (!Object.hasOwn(out, 'enum')) out['enum'] = [out['const']]
    delete out['const']
  }
  const inside = (value: unknown): unknown => (isObject(value) ? mapSchema(value, open, state) : value)
  for (const key of ONE_SCHEMA) if (isObject(out[key])) out[key] = inside(out[key])
  for (const key of SCHEMA_LISTS) {
    const list = out[key]
    if (Array.isArray(list)) out[key] = list.map(inside)
  }
  for (const key of SCHEMA_MAPS) {
    const map = out[key]
    if (isObject(map)) out[key] = Object.fromEntries(Object.entries(map).map(([name, value]) => [name, inside(value)]))
  }
  return joinSingleAllOf(out)
}

const mapReference = (schema: Schema, reference: string, open: readonly string[], state: State): Schema => {
  const target = resolvePointer(state.root, reference)
  if (target === null || open.includes(reference) || open.length >= NESTED_REFERENCES_MAX || state.nodesLeft <= 0) {
    state.keptReferences = true
    return { $ref: reference }
  }
  // Members beside a reference are about this use of it, such as its description.
  return mapSchema({ ...target, ...without(schema, ['$ref']) }, [...open, reference], state)
}

/** Generators write `allOf` of one to put a description beside a reference; Google passes over `allOf`. */
const joinSingleAllOf = (schema: Schema): Schema => {
  const { allOf } = schema
  if (!Array.isArray(allOf) || allOf.length !== 1 || !isObject(allOf[0]) || typeof allOf[0]['$ref'] === 'string') return schema
  return { ...allOf[0], ...without(schema, ['allOf']) }
}

const without = (schema: Schema, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))
