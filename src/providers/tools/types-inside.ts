/**
 * Moves the type of a schema into its alternatives and references, for a vendor that refuses it beside them: "when using anyOf, type should
 * be defined in anyOf items instead of the parent schema", "when using $ref, type should be defined in the referenced schema", "conflicting
 * keywords found after $ref expansion: description". The schemas mean the same, but for descriptions of a place beside its reference.
 */
import { isList, isMap, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { withInnerSchemas } from './inner-schemas.ts'
import { targetsOf } from './joined-schema.ts'

/** Returns the same schema if no type stands beside alternatives or references. */
export const withTypesInside = (root: JsonObject): JsonObject =>
  withInnerSchemas(root, (schema) => besideReference(inAlternatives(schema), root))

const inAlternatives = (schema: JsonObject): JsonObject => {
  const { type, anyOf, ...rest } = schema
  if (type === undefined || !isList(anyOf)) return schema
  const typed = (one: JsonValue): JsonValue =>
    isMap(one) && one['type'] === undefined && one['$ref'] === undefined ? inAlternatives({ type, ...one }) : one
  return { ...rest, anyOf: anyOf.map(typed) }
}

/** The referenced schema counts where both say something. */
const besideReference = (schema: JsonObject, root: JsonObject): JsonObject => {
  if (typeof schema['$ref'] !== 'string' || Object.keys(schema).length === 1) return schema
  const targets = targetsOf(schema['$ref'], root)
  const isSaidThere = (keyword: string): boolean => keyword !== '$ref' && targets.some((target) => Object.hasOwn(target, keyword))
  const kept = Object.entries(schema).filter(([keyword]) => keyword !== 'type' && !isSaidThere(keyword))
  return kept.length === Object.keys(schema).length ? schema : Object.fromEntries(kept)
}
