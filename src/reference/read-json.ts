/** Reads a JSON document whose shape is roughly known: a value that is missing or has another type reads as empty. */
import { type JsonObject, type JsonValue, listOf, membersOf, objectsIn, textOf, textsIn } from '../lib/json/json.ts'

export const objectAt = (value: JsonObject, key: string): JsonObject => membersOf(value[key])

export const textAt = (value: JsonObject, key: string): string => textOf(value[key])

export const listAt = (value: JsonObject, key: string): readonly JsonValue[] => listOf(value[key])

export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => objectsIn(value[key])

export const textsAt = (value: JsonObject, key: string): readonly string[] => textsIn(value[key])

export const entriesOf = (value: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(value).map(([name, member]) => [name, membersOf(member)] as const)

export const isEmpty = (value: JsonObject): boolean => Object.keys(value).length === 0
