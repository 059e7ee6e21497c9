/** Suggests the name that was probably meant if an object has a name that its schema does not know. */
import { z } from 'zod'

import { nearestName } from '../lib/text/nearest-name.ts'

interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  /** The shapes that are distinguished by a tag. */
  readonly oneOf?: readonly Schema[]
}

/** Returns the known name at `path` that is closest to `key`; null if none is close. */
export const nearestKey = (schema: z.ZodType, path: readonly PropertyKey[], key: string): string | null =>
  nearestName(knownKeys(schema, path), key)

/** The names that an object at `path` may have. */
export const knownKeys = (schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] => {
  const root = described(schema)
  const found = path.reduce<readonly Schema[]>((at, step) => at.flatMap((each) => inside(each, step, root)), branches(root, root))
  return [...new Set(found.flatMap(({ properties }) => Object.keys(properties ?? {})))]
}

/** Caches descriptions: describing a schema takes milliseconds, and a body may have many unknown members. */
const described = (schema: z.ZodType): Schema => {
  const known = descriptions.get(schema) ?? (z.toJSONSchema(schema, { io: 'input' }) as Schema)
  descriptions.set(schema, known)
  return known
}

const descriptions = new WeakMap<z.ZodType, Schema>()

const inside = (schema: Schema, step: PropertyKey, root: Schema): readonly Schema[] => {
  const { properties = {}, additionalProperties, items } = schema
  if (typeof step === 'number') return items === undefined ? [] : branches(items, root)
  const name = String(step)
  const member = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
  return typeof member === 'object' ? branches(member, root) : []
}

/** All forms that a value may take. */
const branches = (schema: Schema, root: Schema): readonly Schema[] => {
  if (schema.$ref !== undefined) {
    const named = root.$defs?.[schema.$ref.replace('#/$defs/', '')]
    return named === undefined ? [] : branches(named, root)
  }
  const forms = schema.anyOf ?? schema.oneOf
  return forms === undefined ? [schema] : forms.flatMap((each) => branches(each, root))
}
