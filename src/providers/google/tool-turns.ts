/** Calls and their results: JSON text on our side, objects on Google's. */
import type { Part } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { readJsonObject } from '../../lib/json-body.ts'
import { JsonTextError } from '../../lib/json-scan.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Throws `invalid_prompt` for arguments that are no JSON object. */
export const callArguments = (call: Extract<Part, { type: 'tool-call' }>, at: string): JsonObject => {
  if (call.arguments.trim() === '') return {}
  const parsed = objectOrNull(call.arguments)
  if (parsed === null)
    throw new GatewayError('invalid_prompt', `${at}: the arguments of the call of ${call.name.slice(0, 100)} are not a JSON object.`)
  return parsed
}

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
    return readJsonObject(text)
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return null
    throw thrown
  }
}
