export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `Array.isArray` does not tell a list that is read-only from the other values. */
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value)

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])

export const textsIn = (value: unknown): readonly string[] => listOf(value).filter((item) => typeof item === 'string')

export function objectsIn(value: JsonValue | undefined): readonly JsonObject[]
export function objectsIn(value: unknown): readonly Record<string, unknown>[]
export function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  return listOf(value).filter(isObject)
}

/** Changes of an object's members: the JSON text to put, or null to remove the member. */
export type JsonChanges = Readonly<Record<string, string | null>>

/** The value that a text of somebody else is as JSON; undefined where it is none, which is for the caller to judge. */
export const jsonIn = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** The object that a text is as JSON, an empty text an empty one; null where it is none. */
export const objectIn = (text: string): JsonObject | null => {
  const value = text === '' ? {} : jsonIn(text)
  return isObject(value) ? value : null
}

/** The object in an answer of a model; null where there is none. Models like to put words or a fence around one. */
export const objectAmongWords = (text: string): JsonObject | null => {
  const value = jsonIn(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  return isObject(value) ? value : null
}
