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

/** Characters of a member, more than any provider writes: a member is screened and written in one go. */
const MEMBER_MAX = 256 * 1024

/**
 * Returns the event with the members that `reported` has, and one for each that is too large, which is left out; `more` are members that
 * the dialect has in another place.
 */
export const ownMembers = (dialect: ClientDialect, reported: Json, more: JsonObject = {}): ModelEvent[] => {
  let members: Record<string, JsonValue> | null = null
  const events: ModelEvent[] = []
  const add = (name: string, value: unknown): void => {
    if (roomLeft(value, MEMBER_MAX) < 0) events.push({ type: 'unknown', kind: name })
    // Safe: the answer was parsed from JSON.
    else (members ??= {})[name] = value as JsonValue
  }
  for (const name of NAMES[dialect]) if (isObject(reported[name]) || Array.isArray(reported[name])) add(name, reported[name])
  for (const name in more) add(name, more[name])
  if (members !== null) events.push({ type: 'own-members', dialect, members })
  return events
}

/** The room that the value leaves, below zero once there is none: no more of the value is read then. */
const roomLeft = (value: unknown, room: number): number => {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object' || value === null) return room - 1
  let left = room
  for (const name in value) {
    left = roomLeft((value as Json)[name], left - name.length)
    if (left < 0) return left
  }
  return left
}
