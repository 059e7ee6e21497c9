/** Instructions to a model about the form of its answer, for providers that do not enforce a format. */
import type { JsonValue } from '../lib/json/json.ts'

export const JSON_WORDS = 'Answer with one JSON object and nothing else: no other text, and no Markdown around it.'

export const schemaWords = (schema: JsonValue): string =>
  `${JSON_WORDS} It must be valid against this JSON Schema: ${JSON.stringify(schema)}`
