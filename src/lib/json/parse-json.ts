import type { JsonValue } from './json.ts'
import { JsonTextError } from './json-limits.ts'

/** Like `JSON.parse`. Throws JsonTextError: a large body is parsed as it is read, so that a fault in it may show late. */
export const parseJson = (text: string, fault = 'The body is not valid JSON.'): JsonValue => {
  try {
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw new JsonTextError(fault, { cause })
  }
}
