/** Reads a JSON document whose shape is roughly known: a value that is missing or has another type reads as empty. */
import { isObject, type JsonObject, type JsonValue, listOf, objectsIn, textOf, textsIn } from '../lib/json/json.ts'

export const asJsonObject = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

export const objectAt = (value: JsonObject, key: string): JsonObject => asJsonObject(value[key])

export const textAt = (value: JsonObject, key: string): string => textOf(value[key])

export const listAt = (value: JsonObject, key: string): readonly JsonValue[] => listOf(value[key])

export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => objectsIn(value[key])

export const textsAt = (value: JsonObject, key: string): readonly string[] => textsIn(value[key])

export const entriesOf = (value: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(value).map(([name, member]) => [name, asJsonObject(member)] as const)

export const isEmpty = (value: JsonObject): boolean => Object.keys(value).length === 0
