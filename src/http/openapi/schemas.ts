/**
 * Converts Zod schemas into the schemas of one OpenAPI document: a schema with a name (`.meta({ id })`) becomes a component, once, and is
 * referenced everywhere else. Bodies are described as they come in, answers as they go out.
 */
import { z } from 'zod'

import { isMap, isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'

export interface SchemaBook {
  /** A request's schema, and if it may be left out. The schema must be one of those that the book was made from. */
  input(schema: z.ZodType): { readonly schema: JsonObject; readonly optional: boolean }
  output(schema: z.ZodType): JsonObject
  /** `#/components/schemas`, in the order of their names. */
  readonly components: JsonObject
}

/** Throws TypeError if two schemas have the same name, or if a schema that contains itself has none. */
export function* schemaBook(inputs: readonly z.ZodType[], outputs: readonly z.ZodType[]): Steps<SchemaBook> {
  const owners = new Map<string, unknown>()
  const read = yield* convert(inputs, 'input', owners)
  const written = yield* convert(outputs, 'output', owners)
  const split = namesThatDiffer(read.named, written.named)
  const inputName = (name: string): string => (split.has(name) ? `${name}Input` : name)
  const components: Record<string, JsonObject> = {}
  const add = (name: string, schema: JsonObject): void => {
    if (components[name] !== undefined && JSON.stringify(components[name]) !== JSON.stringify(schema)) {
      throw new TypeError(`Two schemas have the name ${name}.`)
    }
    components[name] = schema
  }
  for (const [name, schema] of read.named) {
    add(inputName(name), renameReferences(schema, inputName))
    yield
  }
  for (const [name, schema] of written.named) add(name, schema)
  return {
    input(schema) {
      const { at, optional } = found(read, schema)
      return { schema: renameReferences(at, inputName), optional }
    },
    output: (schema) => found(written, schema).at,
    components: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

interface Converted {
  readonly named: Map<string, JsonObject>
  readonly asked: Map<z.ZodType, { readonly at: JsonObject; readonly optional: boolean }>
}

const found = ({ asked }: Converted, schema: z.ZodType): { readonly at: JsonObject; readonly optional: boolean } => {
  const place = asked.get(schema)
  if (place === undefined) throw new TypeError('The schema is not one of those that were converted.')
  return place
}

/** Converts all schemas of one direction; each is a step. */
function* convert(schemas: readonly z.ZodType[], io: 'input' | 'output', owners: Map<string, unknown>): Steps<Converted> {
  const converted: Converted = { named: new Map(), asked: new Map() }
  for (const schema of new Set(schemas)) {
    convertOne(schema, io, owners, converted)
    yield
  }
  return converted
}

/** Converts the schema as the member of an object, which shows if it may be left out, and collects the named schemas within it. */
const convertOne = (schema: z.ZodType, io: 'input' | 'output', owners: Map<string, unknown>, { named, asked }: Converted): void => {
  const whole = z.toJSONSchema(z.object({ schema }), {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const id = z.globalRegistry.get(zodSchema)?.id
      if (id !== undefined && (owners.get(id) ?? zodSchema) !== zodSchema) throw new TypeError(`Two schemas have the name ${id}.`)
      if (id !== undefined) owners.set(id, zodSchema)
      // An answer may gain members: only a schema that refuses unknown ones on purpose says so.
      const { def } = zodSchema._zod
      if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties
    },
  })
  const json = asObject(JSON.parse(JSON.stringify(whole)))
  const definitions = Object.entries(asObject(json['$defs'] ?? {}))
  const finish = (one: JsonValue | undefined): JsonObject => renameReferences(tidy(asObject(one ?? {})), (name) => name)
  for (const [name, definition] of definitions) {
    if (name.startsWith('__'))
      throw new TypeError(`A schema that contains itself needs a name, .meta({ id }): ${JSON.stringify(definition).slice(0, 200)}`)
    if (!named.has(name)) named.set(name, finish(definition))
  }
  asked.set(schema, { at: finish(asObject(json['properties'] ?? {})['schema']), optional: !Array.isArray(json['required']) })
}

/** Names of schemas that differ between the directions, by themselves or by what they refer to. */
const namesThatDiffer = (read: ReadonlyMap<string, JsonObject>, written: ReadonlyMap<string, JsonObject>): ReadonlySet<string> => {
  const differ = new Set<string>()
  for (const [name, schema] of read) {
    const other = written.get(name)
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(schema)) differ.add(name)
  }
  for (let before = -1; before !== differ.size;) {
    before = differ.size
    for (const [name, schema] of read) {
      if (!written.has(name) || differ.has(name)) continue
      renameReferences(schema, (target) => {
        if (differ.has(target)) differ.add(name)
        return target
      })
    }
  }
  return differ
}

const PREFIX = '#/components/schemas/'

const renameReferences = (schema: JsonObject, rename: (name: string) => string): JsonObject =>
  mapSchemas(schema, (one) => {
    const target = one['$ref']
    return typeof target === 'string' ? { ...one, $ref: PREFIX + rename(target.slice(target.lastIndexOf('/') + 1)) } : one
  })

/** Leaves out keywords that zod adds and a reader does not need, and writes "or null" in the shortest way. */
const tidy = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, (one) => {
    const { $schema: _, ...rest } = one
    const kept = Object.fromEntries(Object.entries(rest).filter(([keyword, value]) => !isNoise(rest, keyword, value)))
    return flattenNull(kept)
  })

