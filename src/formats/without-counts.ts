/**
 * Removes from an upstream's own text the members that apply to one answer only: its time and its usage. The relays of each
 * dialect add what is missing.
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { NativeText } from '../canonical/event.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { bodyOfParsed } from './relay-text.ts'

export const withoutCounts = ({ dialect, json }: NativeText): string => (COUNTS.test(json) ? WITHOUT[dialect](bodyOfParsed(json)) : json)

const COUNTS = /"(?:usage|created|created_at|completed_at)"/

const WITHOUT: Readonly<Record<ClientDialect, (body: JsonBody) => string>> = {
  chat: (body) => body.textWith({ created: null, usage: null }),
  responses: (body) => without(body, 'response', { created_at: null, completed_at: null, usage: null }),
  messages(body) {
    // Each `message_delta` states its output tokens, and strict clients require them there.
    if (body.get('type') === 'message_delta') return body.textWith({ usage: '{"output_tokens":0}' })
    return without(body, 'message', { usage: null })
  },
}

/** Changes a whole answer, or the answer that a stream event carries in the member `name`. */
const without = (body: JsonBody, name: string, changes: Readonly<Record<string, null>>): string => {
  const inner = body.raw(name)
  if (inner === undefined) return body.textWith(changes)
  return inner.startsWith('{') ? body.textWith({ [name]: bodyOfParsed(inner).textWith(changes) }) : body.text
}
