/**
 * The history of a chat client for a chat upstream. Clients send back whole answers of whatever provider gave them, with
 * thinking, sources and marks that another vendor refuses. A search of the text tells whether there is any such thing;
 * nearly always there is none, and the messages go on as they were written.
 */
import { openProof } from '../../canonical/reasoning.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { rewrittenText } from '../../lib/json-rewrite.ts'
import type { Attempt } from '../provider.ts'
import type { Vendor } from '../vendor.ts'
import { callIdFor } from './message-context.ts'
import { mayBeOf } from './encode-thinking.ts'

/** JSON text for `messages`, or null where they can stay as they are. */
export const relayedMessages = (attempt: Attempt, vendor: Vendor): string | null => {
  const { target, warn } = attempt
  const { body } = attempt.call
  const text = body.searchable
  const thinking =
    vendor.thinkingBack === 'untouched'
      ? DETAILS.test(text)
      : THINKING.test(text) || (typeof vendor.thinkingBack === 'object' && CALLS.test(text))
  const extras = vendor.strictMessages && EXTRAS.test(text)
  const developers = vendor.accepts !== 'everything' && !vendor.developerRole && DEVELOPERS.test(text)
  const ids = vendor.callIds !== 'any' && STRANGE_IDS[vendor.callIds].test(text)
  const noCalls = vendor.accepts !== 'everything' && NO_CALLS.test(text)
  if (!thinking && !extras && !developers && !ids && !noCalls) return null

  const messages = body.value('messages')
  const given = body.raw('messages')
  if (given === undefined || !Array.isArray(messages)) return null
  let changed = false
  const relayed = messages.map((message: JsonValue, index) => {
    if (!isObject(message)) return message
    let next: JsonObject = message
    const lose = (what: string): void =>
      warn({ code: 'unsupported_field', field: `messages[${index}]`, message: `${target.providerName} ${what}` })
    if (thinking && next['role'] === 'assistant') next = withThinking(next, attempt, vendor, lose)
    if (extras && next['role'] === 'assistant') next = withoutExtras(next)
    if (developers && next['role'] === 'developer') next = { ...next, role: 'system' }
    if (ids) next = withCallIds(next, vendor)
    if (noCalls && next['role'] === 'assistant') next = withoutEmptyCalls(next)
    changed ||= next !== message
    return next
  })
  return changed ? rewrittenText(relayed, messages, given) : null
}

const THINKING = /"reasoning(?:_content|_details)?"\s*:/
/** Thinking whose maker is told; other words for it may be the server's own. */
const DETAILS = /"reasoning_details"\s*:/
const CALLS = /"tool_calls"/
/** A role that some vendors refuse: elsewhere it is the system's. */
const DEVELOPERS = /"developer"/
const EXTRAS = /"(?:annotations|images|audio|refusal|function_call)"\s*:/
const EXTRA_MEMBERS: ReadonlySet<string> = new Set(['annotations', 'images', 'audio', 'refusal', 'function_call'])

/** A list of calls without any, as clients copy it from an answer: vendors refuse it for being too short. */
const NO_CALLS = /"tool_calls"\s*:\s*\[\s*\]/

const withoutEmptyCalls = (message: JsonObject): JsonObject => {
  const { tool_calls: calls, ...rest } = message
  if (!Array.isArray(calls) || calls.length > 0) return message
  return { ...rest, content: rest['content'] ?? '' }
}

/** Ids that the vendor may refuse, of whatever they are: only those of calls change. */
const STRANGE_IDS = {
  'at-most-40': /"(?:tool_call_)?id"\s*:\s*"[^"]{41}/,
  'nine-alphanumeric': /"(?:tool_call_)?id"\s*:\s*"(?![a-zA-Z0-9]{9}")/,
} as const

const withCallIds = (message: JsonObject, vendor: Vendor): JsonObject => {
  const { tool_call_id: answered, tool_calls: calls } = message
  const result = typeof answered === 'string' ? callIdFor(answered, vendor) : answered
  const fitting = Array.isArray(calls)
    ? calls.map((call: JsonValue) => {
        const id = isObject(call) && typeof call['id'] === 'string' ? callIdFor(call['id'], vendor) : null
        return !isObject(call) || id === null || id === call['id'] ? call : { ...call, id }
      })
    : []
  const kept = fitting.every((call, index) => Array.isArray(calls) && call === calls[index])
  if (result === answered && kept) return message
  return { ...message, ...(result === undefined ? {} : { tool_call_id: result }), ...(kept ? {} : { tool_calls: fitting }) }
}

/** Null is what a client's own SDK writes for the members that an answer did not have. */
const withoutExtras = (message: JsonObject): JsonObject => {
  const kept = Object.entries(message).filter(([key, value]) => !EXTRA_MEMBERS.has(key) && (value !== null || key === 'content'))
  if (kept.length === Object.keys(message).length) return message
  const next = Object.fromEntries(kept)
  const { refusal } = message
  return typeof refusal === 'string' && refusal !== '' && (next['content'] ?? null) === null ? { ...next, content: refusal } : next
}

type Lose = (what: string) => void

const withThinking = (message: JsonObject, attempt: Attempt, vendor: Vendor, lose: Lose): JsonObject => {
  const { thinkingBack } = vendor
  const given = message['reasoning_details']
  const details = Array.isArray(given) ? given.filter((detail): detail is JsonObject => isObject(detail)) : []
  const foreign = details.filter((detail) => isForeign(detail, attempt))
  if (thinkingBack === 'details' || thinkingBack === 'untouched') {
    if (foreign.length === 0) return message
    lose('did not make the thinking of this turn; it was left out.')
    const own = details.filter((detail) => !foreign.includes(detail))
    const { reasoning_details: _, ...rest } = message
    if (own.length > 0) return { ...rest, reasoning_details: own }
    // Which repeats in plain text what the details hold.
    const { reasoning: _text, ...said } = rest
    return said
  }

  const { reasoning_details: _details, reasoning, reasoning_content: content, ...rest } = message
  const proven = details.some((detail) => typeof detail['signature'] === 'string' || typeof detail['data'] === 'string')
  if (proven) lose('did not make the thinking of this turn; it was left out.')
  if (thinkingBack === 'none') return Object.keys(rest).length === Object.keys(message).length ? message : rest
  if (typeof content === 'string' && reasoning === undefined && given === undefined) return message
  const calls = rest['tool_calls']
  const text = proven ? undefined : (content ?? reasoning)
  if (typeof text === 'string' && text !== '') return { ...rest, [thinkingBack.field]: text }
  if (Array.isArray(calls) && calls.length > 0) return { ...rest, [thinkingBack.field]: thinkingBack.filler }
  return Object.keys(rest).length === Object.keys(message).length ? message : rest
}

/** Thinking that another model made, or that this service sealed for another interface. A format that nobody knows may be the server's own. */
const isForeign = (detail: JsonObject, { target: { modelId, upstreamModel }, makerOf }: Attempt): boolean => {
  const { signature, data } = detail
  const proof = [signature, data].find((held) => typeof held === 'string' && held !== '')
  if (typeof proof === 'string' && (makerOf?.(proof) ?? modelId) !== modelId) return true
  if ([signature, data].some((proof) => typeof proof === 'string' && openProof(proof) !== null)) return true
  // The first maker of signatures is meant where none is named.
  const format = detail['format'] ?? (typeof signature === 'string' && signature !== '' ? 'anthropic-claude-v1' : null)
  return typeof format === 'string' && !mayBeOf(format, upstreamModel)
}
