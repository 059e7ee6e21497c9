/** The schema of an answer, for dialects that have no field for its description: the description goes into the schema. */
import type { OutputFormat } from '../canonical/prompt.ts'
import { isObject } from '../lib/json/json.ts'

/** `schema`: the form of it that the provider takes. A description of its own stays. */
export const describedSchema = <Schema>(format: OutputFormat, schema: Schema): Schema | (Schema & { readonly description: string }) => {
  const description = format.type === 'json-schema' ? format.description : undefined
  return description === undefined || !isObject(schema) || schema['description'] !== undefined ? schema : { ...schema, description }
}
