/**
 * Converts a JSON Schema for constrained decoding: objects are closed, and keywords that cannot be enforced are given to the model in the
 * description instead. Source: the API's page on structured outputs ("JSON Schema limitations", "Schema complexity limits") and its SDK's
 * helper.
 */
import { isObject, listOf } from '../../lib/json/json.ts'
import type { Growth } from '../../lib/json/json-size.ts'
import { resolvePointer } from '../../lib/json/json-pointer.ts'
import { wordSet } from '../../lib/text/word-set.ts'

type Schema = Readonly<Record<string, unknown>>

export interface ClosedSchema {
  readonly schema: Schema
  /** The keywords that are no longer enforced, each once. */
  readonly loosened: readonly string[]
  /** The numbers of optional parameters and of parameters with more than one type, at any depth. */
  readonly optional: number
  readonly unions: number
}

/** Why no grammar can be made of a schema, as the end of a sentence. */
export interface Unenforceable {
  readonly obstacle: string
}

/**
 * `of`: an object without members is allowed for a tool, where it means no arguments, but not for a format, where it means any members.
 * `growth`: of the whole request.
 */
export const closeSchema = (root: Schema, of: 'tool' | 'format', growth: Growth): ClosedSchema | Unenforceable => {
  if (of === 'format' && isOpenMap(root)) return OPEN_MAP
  const survey = createSurvey(root)
  const counts = survey.of(root, 0)
  if ('obstacle' in counts) return counts
  const closing: Closing = { root, loosened: new Set(), used: survey.used, growth, isTooLarge: false }
  const schema = closed(root, closing)
  return closing.isTooLarge ? TOO_LARGE : { schema, loosened: [...closing.loosened], ...counts }
}

interface Counts {
  readonly optional: number
  readonly unions: number
}

const RECURSION = { obstacle: 'schemas that refer to themselves' }
const NOWHERE = { obstacle: 'references that lead out of the schema' }
const OPEN_MAP = { obstacle: 'objects whose members have any name' }
const TOO_DEEP = { obstacle: 'references that lead from one to the next so often' }
const TOO_LARGE = { obstacle: 'schemas that become this large when they are written out' }

/** The most references that may lead from one to the next. */
const NESTED_REFERENCES_MAX = 100

/**
 * Counts the optional and union parameters of a schema and of all that it refers to, once for each reference. Each schema is visited only
 * once, however many references lead to it.
 */
const createSurvey = (
  root: Schema,
): { of(schema: Schema, references: number): Counts | Unenforceable; readonly used: ReadonlySet<Schema> } => {
  /** Undefined for a schema that is being visited. */
  const known = new Map<Schema, Counts | Unenforceable | undefined>()
  const used = new Set<Schema>()

  const referred = (reference: string, references: number): Counts | Unenforceable => {
    if (reference === '#') return RECURSION
    const target = resolvePointer(root, reference)
    if (target === null) return NOWHERE
    used.add(target)
    return references > NESTED_REFERENCES_MAX ? TOO_DEEP : of(target, references)
  }

  /** `references`: the number of references that were followed to get there. */
  const of = (schema: Schema, references: number): Counts | Unenforceable => {
    if (known.has(schema)) return known.get(schema) ?? RECURSION
    known.set(schema, undefined)
    const found = counted(schema, references)
    known.set(schema, found)
    return found
  }

  const counted = (schema: Schema, references: number): Counts | Unenforceable => {
    const { $ref: reference, properties } = schema
    if (schema !== root && isOpenMap(schema)) return OPEN_MAP
    if ([schema['additionalProperties'], schema['patternProperties']].some((others) => others === true || isObject(others))) return OPEN_MAP
    const required = new Set(listOf(schema['required']))
    const named = isObject(properties) ? Object.entries(properties) : []
    let unions = named.filter(([, parameter]) => isObject(parameter) && isUnion(parameter)).length
    let optional = named.filter(([name]) => !required.has(name)).length
    for (const inner of [...(typeof reference === 'string' ? [reference] : []), ...schemasIn(schema)]) {
      const found = typeof inner === 'string' ? referred(inner, references + 1) : of(inner, references)
      if ('obstacle' in found) return found
      optional += found.optional
      unions += found.unions
    }
    return { optional, unions }
  }

  return { of, used }
}

