import type { Prompt } from '../../canonical/prompt.ts'
import { isObject } from '../../lib/json/json.ts'

/** For dialects without a field for the description of a format, which therefore goes into its schema. */
export const describedSchema = (schema: unknown, format: Prompt['outputFormat']): unknown => {
  const description = format.type === 'json-schema' ? format.description : undefined
  return description === undefined || !isObject(schema) || schema['description'] !== undefined ? schema : { ...schema, description }
}
