/**
 * Describes the schema of an answer in words for a vendor that takes no schemas. Such a vendor refuses JSON mode unless the prompt mentions
 * JSON.
 */
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { schemaWords } from '../json-words.ts'
import type { Vendor } from '../vendors/vendor.ts'

/** Returns a message to put before the others; null if none is needed. */
export const formatWords = (format: JsonValue | undefined, { jsonSchema }: Vendor): JsonObject | null => {
  if (jsonSchema || !isObject(format) || !isObject(format['json_schema'])) return null
  return { role: 'system', content: schemaWords(format['json_schema']['schema'] ?? {}) }
}
