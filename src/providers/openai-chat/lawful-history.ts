/**
 * Brings calls and results of chat messages into a form that vendors take: distinct ids, arguments that are a JSON object, and one result
 * right after each call. It uses the rules for the canonical form, for which only calls and results are built here.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { isList, isObject, type JsonObject, type JsonValue, textOf } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { withLawfulCalls } from '../tools/lawful-calls.ts'
import { loneResult, pairingRepairs, type Repairs } from '../tools/paired-results.ts'
import type { PlacedMessage } from './placed-message.ts'

/** Returns the same messages if all is in order. `openEnd`: calls that end the conversation may all lack their results. */
export function* withLawfulHistory(
  given: readonly PlacedMessage[],
  openEnd: boolean,
  warn: (warning: Warning) => void,
): Steps<readonly PlacedMessage[]> {
  if (!given.some(({ message }) => message['role'] === 'tool' || Array.isArray(message['tool_calls']))) return given
  const read = yield* mapInSteps(given, skeletonOf)
  const { messages: lawful } = yield* withLawfulCalls({ messages: read }, (field, message) =>
    warn({ code: 'mapped_field', field, message }),
  )
  const named =
    lawful === read
      ? given
      : given.map((placed, place) => {
          const parts = lawful[place]?.parts ?? []
          return parts === read[place]?.parts ? placed : { ...placed, message: withParts(placed.message, parts) }
        })
  yield
  const repairs = yield* pairingRepairs(lawful, { openEnd, ownTurns: true })
  yield
  return repairs === null ? named : repaired(named, lawful, repairs, warn)
}

/** The calls and the result of a message; everything else in it is left out. */
const skeletonOf = ({ message, at }: PlacedMessage): Message => {
  const { role, tool_calls: calls, tool_call_id: answered } = message
  if (role === 'assistant') return { role, at, parts: isList(calls) ? calls.map(callOf) : [] }
  if (role !== 'tool') return { role: 'user', at, parts: [] }
  return { role: 'user', at, parts: [{ type: 'tool-result', callId: textOf(answered), text: '' }] }
}

/** A call without an id, or of an unknown type, cannot be answered. */
const callOf = (call: JsonValue): Part => {
  if (!isObject(call) || typeof call['id'] !== 'string') return { type: 'unknown', kind: 'call', at: '' }
  const { id, function: called, custom } = call
  if (isObject(custom)) return { type: 'tool-call', id, name: nameOf(custom), arguments: '', custom: true }
  if (!isObject(called)) return { type: 'unknown', kind: 'call', at: '' }
  const { arguments: said } = called
  return { type: 'tool-call', id, name: nameOf(called), arguments: textOf(said) }
}

const nameOf = ({ name }: Readonly<Record<string, unknown>>): string => (typeof name === 'string' ? name : 'a tool')

const withParts = (message: JsonObject, parts: readonly Part[]): JsonObject => {
  const [first] = parts
  if (first?.type === 'tool-result') return { ...message, tool_call_id: first.callId }
  const { tool_calls: calls } = message
  if (!isList(calls)) return message
  return { ...message, tool_calls: calls.map((call, index) => withCall(call, parts[index])) }
}

const withCall = (call: JsonValue, part: Part | undefined): JsonValue => {
  if (part?.type !== 'tool-call' || !isObject(call)) return call
  const { id, function: called } = call
  const next: JsonObject = id === part.id ? call : { ...call, id: part.id }
  if (part.custom === true || !isObject(called) || called['arguments'] === part.arguments) return next
  return { ...next, function: { ...called, arguments: part.arguments } }
}

const repaired = (
  given: readonly PlacedMessage[],
  lawful: readonly Message[],
  { lone, late, due }: Repairs,
  warn: (warning: Warning) => void,
): readonly PlacedMessage[] => {
  const byResult = new Map<Part, PlacedMessage>()
  for (const [place, placed] of given.entries()) {
    const [part] = lawful[place]?.parts ?? []
    if (part?.type === 'tool-result') byResult.set(part, placed)
  }
  const next: PlacedMessage[] = []
  for (const [place, placed] of given.entries()) {
    const [part] = lawful[place]?.parts ?? []
    if (part !== undefined && lone.has(part)) {
      warn(loneResult(placed.at))
      next.push({ at: placed.at, message: { role: 'user', content: placed.message['content'] ?? '' } })
    } else if (part === undefined || !late.has(part)) next.push(placed)
    for (const { result, warning } of due.get(place) ?? []) {
      warn(warning)
      next.push(byResult.get(result) ?? { at: placed.at, message: { role: 'tool', tool_call_id: result.callId, content: result.text } })
    }
  }
  return next
}
