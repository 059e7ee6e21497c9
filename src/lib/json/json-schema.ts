/**
 * Checks a value against a third party's JSON Schema (drafts 4 to 2020-12). The work is bounded whatever the schema says: patterns run in
 * linear time, and the check of a schema that branches endlessly is given up. Keywords that cannot be checked are reported and count as
 * satisfied, because a tool whose schema is beyond this check is still the client's tool (decisions/0050).
 */
import { cutText } from '../text/cut-text.ts'
import { isObject, type JsonObject, type JsonValue, listOf, textOf } from './json.ts'
import { createRegex, type Regex } from '../regex/finder.ts'
import { matches } from '../regex/matches.ts'
import { RegexRefused } from '../regex/parse.ts'
import { createWork, spend, TooMuchWork } from '../work.ts'
import { decodedOrSame } from '../text/percent-text.ts'

export interface SchemaFault {
  /** `$.filters[2].name` */
  readonly path: string
  readonly message: string
}

export interface SchemaCheck {
  readonly faults: readonly SchemaFault[]
  /** Keywords and patterns that were not checked. */
  readonly unchecked: readonly string[]
}

/** Compiles nothing until it is needed, so that a schema that is never checked costs nothing. */
export const createSchemaCheck = (schema: unknown): ((value: JsonValue) => SchemaCheck) => {
  const known: Known = {
    patterns: new Map(),
    referred: new Map(),
    anchors: null,
    canonical: new WeakMap(),
    excerpts: new WeakMap(),
    oldReferences: /draft-0[3-7]/.test(textOf(isObject(schema) ? schema['$schema'] : undefined)),
  }
  return (value) => new Checking(schema, known).whole(value)
}

/** Facts about a schema that are found once, however many values are checked. */
interface Known {
  readonly patterns: Map<string, Regex | null>
  readonly referred: Map<string, unknown>
  anchors: ReadonlyMap<string, unknown> | null
  readonly canonical: WeakMap<object, string>
  readonly excerpts: WeakMap<object, string>
  readonly oldReferences: boolean
}

/** The most steps for one value: about a hundred milliseconds. */
const WORK_MAX = 10_000_000
const VISIT_STEPS = 100
const PATTERN_STEPS = 10_000
const MEMBER_STEPS = 20
const UNIT_STEPS = 50
const DEPTH_MAX = 200
const TYPES_MAX = 20
const EXCERPT_MAX = 300
/** Faults beyond this number are not reported. */
const FAULTS_MAX = 100

/** Keywords whose meaning depends on what other keywords have evaluated. */
const NOT_CHECKED = ['unevaluatedItems', 'unevaluatedProperties', '$dynamicRef', '$recursiveRef'] as const

type Schema = Readonly<Record<string, unknown>>

class Checking {
  readonly #root: unknown
  readonly #known: Known
  readonly #work = createWork(WORK_MAX)
  readonly #unchecked = new Set<string>()
  #faults: SchemaFault[] = []
  #depth = 0

  constructor(root: unknown, known: Known) {
    this.#root = root
    this.#known = known
  }

