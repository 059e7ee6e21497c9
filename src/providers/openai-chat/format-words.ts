/** The schema of an answer for a vendor that takes none. Without the word JSON before the model such a vendor refuses JSON mode. */
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { schemaWords } from '../json-words.ts'
import type { Vendor } from '../vendor.ts'

/** A message to put before the others; null where nothing has to be said. */
export const formatWords = (format: JsonValue | undefined, { jsonSchema }: Vendor): JsonObject | null => {
  if (jsonSchema || !isObject(format) || !isObject(format['json_schema'])) return null
  return { role: 'system', content: schemaWords(format['json_schema']['schema'] ?? {}) }
}
