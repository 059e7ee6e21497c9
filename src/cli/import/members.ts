/** Reads members of another product's file in the form that an importer expects. */
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'

/** '' if there is none. */
export const wordIn = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/** Empty if it is not an object. */
export const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})
