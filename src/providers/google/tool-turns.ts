/** Converts results of calls: text on our side, JSON objects on Google's. */
import type { Part } from '../../canonical/prompt.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { JSON_LIMITS, JsonTextError } from '../../lib/json/json-limits.ts'
import type { JsonObject } from '../../lib/json/json.ts'

/** `media`: parts that the response holds besides its text. */
export const functionResponse = (
  result: Extract<Part, { type: 'tool-result' }>,
  name: string,
  media: readonly JsonObject[],
): JsonObject => ({
  functionResponse: {
    id: result.callId,
    name,
    response: result.isError === true ? { error: result.text } : (exactObject(result.text) ?? { result: result.text }),
    ...(media.length === 0 ? {} : { parts: media }),
  },
})

/** Parses an object only if its numbers stay exact: long numbers would be rounded, so a result with them stays text. */
const exactObject = (text: string): JsonObject | null =>
  text.trimStart().startsWith('{') && !/\d{16}/.test(text) ? objectOrNull(text) : null

const objectOrNull = (text: string): JsonObject | null => {
  try {
    return readJsonObject(text, { ...JSON_LIMITS, fieldNodes: JSON_LIMITS.nodes })
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return null
    throw thrown
  }
}