  whole(value: JsonValue): SchemaCheck {
    try {
      this.#check(this.#root, value, '$')
      return { faults: this.#faults, unchecked: [...this.#unchecked] }
    } catch (thrown) {
      if (!(thrown instanceof TooMuchWork)) throw thrown
      return { faults: [], unchecked: [...this.#unchecked, 'a schema that takes too long to check'] }
    }
  }

  #fault(path: string, message: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ path, message })
  }

  /** True if the value satisfies the schema; its faults are not reported. */
  #holds(schema: unknown, value: JsonValue, path: string): boolean {
    const before = this.#faults
    this.#faults = []
    this.#check(schema, value, path)
    const holds = this.#faults.length === 0
    this.#faults = before
    return holds
  }

  #check(schema: unknown, value: JsonValue, path: string): void {
    if (schema === false) return this.#fault(path, 'is not allowed')
    if (!isObject(schema)) return
    spend(this.#work, this.#depth < DEPTH_MAX ? VISIT_STEPS : Number.POSITIVE_INFINITY)
    this.#depth += 1
    this.#checkObject(schema, value, path)
    this.#depth -= 1
  }

  #checkObject(schema: Schema, value: JsonValue, path: string): void {
    for (const word of NOT_CHECKED) if (schema[word] !== undefined) this.#unchecked.add(word)
    const reference = schema['$ref']
    if (typeof reference === 'string') {
      const meant = this.#referred(reference)
      if (meant === undefined) this.#unchecked.add(`$ref ${cutText(reference, 100)}`)
      else this.#check(meant, value, path)
      if (this.#known.oldReferences) return
    }
    if (value === null && schema['nullable'] === true) return
    this.#checkKind(schema, value, path)
    this.#checkCombined(schema, value, path)
    if (typeof value === 'string') this.#checkText(schema, value, path)
    else if (typeof value === 'number') this.#checkNumber(schema, value, path)
    else if (Array.isArray(value)) this.#checkList(schema, value as readonly JsonValue[], path)
    else if (isObject(value)) this.#checkMembers(schema, value, path)
  }

  #checkKind(schema: Schema, value: JsonValue, path: string): void {
    const { type, enum: values, const: constant } = schema
    const types = (Array.isArray(type) ? (type as unknown[]) : [type]).slice(0, TYPES_MAX).filter((one) => typeof one === 'string')
    if (types.length > 0 && !types.some((one) => isOfType(value, one))) this.#fault(path, `must be ${types.join(' or ')}`)
    if (Array.isArray(values) && !this.#isAmong(values, value)) this.#fault(path, `must be one of ${this.#excerpt(values)}`)
    if (constant !== undefined && !this.#isAmong([constant], value)) this.#fault(path, `must be ${this.#excerpt(constant)}`)
  }

  #isAmong(values: readonly unknown[], value: JsonValue): boolean {
    spend(this.#work, values.length)
    if (typeof value !== 'object' || value === null) return values.includes(value)
    const text = this.#canonical(value)
    return values.some((one) => typeof one === 'object' && one !== null && this.#canonical(one) === text)
  }

  #unit(item: JsonValue): string {
    spend(this.#work, UNIT_STEPS)
    return typeof item === 'object' && item !== null ? this.#canonical(item) : JSON.stringify(item)
  }

  #canonical(value: object): string {
    const known = this.#known.canonical.get(value)
    const text = known ?? canonicalJson(value)
    if (known === undefined) this.#known.canonical.set(value, text)
    spend(this.#work, text.length)
    return text
  }

  /** The beginning of what a schema demands, for a message. */
  #excerpt(value: unknown): string {
    if (typeof value === 'string') return excerpt(cutText(value, EXCERPT_MAX))
    if (typeof value !== 'object' || value === null) return excerpt(value)
    const known = this.#known.excerpts.get(value)
    const text = known ?? excerpt(value)
    if (known === undefined) this.#known.excerpts.set(value, text)
    return text
  }

  #referred(reference: string): unknown {
    const { referred } = this.#known
    if (!referred.has(reference))
      referred.set(
        reference,
        targetOf(this.#root, reference, () => (this.#known.anchors ??= anchorsIn(this.#root))),
      )
    return referred.get(reference)
  }

  #checkCombined(schema: Schema, value: JsonValue, path: string): void {
    for (const part of listOf(schema['allOf'])) this.#check(part, value, path)
    const { anyOf, oneOf, not, if: condition } = schema
    if (Array.isArray(anyOf) && !this.#checkOnly(anyOf, value, path) && !anyOf.some((one) => this.#holds(one, value, path)))
      this.#fault(path, 'must match one of the schemas of anyOf')
    if (Array.isArray(oneOf)) {
      const matching = oneOf.filter((one) => this.#holds(one, value, path)).length
      if (matching !== 1) this.#fault(path, `must match exactly one of the schemas of oneOf, and matches ${matching}`)
    }
    if (not !== undefined && this.#holds(not, value, path)) this.#fault(path, 'must not match the schema of not')
    if (condition !== undefined) this.#check(schema[this.#holds(condition, value, path) ? 'then' : 'else'], value, path)
  }

  /** With only one alternative there is no choice, and the alternative's own faults say more. */
  #checkOnly(schemas: readonly unknown[], value: JsonValue, path: string): boolean {
    if (schemas.length !== 1) return false
    this.#check(schemas[0], value, path)
    return true
  }

  #checkText({ minLength, maxLength, pattern }: Schema, value: string, path: string): void {
    spend(this.#work, value.length)
    if (typeof minLength === 'number' && lengthOf(value) < minLength) this.#fault(path, `must have at least ${minLength} characters`)
    if (typeof maxLength === 'number' && lengthOf(value) > maxLength) this.#fault(path, `must have at most ${maxLength} characters`)
    if (typeof pattern === 'string' && this.#matches(pattern, value) === false) this.#fault(path, `must match ${this.#excerpt(pattern)}`)
  }

  /** Null if the pattern cannot run in linear time. */
  #matches(pattern: string, text: string): boolean | null {
    if (pattern === '') return true
    let regex = this.#known.patterns.get(pattern)
    if (regex === undefined) {
      spend(this.#work, PATTERN_STEPS)
      regex = regexOf(pattern)
      this.#known.patterns.set(pattern, regex)
    }
    if (regex !== null) return matches(regex, text, this.#work)
    this.#unchecked.add(`pattern ${cutText(pattern, 100)}`)
    return null
  }

  #checkNumber(schema: Schema, value: number, path: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    if (typeof minimum === 'number') {
      // In draft 4, `exclusiveMinimum: true` says that the bound itself is not allowed.
      if (exclusiveMinimum === true ? value <= minimum : value < minimum) this.#fault(path, `must be at least ${minimum}`)
    }
    if (typeof maximum === 'number') {
      if (exclusiveMaximum === true ? value >= maximum : value > maximum) this.#fault(path, `must be at most ${maximum}`)
    }
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) this.#fault(path, `must be greater than ${exclusiveMinimum}`)
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) this.#fault(path, `must be less than ${exclusiveMaximum}`)
    if (typeof multipleOf === 'number' && multipleOf > 0) {
      const times = value / multipleOf
      if (Math.abs(times - Math.round(times)) > Math.max(1, Math.abs(times)) * 1e-12)
        this.#fault(path, `must be a multiple of ${multipleOf}`)
    }
  }

  #checkList(schema: Schema, value: readonly JsonValue[], path: string): void {
    const { minItems, maxItems, uniqueItems, items, contains } = schema
    if (typeof minItems === 'number' && value.length < minItems) this.#fault(path, `must have at least ${minItems} items`)
    if (typeof maxItems === 'number' && value.length > maxItems) this.#fault(path, `must have at most ${maxItems} items`)
    if (uniqueItems === true && new Set(value.map((item) => this.#unit(item))).size < value.length)
      this.#fault(path, 'must not have an item twice')
    // Before 2020-12, `items` was either a list of schemas by position or one schema for all items.
    const first = listOf(Array.isArray(items) ? items : schema['prefixItems'])
    const rest = Array.isArray(items) ? schema['additionalItems'] : items
    for (const [index, item] of value.entries()) this.#check(index < first.length ? first[index] : rest, item, `${path}[${index}]`)
    if (contains === undefined) return
    const { minContains = 1, maxContains } = schema
    const found = value.filter((item) => this.#holds(contains, item, path)).length
    if (typeof minContains === 'number' && found < minContains)
      this.#fault(path, `must contain at least ${minContains} items that match the schema of contains`)
    if (typeof maxContains === 'number' && found > maxContains)
      this.#fault(path, `must contain at most ${maxContains} items that match the schema of contains`)
  }

  #checkMembers(schema: Schema, value: JsonObject, path: string): void {
    const keys = Object.keys(value)
    const { required, minProperties, maxProperties, properties, patternProperties, additionalProperties, propertyNames } = schema
    spend(this.#work, MEMBER_STEPS * (keys.length + listOf(required).length))
    for (const key of listOf(required)) {
      if (typeof key === 'string' && !Object.hasOwn(value, key)) this.#fault(memberPath(path, key), 'is required')
    }
    if (typeof minProperties === 'number' && keys.length < minProperties) this.#fault(path, `must have at least ${minProperties} members`)
    if (typeof maxProperties === 'number' && keys.length > maxProperties) this.#fault(path, `must have at most ${maxProperties} members`)
    const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : []
    spend(this.#work, MEMBER_STEPS * patterns.length)
    for (const key of keys) {
      const member = value[key] as JsonValue
      const at = memberPath(path, key)
      let isKnown = false
      if (isObject(properties) && Object.hasOwn(properties, key)) {
        isKnown = true
        this.#check(properties[key], member, at)
      }
      for (const [pattern, inner] of patterns) {
        const matching = this.#matches(pattern, key)
        if (matching === true) this.#check(inner, member, at)
        // A pattern that could not be checked may have been meant for this member.
        isKnown ||= matching !== false
      }
      if (!isKnown) this.#check(additionalProperties, member, at)
      if (propertyNames !== undefined && !this.#holds(propertyNames, key, at)) this.#fault(at, 'has a name that is not allowed')
    }
    this.#checkDependents(schema, value, path)
  }

  /** In draft 7, `dependencies` holds both kinds. */
  #checkDependents(schema: Schema, value: JsonObject, path: string): void {
    for (const word of ['dependentRequired', 'dependentSchemas', 'dependencies'] as const) {
      const dependents = schema[word]
      if (!isObject(dependents)) continue
      const entries = Object.entries(dependents)
      spend(this.#work, MEMBER_STEPS * entries.length)
      for (const [key, needed] of entries) {
        if (!Object.hasOwn(value, key)) continue
        if (!Array.isArray(needed)) this.#check(needed, value, path)
        else {
          spend(this.#work, MEMBER_STEPS * needed.length)
          for (const other of needed as unknown[]) {
            if (typeof other === 'string' && !Object.hasOwn(value, other))
              this.#fault(memberPath(path, other), `is required beside ${this.#excerpt(key)}`)
          }
        }
      }
    }
  }
}

const isOfType = (value: JsonValue, type: string): boolean => {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      // A type of a later draft.
      return true
  }
}

/** The target of a reference within the schema: `#`, `#/$defs/place`, or an `$anchor` in it. Undefined for any other reference. */
const targetOf = (root: unknown, reference: string, anchors: () => ReadonlyMap<string, unknown>): unknown => {
  if (!reference.startsWith('#')) return undefined
  const pointer = reference.slice(1)
  if (pointer === '') return root
  if (!pointer.startsWith('/')) return anchors().get(pointer)
  let at = root
  for (const step of pointer.slice(1).split('/')) {
    const key = decodedOrSame(step).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? (at as unknown[])[Number(key)] : isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

/** The anchors by name; the first one of each name counts. */
const anchorsIn = (root: unknown): ReadonlyMap<string, unknown> => {
  const found = new Map<string, unknown>()
  for (const word of ['$defs', 'definitions']) {
    const defined = isObject(root) ? root[word] : undefined
    for (const one of isObject(defined) ? Object.values(defined) : []) {
      if (!isObject(one)) continue
      for (const name of [textOf(one['$anchor']), textOf(one['$id']).replace(/^#/, '')])
        if (name !== '' && !found.has(name)) found.set(name, one)
    }
  }
  return found
}

const regexOf = (pattern: string): Regex | null => {
  try {
    return createRegex(pattern)
  } catch (thrown) {
    if (thrown instanceof RegexRefused) return null
    throw thrown
  }
}

/** Returns the same text for equal values, whatever the order of their members. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1))) : inner,
  ) ?? 'null'

/** Counts characters rather than UTF-16 units, as JSON Schema does. */
const lengthOf = (text: string): number => [...text].length

const memberPath = (path: string, key: string): string => `${path}.${cutText(key, 100)}`

const excerpt = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.length <= 200 ? json : `${cutText(json, 200)}…`
}
