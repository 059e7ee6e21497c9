/**
 * An upstream's own text without what is true of one answer alone: when it was made and what it used. The relays of each
 * dialect put in what they lack.
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { NativeText } from '../canonical/event.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { bodyOfParsed } from './relay-text.ts'

export const withoutCounts = ({ dialect, json }: NativeText): string => (COUNTS.test(json) ? WITHOUT[dialect](bodyOfParsed(json)) : json)

const COUNTS = /"(?:usage|created|created_at|completed_at)"/

const WITHOUT: Readonly<Record<ClientDialect, (body: JsonBody) => string>> = {
  chat: (body) => body.textWith({ created: null, usage: null }),
  responses: (body) => without(body, 'response', { created_at: null, completed_at: null, usage: null }),
  messages(body) {
    // Each delta of a message states its output, and strict clients need it there.
    if (body.get('type') === 'message_delta') return body.textWith({ usage: '{"output_tokens":0}' })
    return without(body, 'message', { usage: null })
  },
}

/** Changes a whole answer, or the answer that an event of a stream carries under this name. */
const without = (body: JsonBody, name: string, changes: Readonly<Record<string, null>>): string => {
  const inner = body.raw(name)
  if (inner === undefined) return body.textWith(changes)
  return inner.startsWith('{') ? body.textWith({ [name]: bodyOfParsed(inner).textWith(changes) }) : body.text
}
