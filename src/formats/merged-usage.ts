import { JsonBody } from '../lib/json/json-body.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { isObject } from '../lib/json/json.ts'
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { parseJson } from '../lib/json/parse-json.ts'

/**
 * Returns JSON text of our usage laid over the upstream's own object (its JSON text, or null): members that only the vendor
 * defines are kept as written, in their places.
 */
export const mergedUsage = (upstream: string | null, ours: JsonObject): string => {
  try {
    return mergedObject(upstream, ours)
  } catch (error) {
    // Not a plain JSON object (for example, a member occurs twice): our members say everything that counts.
    if (error instanceof JsonTextError) return JSON.stringify(ours)
    throw error
  }
}

const mergedObject = (upstream: string | null, ours: JsonObject): string => {
  if (upstream === null || !upstream.startsWith('{')) return JSON.stringify(ours)
  const theirs = parsedPlainly(upstream)
  return theirs === null ? splicedObject(upstream, ours) : JSON.stringify(merged(theirs, ours))
}

/** Returns the parsed object if JSON.stringify reproduces its text, as is almost always the case; otherwise null. */
const parsedPlainly = (text: string): JsonObject | null => {
  const value = parseJson(text, 'The usage is not valid JSON.')
  return isObject(value) && JSON.stringify(value) === text ? value : null
}

const merged = (theirs: JsonObject, ours: JsonObject): JsonObject => {
  const object: Record<string, JsonValue> = { ...theirs }
  for (const key in ours) {
    const value = ours[key] ?? null
    const known = object[key]
    object[key] = isObject(value) && isObject(known) ? merged(known, value) : value
  }
  return object
}

const splicedObject = (upstream: string, ours: JsonObject): string => {
  const theirs = JsonBody.ofParsed(upstream)
  const changes: Record<string, string> = {}
  for (const [key, value] of Object.entries(ours)) {
    changes[key] = isObject(value) ? mergedObject(theirs.raw(key) ?? null, value) : JSON.stringify(value)
  }
  return theirs.textWith(changes)
}
