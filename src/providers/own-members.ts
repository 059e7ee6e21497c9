/**
 * The members of an answer beside its content that a client of the provider's own dialect gets even if its answer is rendered from events.
 * Other dialects have no place for them, and their clients have not asked for any.
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { ModelEvent } from '../canonical/event.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'

type Json = Readonly<Record<string, unknown>>

const NAMES: Readonly<Record<ClientDialect, readonly string[]>> = {
  chat: ['moderation'],
  responses: ['input_transformations', 'moderation', 'prompt_cache_diagnostics', 'tool_usage'],
  messages: ['container', 'context_management', 'diagnostics', 'input_transformations'],
}

/** Returns the event with the members that `reported` has; `more` are members that its dialect has in another place. */
export const ownMembers = (dialect: ClientDialect, reported: Json, more: JsonObject = {}): ModelEvent[] => {
  let members: Record<string, JsonValue> | null = null
  for (const name of NAMES[dialect]) {
    const value = reported[name]
    // Safe: the answer was parsed from JSON.
    if (isObject(value) || Array.isArray(value)) (members ??= {})[name] = value as JsonValue
  }
  return members === null && Object.keys(more).length === 0 ? [] : [{ type: 'own-members', dialect, members: { ...members, ...more } }]
}
