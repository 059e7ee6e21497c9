import type { JsonObject } from '../lib/json/json.ts'

/**
 * The JSON Schema of a function's arguments: an object with these members and no others. An empty list of required members is left out,
 * since older drafts of JSON Schema refuse it.
 */
export const argumentSchema = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
})
