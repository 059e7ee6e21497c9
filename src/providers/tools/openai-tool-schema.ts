/**
 * Rewrites schemas of tools that OpenAI, or a vendor with the same rule, refuses into a form that it takes and that means the same, as far as
 * possible. Source: its refusals: "schema must be a JSON Schema of 'type: "object"'", "schema must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", "array schema missing items", "object schema missing properties".
 */
import { isList, isMap, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../../lib/steps.ts'
import { COMBINED, JOINED_MAX, joined, resolved, withWords, type Work } from './joined-schema.ts'
import { fitsStrictMode } from './openai-strict-schema.ts'
import type { RuleContext } from '../vendors/field-rules.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { withInnerSchemas } from './inner-schemas.ts'
import { withPatternsInWords } from './schema-patterns.ts'
import { withTypesInside } from './types-inside.ts'

/** Returns the tools with the schemas of the functions that `functionIn` finds mended; the same list if all are taken. */
export function* mendedTools(
  tools: readonly JsonValue[],
  field: string,
  { functionIn, withFunction }: FunctionPlace,
  { target, warn, vendor }: Pick<RuleContext, 'target' | 'warn'> & { readonly vendor: SchemaRules },
): Steps<readonly JsonValue[]> {
  const work = { left: JOINED_MAX }
  const mended = yield* mapInSteps(
    tools,
    (tool, index) => {
      const called = isMap(tool) ? functionIn(tool) : null
      const next = called === null ? null : mendedFunction(called, vendor, work)
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

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : 'this tool')

/** How a dialect keeps the function inside a tool. */
export interface FunctionPlace {
  readonly functionIn: (tool: JsonObject) => JsonObject | null
  readonly withFunction: (tool: JsonObject, called: JsonObject) => JsonObject
}

export const takesAnySchema = ({ objectSchemas, patterns }: SchemaRules): boolean => !objectSchemas && patterns === 'any'

export type SchemaRules = Pick<Vendor, 'objectSchemas' | 'typesInside' | 'patterns'>

interface MendedFunction {
  readonly called: JsonObject
  /** The change made to the schema; null if nothing has to be reported. */
  readonly reported: string | null
}

const mendedFunction = (called: JsonObject, rules: SchemaRules, work: Work): MendedFunction | null => {
  const { parameters, strict, ...rest } = called
  if (parameters === undefined) return null
  const mended = mendedSchema(parameters, rules, work)
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

/** Null if it is taken as it is, or if it does not describe an object. */
const mendedSchema = (given: JsonValue, { objectSchemas, typesInside, patterns }: SchemaRules, work: Work): MendedSchema | null => {
  const spoken = isMap(given) ? withPatternsInWords(given, patterns) : given
  const mended = objectSchemas ? objectSchema(spoken, work) : null
  const whole = mended?.schema ?? spoken
  const schema = typesInside && isMap(whole) ? withTypesInside(whole) : whole
  if (schema === given || !isMap(schema)) return mended
  const form = schema === whole ? (mended?.reported ?? null) : (mended?.reported ?? OTHER_FORM)
  return { schema, reported: spoken === given ? form : IN_WORDS }
}

const objectSchema = (given: JsonValue, work: Work): MendedSchema | null => {
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

/** Some clients write null for a type that they leave open. */
const isOfObject = ({ type = null }: JsonObject): boolean => type === null || type === 'object' || (isList(type) && type.includes('object'))

/** Adds `items` to every list that lacks it. Returns the same schema if none does. */
const withItems = (schema: JsonObject): JsonObject =>
  withInnerSchemas(schema, (one) => {
    const { type, items } = one
    // The older form of a list whose positions have different schemas.
    if (isList(items)) return { ...one, items: { anyOf: items } }
    const isOfList = type === 'array' || (isList(type) && type.includes('array'))
    return isOfList && items === undefined ? { ...one, items: {} } : one
  })
