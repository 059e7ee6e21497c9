/**
 * A JSON Schema as constrained decoding takes it: objects are closed, and keywords that it cannot hold a model to are
 * told to the model in the description instead. Source: the API's page on structured outputs ("JSON Schema limitations",
 * "Schema complexity limits") and its SDK's helper.
 */
import { isObject } from '../../lib/json.ts'
import { resolvePointer } from '../../lib/json-pointer.ts'

type Schema = Readonly<Record<string, unknown>>

export interface ClosedSchema {
  readonly schema: Record<string, unknown>
  /** The keywords that are no longer enforced, each once. */
  readonly loosened: readonly string[]
  /** Parameters that may be absent, and parameters of more than one type, wherever they are. */
  readonly optional: number
  readonly unions: number
}

/** The parts that no grammar can be made of, as the end of a sentence. */
export interface Unenforceable {
  readonly obstacle: string
}

/** `of`: an object without members is a tool that takes nothing, or an answer of any members. */
export const closeSchema = (root: Schema, of: 'tool' | 'format'): ClosedSchema | Unenforceable => {
  if (of === 'format' && isOpenMap(root)) return OPEN_MAP
  const survey = createSurvey(root)
  const counts = survey.of(root)
  if ('obstacle' in counts) return counts
  const loosened = new Set<string>()
  const schema = closed(root, { root, loosened, used: survey.used })
  return { schema, loosened: [...loosened], ...counts }
}

interface Counts {
  readonly optional: number
  readonly unions: number
}

const RECURSION = { obstacle: 'schemas that refer to themselves' }
const NOWHERE = { obstacle: 'references that lead out of the schema' }
const OPEN_MAP = { obstacle: 'objects whose members have any name' }

/** Counts what a schema holds, with all that it refers to, each time that it does. */
const createSurvey = (root: Schema): { of(schema: Schema): Counts | Unenforceable; readonly used: ReadonlySet<string> } => {
  /** By reference; undefined while it is being looked at. */
  const known = new Map<string, Counts | Unenforceable | undefined>()

  const referred = (reference: string): Counts | Unenforceable => {
    if (reference === '#') return RECURSION
    if (known.has(reference)) return known.get(reference) ?? RECURSION
    const target = resolvePointer(root, reference)
    if (target === null) return NOWHERE
    known.set(reference, undefined)
    const found = of(target)
    known.set(reference, found)
    return found
  }

  const of = (schema: Schema): Counts | Unenforceable => {
    const { $ref: reference, properties } = schema
    if (schema !== root && isOpenMap(schema)) return OPEN_MAP
    if ([schema['additionalProperties'], schema['patternProperties']].some((others) => others === true || isObject(others))) return OPEN_MAP
    const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
    const named = isObject(properties) ? Object.entries(properties) : []
    const unions = named.filter(([, parameter]) => isObject(parameter) && isUnion(parameter)).length
    let sum: Counts = { optional: named.filter(([name]) => !required.includes(name)).length, unions }
    for (const inner of [...(typeof reference === 'string' ? [reference] : []), ...schemasIn(schema)]) {
      const found = typeof inner === 'string' ? referred(inner) : of(inner)
      if ('obstacle' in found) return found
      sum = { optional: sum.optional + found.optional, unions: sum.unions + found.unions }
    }
    return sum
  }

  return {
    of,
    get used() {
      return new Set(known.keys())
    },
  }
}

const isUnion = (schema: Schema): boolean =>
  Array.isArray(schema['type']) || Array.isArray(schema['anyOf']) || Array.isArray(schema['oneOf'])

/** Closed, it would always be empty. */
const isOpenMap = (schema: Schema): boolean =>
  schema['type'] === 'object' && schema['additionalProperties'] === undefined && !SHAPES.some((keyword) => schema[keyword] !== undefined)

const SHAPES = ['properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const']

/** The schemas directly inside, but for definitions, which count where they are referred to. */
const schemasIn = (schema: Schema): Schema[] => {
  const { properties } = schema
  const inLists = [...HOLDS_SCHEMAS].flatMap((keyword) => {
    const value = schema[keyword]
    return Array.isArray(value) ? (value as unknown[]) : [value]
  })
  return [...(isObject(properties) ? Object.values(properties) : []), ...inLists].filter((inner) => isObject(inner))
}

interface Closing {
  readonly root: Schema
  readonly loosened: Set<string>
  /** References that are followed from the root; a definition behind none of them goes no further. */
  readonly used: ReadonlySet<string>
}

const closed = (given: Schema, closing: Closing): Record<string, unknown> => {
  const schema = withoutReferencesInAllOf(given, closing.root)
  const out: Record<string, unknown> = {}
  const reported: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema') continue // names the dialect of the schema, constrains nothing
    if (isEnforced(keyword, value)) out[keyword === 'oneOf' ? 'anyOf' : keyword] = inside(keyword, value, closing)
    else {
      closing.loosened.add(keyword)
      reported.push(`${keyword}: ${JSON.stringify(value)}`)
    }
  }
  if (isObjectSchema(schema)) out['additionalProperties'] = false
  if (reported.length > 0) {
    const description = typeof schema['description'] === 'string' ? `${schema['description']}\n` : ''
    out['description'] = `${description}(${reported.join(', ')})`
  }
  return out
}

/** Generators write `allOf: [{$ref}]` to put a description beside a reference; `allOf` may hold no references. */
const withoutReferencesInAllOf = (schema: Schema, root: Schema): Schema => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const inlined = (allOf as unknown[]).map((each) => {
    const target = isObject(each) && typeof each['$ref'] === 'string' ? resolvePointer(root, each['$ref']) : null
    if (target === null || !isObject(each)) return each
    const { $ref: _, ...beside } = each
    return { ...target, ...beside }
  })
  const [only] = inlined
  return inlined.length === 1 && isObject(only) ? withoutReferencesInAllOf({ ...only, ...rest }, root) : { ...rest, allOf: inlined }
}

const isObjectSchema = ({ type, properties }: Schema): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)

const isEnforced = (keyword: string, value: unknown): boolean => {
  if (keyword === 'minItems') return value === 0 || value === 1
  if (keyword === 'format') return typeof value === 'string' && FORMATS.has(value)
  if (keyword === 'pattern') return typeof value === 'string' && !NO_PATTERN.test(value)
  return !UNENFORCED.has(keyword)
}

/** Looking ahead and behind, boundaries of words, and references back. */
const NO_PATTERN = /\(\?<?[=!]|\\[bB1-9]|\\k</

const UNENFORCED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'contains',
  'minProperties',
  'maxProperties',
  'propertyNames',
])

const FORMATS: ReadonlySet<string> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Keywords whose value holds schemas: by name, in a list, or one. Every other value is data. */
const inside = (keyword: string, value: unknown, closing: Closing): unknown => {
  const each = (schema: unknown): unknown => (isObject(schema) ? closed(schema, closing) : schema)
  if (DEFINITIONS.has(keyword) && isObject(value)) {
    const used = Object.entries(value).filter(
      ([name]) => closing.used.has(`#/${keyword}/${name}`) || closing.used.has(`#/${keyword}/${encodeURIComponent(name)}`),
    )
    return Object.fromEntries(used.map(([name, schema]) => [name, each(schema)]))
  }
  if (keyword === 'properties' && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, each(schema)]))
  if (!HOLDS_SCHEMAS.has(keyword)) return value
  return Array.isArray(value) ? value.map(each) : each(value)
}

const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'])
