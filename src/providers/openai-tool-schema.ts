/**
 * Rewrites schemas of tools that OpenAI refuses into a form that it takes and that means the same, as far as possible. Source: its
 * refusals: "schema must be a JSON Schema of 'type: "object"'", "schema must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", "array schema missing items", "object schema missing properties".
 */
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../lib/steps.ts'
import { fitsStrictMode } from './openai-strict-schema.ts'
import type { RuleContext } from './field-rules.ts'

/** Returns the tools with the schemas of the functions that `functionIn` finds mended; the same list if OpenAI takes them all. */
export function* mendedTools(
  tools: readonly JsonValue[],
  field: string,
  { functionIn, withFunction }: FunctionPlace,
  { target, warn }: Pick<RuleContext, 'target' | 'warn'>,
): Steps<readonly JsonValue[]> {
  const work = { left: JOINED_MAX }
  const mended = yield* mapInSteps(
    tools,
    (tool, index) => {
      const called = isMap(tool) ? functionIn(tool) : null
      const next = called === null ? null : mendedFunction(called, work)
      if (!isMap(tool) || called === null || next === null) return tool
      if (next.reported !== null)
        warn({
          code: 'mapped_field',
          field: `${field}[${index}]`,
          message: `${target.upstreamModel} takes no schema like that of ${nameOf(called)}; ${next.reported}`,
        })
      return withFunction(tool, next.called)
    },
    () => SCHEMA_UNITS,
  )
  return mended.every((tool, index) => tool === tools[index]) ? tools : mended
}

/** The most properties that are carried from inner schemas to outer ones, in all schemas of a request together. */
const JOINED_MAX = 30_000

interface Work {
  left: number
}

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : 'this tool')

/** How a dialect keeps the function inside a tool. */
export interface FunctionPlace {
  readonly functionIn: (tool: JsonObject) => JsonObject | null
  readonly withFunction: (tool: JsonObject, called: JsonObject) => JsonObject
}

interface MendedFunction {
  readonly called: JsonObject
  /** The change made to the schema; null if nothing has to be reported. */
  readonly reported: string | null
}

const mendedFunction = (called: JsonObject, work: Work): MendedFunction | null => {
  const { parameters, strict, ...rest } = called
  if (parameters === undefined) return null
  const mended = mendedSchema(parameters, work)
  if (mended === null) return null
  const { schema, reported } = mended
  if (strict !== true || fitsStrictMode(schema)) return { called: { ...called, parameters: schema }, reported }
  const closed = { ...schema, additionalProperties: false, required: [] }
  // A function without arguments can be held to its schema strictly.
  if (fitsStrictMode(closed)) return { called: { ...called, parameters: closed }, reported }
  return { called: { ...rest, parameters: schema }, reported: `${reported ?? OTHER_FORM} Calls are not held to it strictly.` }
}

interface MendedSchema {
  readonly schema: JsonObject
  readonly reported: string | null
}

const OTHER_FORM = 'it was sent in another form.'
const IN_WORDS = 'what could not be said in another form is told to the model in words.'

/** Null if OpenAI takes the schema as it is, or if it does not describe an object. */
const mendedSchema = (given: JsonValue, work: Work): MendedSchema | null => {
  if (!isMap(given)) return { schema: { type: 'object', properties: {} }, reported: OTHER_FORM }
  const filled = withItems(given)
  const whole = resolved(filled, filled)
  if (!isOfObject(whole)) return null
  const isCombined = COMBINED.some((keyword) => Object.hasOwn(whole, keyword))
  const { schema: root, lost } = isCombined ? joined(whole, work) : { schema: whole, lost: {} }
  const { type, properties } = root
  const schema =
    type === 'object' && isMap(properties) ? root : { ...root, type: 'object', properties: isMap(properties) ? properties : {} }
  if (schema === given) return null
  if (Object.keys(lost).length > 0) return { schema: withWords(schema, lost), reported: IN_WORDS }
  // An added empty `properties` changes nothing, so it is not reported.
  return { schema, reported: root === given && type === 'object' ? null : OTHER_FORM }
}

const isOfObject = ({ type }: JsonObject): boolean => type === undefined || type === 'object' || (isList(type) && type.includes('object'))

/** The keywords that are not allowed at the top level. */
const COMBINED = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const

interface Joined {
  readonly schema: JsonObject
  /** Keywords that a single object schema cannot express. */
  readonly lost: JsonObject
}

/** One object with the properties of all the combined schemas; it requires only what every alternative requires. */
const joined = (whole: JsonObject, work: Work): Joined => {
  const { anyOf, oneOf, allOf, enum: values, not, ...own } = whole
  const shape = shapeOf(whole, { root: whole, seen: new Set(), work })
  const isWhole = work.left >= 0
  const lost = Object.fromEntries(
    Object.entries({ anyOf, oneOf, allOf: isWhole ? undefined : allOf, enum: values, not }).filter(
      (keyword): keyword is [string, JsonValue] => keyword[1] !== undefined,
    ),
  )
  const required = [...shape.required]
  return {
    schema: {
      ...own,
      properties: Object.fromEntries([...shape.properties].map(([name, schemas]) => [name, oneOfAll(schemas, 'allOf')])),
      ...(required.length === 0 ? {} : { required }),
      ...(shape.closed && isWhole ? { additionalProperties: false } : {}),
    },
    lost,
  }
}

interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlySet<JsonValue>>
  readonly required: ReadonlySet<string>
  /** No other properties are allowed. */
  readonly closed: boolean
}

