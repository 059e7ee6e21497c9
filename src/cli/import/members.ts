/** Members of a stranger's file, in the form that a reader expects. */
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** '' where there is none. */
export const wordIn = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/** Empty where it is something else. */
export const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

const isList = (value: unknown): value is readonly JsonValue[] => Array.isArray(value)

export const valuesIn = (value: JsonValue | undefined): readonly JsonValue[] => (isList(value) ? value : [])

export const objectsIn = (value: JsonValue | undefined): readonly JsonObject[] =>
  valuesIn(value).filter((item): item is JsonObject => isObject(item))