const isUnion = (schema: Schema): boolean =>
  Array.isArray(schema['type']) || Array.isArray(schema['anyOf']) || Array.isArray(schema['oneOf'])

/** A closed object of this kind would always be empty. */
const isOpenMap = (schema: Schema): boolean =>
  schema['type'] === 'object' && schema['additionalProperties'] === undefined && !SHAPES.some((keyword) => schema[keyword] !== undefined)

const SHAPES = ['properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const']

/** The schemas directly inside, except definitions, which count where they are referred to. */
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
  /** The targets of references that are followed from the root; a definition that is not among them is left out. */
  readonly used: ReadonlySet<Schema>
  readonly growth: Growth
  /** A reference could not be written out because the limit of `growth` was reached. */
  isTooLarge: boolean
}

/** Returns the same object if nothing changes, so that its text is not written again. */
const closed = (given: Schema, closing: Closing): Schema => {
  if (closing.isTooLarge) return given
  const schema = withoutReferencesInAllOf(given, closing)
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
  return isSameObject(out, given) ? given : out
}

const isSameObject = (one: Schema, other: Schema): boolean => {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

/** Generators write `allOf: [{$ref}]` to put a description beside a reference, but `allOf` may not hold references. */
const withoutReferencesInAllOf = (schema: Schema, closing: Closing): Schema => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const inlined = (allOf as unknown[]).map((each) => {
    const target = isObject(each) && typeof each['$ref'] === 'string' ? resolvePointer(closing.root, each['$ref']) : null
    if (target === null || !isObject(each)) return each
    if (closing.isTooLarge || !closing.growth.take(target)) {
      closing.isTooLarge = true
      return each
    }
    const { $ref: _, ...beside } = each
    return { ...target, ...beside }
  })
  const [only] = inlined
  return inlined.length === 1 && isObject(only) ? withoutReferencesInAllOf({ ...only, ...rest }, closing) : { ...rest, allOf: inlined }
}

const isObjectSchema = ({ type, properties }: Schema): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)

const isEnforced = (keyword: string, value: unknown): boolean => {
  if (keyword === 'minItems') return value === 0 || value === 1
  if (keyword === 'format') return typeof value === 'string' && FORMATS.has(value)
  if (keyword === 'pattern') return typeof value === 'string' && !NO_PATTERN.test(value)
  return !UNENFORCED.has(keyword)
}

/** Lookahead and lookbehind, word boundaries, and back-references. */
const NO_PATTERN = /\(\?<?[=!]|\\[bB1-9]|\\k</

const UNENFORCED: ReadonlySet<string> = wordSet(`
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems contains
  minContains maxContains minProperties maxProperties propertyNames prefixItems additionalItems unevaluatedItems unevaluatedProperties
  not if then else dependentRequired dependentSchemas dependencies
`)

const FORMATS: ReadonlySet<string> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Converts the schemas in a keyword's value: by name, in a list, or a single one. Every other value is data. */
const inside = (keyword: string, value: unknown, closing: Closing): unknown => {
  const each = (schema: unknown): unknown => (isObject(schema) ? closed(schema, closing) : schema)
  if ((DEFINITIONS.has(keyword) || keyword === 'properties') && isObject(value)) {
    const kept = Object.entries(value).filter(([, schema]) => keyword === 'properties' || (isObject(schema) && closing.used.has(schema)))
    const next = Object.fromEntries(kept.map(([name, schema]) => [name, each(schema)]))
    return isSameObject(next, value) ? value : next
  }
  if (!HOLDS_SCHEMAS.has(keyword)) return value
  if (!Array.isArray(value)) return each(value)
  const next = (value as unknown[]).map(each)
  return next.every((schema, index) => schema === value[index]) ? value : next
}

const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(['items', 'anyOf', 'oneOf', 'allOf'])
