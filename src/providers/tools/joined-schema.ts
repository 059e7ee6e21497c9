/**
 * Joins a schema with alternatives at its top into that of one object, for providers that allow no alternatives there: its properties are
 * those of all the combined schemas, and it requires only what every alternative requires.
 */
import { isList, isMap, type JsonObject, type JsonValue, textsIn } from '../../lib/json/json.ts'

/** The most properties that are carried from inner schemas to outer ones, in all schemas of a request together. */
export const JOINED_MAX = 30_000

export interface Work {
  left: number
}

/** The keywords that are not allowed at the top level. */
export const COMBINED = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const

export interface Joined {
  readonly schema: JsonObject
  /** Keywords that a single object schema cannot express. */
  readonly lost: JsonObject
}

export const joined = (whole: JsonObject, work: Work): Joined => {
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
    addTo(properties, name, schemas)
  }
  const { properties: own, required: wanted } = schema
  if (isMap(own)) for (const [name, property] of Object.entries(own)) properties.set(name, new Set([property]))
  const required = new Set(textsIn(wanted))
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
    const alternatives = new Map<string, Set<JsonValue>>()
    for (const { properties: found } of shapes) for (const [name, schemas] of found) addTo(alternatives, name, [oneOfAll(schemas, 'allOf')])
    for (const [name, schemas] of alternatives) add(name, [oneOfAll(schemas, 'anyOf')])
  }
  return { properties, required, closed }
}

const addTo = (named: Map<string, Set<JsonValue>>, name: string, schemas: Iterable<JsonValue>): void => {
  const known = named.get(name)
  if (known === undefined) named.set(name, new Set(schemas))
  else for (const one of schemas) known.add(one)
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
export const resolved = (schema: JsonObject, root: JsonObject, seen: Set<JsonValue> = new Set()): JsonObject => {
  let next = schema
  for (let reference = next['$ref']; typeof reference === 'string'; reference = next['$ref']) {
    const target = targetOf(reference, root)
    const { $ref: _, ...rest } = next
    if (target === null || seen.has(reference) || seen.size === REFERENCES_MAX) return rest
    seen.add(reference)
    next = { ...target, ...rest }
  }
  return next
}

/** The schemas to which the reference leads, one by the other, the nearest first. */
export const targetsOf = (reference: JsonValue | undefined, root: JsonObject): readonly JsonObject[] => {
  const targets = new Set<JsonObject>()
  for (let next = reference; typeof next === 'string' && targets.size < REFERENCES_MAX;) {
    const target = targetOf(next, root)
    if (target === null || targets.has(target)) break
    targets.add(target)
    next = target['$ref']
  }
  return [...targets]
}

const targetOf = (reference: string, root: JsonObject): JsonObject | null => {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  const named = root[place]
  const target = isMap(named) && Object.hasOwn(named, name) ? named[name] : undefined
  return isMap(target) ? target : null
}

const WORDS_MAX = 8000

export const withWords = (schema: JsonObject, lost: JsonObject): JsonObject => {
  const words = JSON.stringify(lost)
  if (words.length > WORDS_MAX) return schema
  const { description } = schema
  const before = typeof description === 'string' && description !== '' ? `${description}\n\n` : ''
  return { ...schema, description: `${before}The arguments also have to satisfy this JSON Schema: ${words}` }
}

const schemasIn = (value: JsonValue | undefined): readonly JsonObject[] => (isList(value) ? value.filter(isMap) : [])
