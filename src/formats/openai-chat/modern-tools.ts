/**
 * The legacy form of tools: `functions`, `function_call` and messages of the role `function`. A request in this form is converted
 * to the current one, so that every provider understands it; its answer is converted back.
 */
import type { Warning } from '../../canonical/warning.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { parseExactInSteps, writeInSteps } from '../../lib/json/json-steps.ts'
import { isList, isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { includesInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import { atOnce, LARGE_BYTES, mapInSteps, type Steps } from '../../lib/steps.ts'
import { readAhead } from '../call-reader.ts'
import type { Written } from '../format.ts'
import { uniteTools } from '../unite-tools.ts'
import { writtenInSteps } from '../written-in-steps.ts'

export interface ModernRequest {
  readonly body: JsonBody
  readonly warnings: readonly Warning[]
  /** The client declared `functions`, so it understands only `function_call` in answers. */
  readonly legacy: boolean
}

export function* withModernTools(body: JsonBody): Steps<ModernRequest> {
  const functions = body.value('functions')
  const legacy = isList(functions)
  if (!legacy && !(yield* speaksOfFunctions(body.searchable))) return { body, warnings: [], legacy }
  yield* readAhead(body, ['messages'])
  const choice = body.value('function_call')
  const tools = body.value('tools')
  const toolChoice = body.value('tool_choice')
  const messages = body.value('messages')
  const warnings: Warning[] = []
  const history = isList(messages) ? yield* modernHistory(messages, warnings) : messages
  const raw = body.raw('messages')
  yield
  // The preset may have provided the tools: a function of the request replaces one with the same name, as a tool of the request does.
  const modern = legacy ? yield* uniteTools('chat', isList(tools) ? tools : [], functions.map(modernTool)) : null
  const isSame = history === undefined || messages === undefined || history === messages || raw === undefined
  return {
    body: yield* body.changing({
      functions: null,
      function_call: null,
      ...(modern === null ? {} : { tools: yield* writeInSteps(modern) }),
      ...(choice !== undefined && toolChoice === undefined ? { tool_choice: JSON.stringify(modernChoice(choice)) } : {}),
      ...(isSame ? {} : { messages: yield* rewrittenText(history, messages, raw) }),
    }),
    warnings,
    legacy,
  }
}

function* speaksOfFunctions(json: string): Steps<boolean> {
  return (yield* includesInSteps(json, '"function')) && (yield* testInSteps(OLDER_WORDS, json))
}

/** Returns the JSON text of a whole answer or of a chunk in the legacy form. */
export function* legacyAnswer(json: string): Steps<string> {
  if (!(yield* includesInSteps(json, '"tool_calls"'))) return json
  const answer = (yield* parseExactInSteps(json)) as JsonObject
  const { choices = null } = answer
  return isList(choices) ? yield* writeInSteps({ ...answer, choices: choices.map(legacyChoice) }) : json
}

/** Converts server-sent events, each of which holds a chunk. */
export const legacyEvents = (events: string): Written => {
  const steps = eventsInSteps(events)
  return events.length > LARGE_BYTES ? writtenInSteps(steps) : atOnce(steps)
}

function* eventsInSteps(events: string): Steps<string> {
  const lines: string[] = []
  for (const line of events.split('\n')) lines.push(CHUNK.test(line) ? `data: ${yield* legacyAnswer(line.slice('data: '.length))}` : line)
  return lines.join('\n')
}

const CHUNK = /^data: \{/

/** Matches the legacy form. SDKs write null for a member that their answer did not have, which does not count. */
const OLDER_WORDS = /"function_call"(?!\s*:\s*null)|"role"\s*:\s*"function"/

const modernTool = (definition: JsonValue): JsonValue => ({ type: 'function', function: definition })

const modernChoice = (choice: JsonValue): JsonValue =>
  isObject(choice) && typeof choice['name'] === 'string' ? { type: 'function', function: { name: choice['name'] } } : choice

/** A function's result names only the function; it answers the last call with that name. */
function* modernHistory(messages: readonly JsonValue[], warnings: Warning[]): Steps<readonly JsonValue[]> {
  const calls = new Map<JsonValue, string>()
  return yield* mapInSteps(messages, (message, index) => {
    if (!isObject(message)) return message
    const { function_call: called = null, ...rest } = message
    if (message['role'] === 'assistant' && isObject(called)) {
      // Mistral accepts only ids of nine letters and digits.
      const id = `fn${String(index).padStart(7, '0')}`
      calls.set(called['name'] ?? null, id)
      const { tool_calls: others = null } = rest
      const call: JsonValue = { id, type: 'function', function: called }
      return { ...rest, content: rest['content'] ?? null, tool_calls: [...(isList(others) ? others : []), call] }
    }
    if (message['role'] !== 'function') return message
    const { name = null, content = null } = message
    const id = calls.get(name)
    if (id !== undefined) return { role: 'tool', tool_call_id: id, content: content ?? '' }
    const reported = 'The result of a function belongs to no call of this conversation; it was sent as text of the user.'
    warnings.push({ code: 'mapped_field', field: `messages[${index}]`, message: reported })
    return { role: 'user', content: content ?? '' }
  })
}

const legacyChoice = (choice: JsonValue): JsonValue => {
  if (!isObject(choice)) return choice
  const { message = null, delta = null, finish_reason: reason = null } = choice
  return {
    ...choice,
    ...(isObject(message) ? { message: legacyMessage(message) } : {}),
    ...(isObject(delta) ? { delta: legacyMessage(delta) } : {}),
    ...(reason === 'tool_calls' ? { finish_reason: 'function_call' } : {}),
  }
}

/** The legacy form can express only one call, the first one; a model that made more will make them again. */
const legacyMessage = (said: JsonObject): JsonObject => {
  const { tool_calls: calls = null, ...rest } = said
  if (!isList(calls)) return said
  const first = calls.find((call) => isObject(call) && (call['index'] ?? 0) === 0)
  return isObject(first) && first['function'] !== undefined ? { ...rest, function_call: first['function'] } : rest
}
