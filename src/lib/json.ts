export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes of an object's members: the JSON text to put, or null to remove the member. */
export type JsonChanges = Readonly<Record<string, string | null>>

/** The object that a text is as JSON, an empty text an empty one; null where it is none. */
export const objectIn = (json: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(json === '' ? '{}' : json)
    return isObject(value) ? (value as JsonObject) : null
  } catch {
    return null // a model wrote it
  }
}