interface Joining {
  readonly root: JsonObject
  /** References that were followed already; each is followed once. */
  readonly seen: Set<JsonValue>
  readonly work: Work
}

const shapeOf = (given: JsonObject, joining: Joining): Shape => {
  const { root, seen, work } = joining
  const schema = resolved(given, root, seen)
  const properties = new Map<string, Set<JsonValue>>()
  const add = (name: string, schemas: Iterable<JsonValue>): void => {
    work.left -= 1
    if (work.left < 0) return
    const known = properties.get(name) ?? new Set()
    for (const one of schemas) known.add(one)
    properties.set(name, known)
  }
  const { properties: own, required: wanted } = schema
  if (isMap(own)) for (const [name, property] of Object.entries(own)) properties.set(name, new Set([property]))
  const required = new Set(isList(wanted) ? wanted.filter((name) => typeof name === 'string') : [])
  const combined = (keyword: string): readonly JsonObject[] => (work.left < 0 ? [] : schemasIn(schema[keyword]))
  for (const part of combined('allOf')) {
    const shape = shapeOf(part, joining)
    for (const [name, schemas] of shape.properties) add(name, schemas)
    for (const name of shape.required) required.add(name)
  }
  let closed = schema['additionalProperties'] === false
  for (const keyword of ['anyOf', 'oneOf']) {
    const shapes = combined(keyword).map((alternative) => shapeOf(alternative, joining))
    const [first, ...others] = shapes
    if (first === undefined) continue
    for (const name of first.required) if (others.every((shape) => shape.required.has(name))) required.add(name)
    closed ||= shapes.every((shape) => shape.closed)
    const alternatives = Map.groupBy(
      shapes.flatMap((shape) => [...shape.properties]),
      ([name]) => name,
    )
    for (const [name, found] of alternatives) {
      const schemas = new Set(found.map(([, one]) => oneOfAll(one, 'allOf')))
      add(name, [oneOfAll(schemas, 'anyOf')])
    }
  }
  return { properties, required, closed }
}

const oneOfAll = (schemas: ReadonlySet<JsonValue>, keyword: 'allOf' | 'anyOf'): JsonValue => {
  const [only = {}] = schemas
  if (schemas.size < 2) return only
  const different = [...new Map([...schemas].map((schema) => [plainText(schema) ?? schema, schema])).values()]
  return different.length === 1 ? only : { [keyword]: different }
}

/** Text for comparing schemas, so that no schema is listed twice; null for a schema that has others inside. */
const plainText = (schema: JsonValue): string | null =>
  isMap(schema) && Object.values(schema).some((value) => typeof value === 'object') ? null : JSON.stringify(schema)

/** The limit exists because each followed reference brings all its properties to the place where it stands. */
const REFERENCES_MAX = 64

/** Follows the `$ref` at the top of a schema. */
const resolved = (schema: JsonObject, root: JsonObject, seen: Set<JsonValue> = new Set()): JsonObject => {
  let next = schema
  for (let reference = next['$ref']; typeof reference === 'string'; reference = next['$ref']) {
    const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
    const named = root[place]
    const target = isMap(named) && Object.hasOwn(named, name) ? named[name] : undefined
    const { $ref: _, ...rest } = next
    if (!isMap(target) || seen.has(reference) || seen.size === REFERENCES_MAX) return rest
    seen.add(reference)
    next = { ...target, ...rest }
  }
  return next
}

const WORDS_MAX = 8000

const withWords = (schema: JsonObject, lost: JsonObject): JsonObject => {
  const words = JSON.stringify(lost)
  if (words.length > WORDS_MAX) return schema
  const { description } = schema
  const before = typeof description === 'string' && description !== '' ? `${description}\n\n` : ''
  return { ...schema, description: `${before}The arguments also have to satisfy this JSON Schema: ${words}` }
}

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const LISTED = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const SINGLE = ['items', 'additionalProperties', 'not'] as const

/** Adds `items` to every list that lacks it. Returns the same schema if none does. */
const withItems = (schema: JsonObject): JsonObject => {
  const changes: Record<string, JsonValue> = {}
  for (const keyword of NAMED) {
    const named = schema[keyword]
    if (!isMap(named)) continue
    const next = Object.entries(named).map(([name, one]): [string, JsonValue] => [name, inItems(one)])
    if (next.some(([name, one]) => one !== named[name])) changes[keyword] = Object.fromEntries(next)
  }
  for (const keyword of LISTED) {
    const listed = schema[keyword]
    const next = isList(listed) ? listed.map(inItems) : []
    if (isList(listed) && next.some((one, index) => one !== listed[index])) changes[keyword] = next
  }
  for (const keyword of SINGLE) {
    const one = schema[keyword]
    const next = one === undefined ? undefined : inItems(one)
    if (next !== undefined && next !== one) changes[keyword] = next
  }
  const { type, items } = schema
  if ((type === 'array' || (isList(type) && type.includes('array'))) && items === undefined) changes['items'] = {}
  // The older form of a list whose positions have different schemas.
  if (isList(items)) changes['items'] = { anyOf: items.map(inItems) }
  return Object.keys(changes).length === 0 ? schema : { ...schema, ...changes }
}

const inItems = (value: JsonValue): JsonValue => (isMap(value) ? withItems(value) : value)

const schemasIn = (value: JsonValue | undefined): readonly JsonObject[] => (isList(value) ? value.filter(isMap) : [])

const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value)
const isMap = (value: JsonValue | undefined): value is JsonObject => isObject(value)
