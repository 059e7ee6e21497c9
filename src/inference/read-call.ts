/** Reads the call from a request's body, in steps if the body is large. */
import type { Call } from '../canonical/call.ts'
import type { ParsedCall } from '../formats/format.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../lib/steps.ts'
import { readFields } from './read-fields.ts'
import type { Prepared, Received } from './stages.ts'

/** For a large request, parsing the fields and checking them each take as long as a step may. Throws `invalid_request`. */
export function* readCall(received: Pick<Received, 'apiType' | 'format' | 'body'>): Steps<ParsedCall> {
  const { format, body } = received
  if (body.held.length <= LARGE_BYTES) return atOnce(format.parseCall(body))
  yield* readFields(received)
  yield
  const read = yield* format.parseCall(body)
  yield
  return read
}

/**
 * Reads the call again from a body that changed on its way. Keeps what the body does not contain: headers that are passed on, and models
 * that a plugin chose.
 */
export function* readAgain({ call, apiType, format }: Pick<Prepared, 'call' | 'apiType' | 'format'>, body: JsonBody): Steps<Call> {
  const read = yield* readCall({ apiType, format, body })
  return { ...read.call, passHeaders: call.passHeaders, models: call.models }
}
