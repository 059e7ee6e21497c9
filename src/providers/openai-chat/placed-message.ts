import { isObject, type JsonObject, type JsonValue, objectsIn } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'

/** An outgoing message, and its path in the client's request. */
export interface PlacedMessage {
  readonly at: string
  readonly message: JsonObject
}

/** Returns the same messages if none of them changes. */
export function* mapMessages(
  given: readonly PlacedMessage[],
  map: (message: JsonObject, at: string) => JsonObject,
): Steps<readonly PlacedMessage[]> {
  const mapped = yield* mapInSteps(given, (placed) => {
    const message = map(placed.message, placed.at)
    return message === placed.message ? placed : { ...placed, message }
  })
  return mapped.every((placed, index) => placed === given[index]) ? given : mapped
}

export const callsIn = ({ role, tool_calls: calls }: JsonObject): readonly JsonObject[] => (role === 'assistant' ? objectsIn(calls) : [])

/** Returns the same message if none of its calls changes. */
export const mapCalls = (message: JsonObject, map: (call: JsonObject) => JsonObject): JsonObject => {
  const { tool_calls: calls } = message
  if (!Array.isArray(calls)) return message
  const mapped = calls.map((call: JsonValue) => (isObject(call) ? map(call) : call))
  return mapped.every((call, index) => call === calls[index]) ? message : { ...message, tool_calls: mapped }
}

/** One string if the content is a single text; null for no content. */
export const contentOf = (parts: readonly JsonObject[]): JsonValue => {
  const [first, ...others] = parts
  if (first === undefined) return null
  return others.length === 0 ? (textOfPart(first) ?? parts) : parts
}

/** The text of a part that is nothing but text; null for any other. */
export const textOfPart = (part: JsonValue): string | null =>
  isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' && !isMarked(part) ? part['text'] : null

/** A marked part is a point up to which a provider may cache the prompt. */
const isMarked = (part: JsonObject): boolean => 'cache_control' in part || 'prompt_cache_breakpoint' in part
