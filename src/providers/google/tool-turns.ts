/** Results of calls: JSON text on our side, objects on Google's. */
import type { Part } from '../../canonical/prompt.ts'
import { readJsonObject } from '../../lib/json-body.ts'
import { JSON_LIMITS, JsonTextError } from '../../lib/json-limits.ts'
import type { JsonObject } from '../../lib/json.ts'

/** `media`: parts that the response holds beside its text. */
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

/** An object whose numbers survive being parsed; long ones are rounded, so such a result stays the text it is. */
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
