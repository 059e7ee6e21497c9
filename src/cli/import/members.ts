/** Members of a stranger's file, in the form that a reader expects. */
import { isList, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** '' where there is none. */
export const wordIn = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/** Empty where it is something else. */
export const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

export const valuesIn = (value: JsonValue | undefined): readonly JsonValue[] => (isList(value) ? value : [])
