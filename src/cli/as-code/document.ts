/** An object of the service as its file represents it, and the three-way comparison of such documents. */
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'

export type Document = JsonObject

/** Fields by name: those of `config` one by one, all others whole. A field that is absent on one side is undefined there. */
export interface FieldDifference {
  readonly field: string
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
}

/** The order of members in an inner object counts: the order of a schema's properties means something to a model. */
export const isSame = (one: Document | null, other: Document | null): boolean =>
  one === null || other === null ? one === other : differences(one, other).length === 0

export const differences = (before: Document, after: Document): readonly FieldDifference[] => {
  const old = fieldsOf(before)
  const now = fieldsOf(after)
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) =>
    JSON.stringify(old.get(field)) === JSON.stringify(now.get(field)) ? [] : [{ field, before: old.get(field), after: now.get(field) }],
  )
}

const INNER = 'config'

const fieldsOf = (document: Document): ReadonlyMap<string, JsonValue> =>
  new Map(
    Object.entries(document).flatMap(([name, value]) =>
      name === INNER && isObject(value)
        ? Object.entries(value).map(([inner, one]) => [`${INNER}.${inner}`, one] as const)
        : [[name, value] as const],
    ),
  )

/** The changes of both sides together if no field was changed on both, otherwise the fields that were. */
export type Merge = { readonly merged: Document } | { readonly clashes: readonly string[] }

export const merge = (base: Document, one: Document, other: Document): Merge => {
  const theirs = new Map(differences(base, other).map((difference) => [difference.field, difference.after]))
  const ours = new Map(differences(base, one).map((difference) => [difference.field, difference.after]))
  const clashes = [...ours].flatMap(([field, value]) =>
    theirs.has(field) && JSON.stringify(theirs.get(field)) !== JSON.stringify(value) ? [field] : [],
  )
  if (clashes.length > 0) return { clashes }
  return { merged: [...theirs].reduce<Document>((document, [field, value]) => withField(document, field, value), one) }
}

const withField = (document: Document, field: string, value: JsonValue | undefined): Document => {
  if (!field.startsWith(`${INNER}.`)) return withMember(document, field, value)
  const inner = document[INNER]
  return { ...document, [INNER]: withMember(isObject(inner) ? inner : {}, field.slice(INNER.length + 1), value) }
}

const withMember = (object: JsonObject, name: string, value: JsonValue | undefined): JsonObject => {
  const { [name]: _, ...others } = object
  return value === undefined ? others : { ...object, [name]: value }
}