const PATTERN_FORMATS: ReadonlySet<JsonValue | undefined> = new Set(['date', 'date-time', 'email', 'uuid'])

const isNoise = (schema: JsonObject, keyword: string, value: JsonValue): boolean => {
  if (keyword === 'maximum' || keyword === 'minimum') return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
  // The format says enough; zod's patterns for dates, addresses and UUIDs are wider than a screen.
  if (keyword === 'pattern') return PATTERN_FORMATS.has(schema['format'])
  return keyword === 'propertyNames' && JSON.stringify(value) === '{"type":"string"}'
}

/**
 * Turns `anyOf: [X, null]` into X with one more type, if X is plain; otherwise the annotations of X are moved out to where readers look.
 */
const flattenNull = (schema: JsonObject): JsonObject => {
  const choices = schema['anyOf']
  if (!Array.isArray(choices)) return schema
  const [first, second] = choices.filter(isMap)
  if (choices.length !== 2 || first === undefined || second?.['type'] !== 'null') return schema
  const { anyOf: _, ...outer } = schema
  if (typeof first['type'] === 'string' && first['const'] === undefined) {
    const values = first['enum']
    return { ...first, type: [first['type'], 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}), ...outer }
  }
  const inner = first['anyOf']
  if (Array.isArray(inner)) return { ...first, anyOf: [...inner, second], ...outer }
  const described = Object.fromEntries(Object.entries(first).filter(([keyword]) => ANNOTATIONS.has(keyword)))
  const bare = Object.fromEntries(Object.entries(first).filter(([keyword]) => !ANNOTATIONS.has(keyword)))
  return { ...described, anyOf: [bare, second], ...outer }
}

const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'deprecated', 'examples', 'default'])

const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs'])
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const SINGLES: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'propertyNames', 'not', 'contains'])

/** Applies a change to every schema inside a schema, the innermost first, and to nothing that only looks like a schema. */
const mapSchemas = (schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject => {
  const inside = (value: JsonValue): JsonValue => (isMap(value) ? mapSchemas(value, change) : value)
  const members = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (MAPS.has(keyword) && isMap(value)) {
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside(member)]))]
    }
    if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map(inside)]
    return [keyword, SINGLES.has(keyword) ? inside(value) : value]
  })
  return change(Object.fromEntries(members))
}

const asObject = (value: unknown): JsonObject => {
  if (!isObject(value)) throw new TypeError('Expected a JSON object.')
  return value as JsonObject
}
