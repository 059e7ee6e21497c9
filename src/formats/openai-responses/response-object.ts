/**
 * The response object, which is the whole answer and is repeated in the first and last events of a stream
 * (docs/contract/responses.md#answer).
 */
import { shownTool } from '../../canonical/preset-secrets.ts'
import { compactJson } from '../../lib/json/compact-json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElements, editMembers } from '../../lib/json/json-splice.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import { isObject, type JsonChanges } from '../../lib/json/json.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { dialectId, tierMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { missingMembers } from '../missing-members.ts'
import { listed } from './items.ts'
import type { Outcome } from './outcome.ts'
import { responsesUsage } from './usage.ts'

export interface ResponseState {
  readonly outcome: Outcome
  /** JSON texts of the output items. */
  readonly output: readonly string[]
  /** Null before the end. */
  readonly tail: AnswerTail | null
  /** JSON text of `output_text`; absent in a stream. */
  readonly outputText?: string
  /** Additional members: those of the provider, and the routing metadata. */
  readonly more?: JsonObject
}

/** Returns a function that writes the response object of one answer as one line of JSON text. */
export const responseWriter = (head: AnswerHead): ((state: ResponseState) => string) => {
  const start = `{"id":${JSON.stringify(dialectId('resp', head))},"object":"response","created_at":${head.createdSeconds},`
  const echo = `"model":${JSON.stringify(head.model)},${echoText(head)}`
  return ({ outcome, output, tail, outputText, more = {} }) => {
    const end: JsonObject = {
      usage: tail === null ? null : responsesUsage(tail),
      ...(tail === null ? {} : tierMember(tail)),
      ...(outcome.errorType === null ? {} : { error_type: outcome.errorType }),
    }
    const text = outputText === undefined ? '' : `,"output_text":${outputText}`
    const rest = inner(more)
    const explained = {
      completed_at: outcome.status === 'completed' ? (tail?.endedSeconds ?? null) : null,
      status: outcome.status,
      error: outcome.error,
      incomplete_details: outcome.incompleteReason === null ? null : { reason: outcome.incompleteReason },
    }
    return `${start}${inner(explained)},"output":[${listed(output)}],${echo},${inner(end)}${text}${rest === '' ? '' : `,${rest}`}}`
  }
}

const inner = (members: object): string => JSON.stringify(members).slice(1, -1)

/**
 * The members that strict clients need and that an upstream left out of its response. `endedSeconds`: null while the response is
 * in progress.
 */
export const missingOfResponse = (response: JsonBody, head: AnswerHead, endedSeconds: number | null): JsonChanges => {
  if (NEEDED.every((name) => response.has(name))) return {}
  const status = response.get('status') ?? (endedSeconds === null ? 'in_progress' : 'completed')
  const known: Readonly<Record<string, unknown>> = {
    object: 'response',
    created_at: head.createdSeconds,
    completed_at: status === 'completed' ? endedSeconds : null,
    status,
    output: [],
    error: null,
    incomplete_details: null,
    ...echoed(head),
  }
  return missingMembers(response, Object.fromEntries(NEEDED.map((name) => [name, JSON.stringify(known[name])])))
}

/** The members that such a response needs, without those that the service sets in every response (docs/contract/responses.md#answer). */
const NEEDED = [
  'object',
  'created_at',
  'completed_at',
  'status',
  'output',
  'error',
  'incomplete_details',
  'instructions',
  'metadata',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'tool_choice',
  'tools',
] as const

const echoText = (head: AnswerHead): string => (head.request.held.length > LARGE_BYTES ? largeEcho(head) : inner(echoed(head)))

/**
 * Longer instructions or tools are not echoed, because a stream would repeat each of them three times
 * (docs/contract/responses.md#answer). Shorter ones are copied from the text of a large request once, for all events that repeat
 * them.
 */
const ECHO_MAX = 1024 * 1024

const largeEcho = (head: AnswerHead): string => {
  const { request, instructions, hidden } = head
  const known = LARGE_ECHOES.get(request)
  if (known !== undefined) return known
  const written = instructions === undefined ? request.raw('instructions') : JSON.stringify(instructions)
  const given = isEchoed(request, 'instructions') ? written : undefined
  const tools = hidden === undefined ? toolsAsWritten(request) : JSON.stringify(shownTools(head))
  const echo = `"instructions":${given ?? 'null'},${inner(settingsOf(head))},"tools":${tools},${inner(STATELESS)}`
  LARGE_ECHOES.set(request, echo)
  return echo
}

const isEchoed = (request: JsonBody, field: 'instructions' | 'tools'): boolean => request.sizeOf(field) <= ECHO_MAX

const LARGE_ECHOES = new WeakMap<JsonBody, string>()

const toolsAsWritten = (request: JsonBody): string => {
  const tools = request.value('tools')
  if (!Array.isArray(tools) || !isEchoed(request, 'tools')) return '[]'
  // The text goes into an event, which must be one line.
  return editElements(compactJson(request.raw('tools') ?? '[]'), (text, index) => {
    const tool: unknown = tools[index]
    if (!isObject(tool) || tool['type'] !== 'function') return text
    const missing = Object.keys(FUNCTION_DEFAULTS).filter((name) => !Object.hasOwn(tool, name))
    return missing.length === 0 ? text : editMembers(text, Object.fromEntries(missing.map((name) => [name, 'null'])))
  })
}

/** The request's own settings, with defaults for those it left open; strict clients need every key. */
const echoed = (head: AnswerHead): JsonObject => {
  const { request, instructions: own } = head
  const given = own === undefined ? (request.value('instructions') ?? null) : own
  const instructions = isEchoed(request, 'instructions') ? given : null
  return { instructions, ...settingsOf(head), tools: shownTools(head), ...STATELESS }
}

const settingsOf = ({ request }: AnswerHead): JsonObject => {
  const settings: Record<string, JsonValue> = {}
  for (const [key, fallback] of Object.entries(DEFAULTS)) settings[key] = request.value(key) ?? fallback
  for (const key of OPTIONAL) {
    const value = request.value(key)
    if (value !== undefined) settings[key] = value
  }
  return settings
}

/** Nothing is stored, and nothing runs in the background. */
const STATELESS = { store: false, background: false, previous_response_id: null }

const DEFAULTS: JsonObject = {
  metadata: null,
  parallel_tool_calls: true,
  temperature: null,
  top_p: null,
  presence_penalty: null,
  frequency_penalty: null,
  max_output_tokens: null,
  max_tool_calls: null,
  tool_choice: 'auto',
  reasoning: null,
  text: { format: { type: 'text' } },
  truncation: 'disabled',
  user: null,
}

const OPTIONAL = ['safety_identifier', 'prompt_cache_key', 'top_logprobs'] as const

/** Defaults for members that function tools may omit in requests but not in answers. */
const FUNCTION_DEFAULTS = { parameters: null, strict: null }

export const shownTools = ({ request, hidden }: AnswerHead): readonly JsonValue[] => {
  const tools = request.value('tools')
  if (!Array.isArray(tools) || !isEchoed(request, 'tools')) return []
  return tools.map((tool: JsonValue) => {
    const shown = shownTool(tool, hidden?.texts ?? [])
    return isObject(shown) && shown['type'] === 'function' ? { ...FUNCTION_DEFAULTS, ...shown } : shown
  })
}
