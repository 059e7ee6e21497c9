export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `isObject` leaves lists in a union of JSON values. */
export const isMap = (value: JsonValue | undefined): value is JsonObject => isObject(value)

/** `Array.isArray` does not narrow a union with a read-only list. */
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value)

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Null for an empty text too. */
export const textOrNull = (value: unknown): string | null => textOf(value) || null

/** Empty if the value is not an object. */
export const membersOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

export function listOf(value: JsonValue | undefined): readonly JsonValue[]
export function listOf(value: unknown): readonly unknown[]
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export const textsIn = (value: unknown): readonly string[] => listOf(value).filter((item) => typeof item === 'string')

export function objectsIn(value: JsonValue | undefined): readonly JsonObject[]
export function objectsIn(value: unknown): readonly Record<string, unknown>[]
export function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  return listOf(value).filter(isObject)
}

/** Changes to an object's members: the JSON text of the new value, null to remove the member, or undefined to keep it. */
export type JsonChanges = Readonly<Record<string, string | null | undefined>>

/** Parses untrusted text as JSON; undefined if it is not JSON, which the caller must judge. */
export const jsonIn = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Parses the text as a JSON object; an empty text counts as an empty object. Null if it is not an object. */
export const objectIn = (text: string): JsonObject | null => {
  const value = text === '' ? {} : jsonIn(text)
  return isObject(value) ? value : null
}

/** The object in a model's answer; null if there is none. Models like to put words or a code fence around an object. */
export const objectAmongWords = (text: string): JsonObject | null => {
  const value = jsonIn(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  return isObject(value) ? value : null
}
