/** Reads a JSON document whose shape is roughly known: a value that is missing or has another type reads as empty. */
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

export const asJsonObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject => isObject(value)

export const objectAt = (value: JsonObject, key: string): JsonObject => asJsonObject(value[key])

export const textAt = (value: JsonObject, key: string): string => {
  const text = value[key]
  return typeof text === 'string' ? text : ''
}

export const listAt = (value: JsonObject, key: string): readonly JsonValue[] => {
  const list = value[key]
  return Array.isArray(list) ? list : []
}

export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => listAt(value, key).filter(isJsonObject)

export const textsAt = (value: JsonObject, key: string): readonly string[] => listAt(value, key).filter((item) => typeof item === 'string')

export const entriesOf = (value: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(value).map(([name, member]) => [name, asJsonObject(member)] as const)

export const isEmpty = (value: JsonObject): boolean => Object.keys(value).length === 0
