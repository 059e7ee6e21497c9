/** The call of a request's body, in steps where the body is large. */
import type { Call } from '../canonical/call.ts'
import type { ParsedCall } from '../formats/format.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../lib/steps.ts'
import { readFields } from './read-fields.ts'
import type { Prepared, Received } from './stages.ts'

/** The checks of a large request's fields take as long as a step does, and so does to parse them. Throws `invalid_request`. */
export function* readCall(received: Pick<Received, 'apiType' | 'format' | 'body'>): Steps<ParsedCall> {
  const { format, body } = received
  if (body.searchable.length <= LARGE_BYTES) return atOnce(format.parseCall(body))
  yield* readFields(received)
  yield
  const read = yield* format.parseCall(body)
  yield
  return read
}

/** The call of a body that changed on its way. What the body does not say stays: headers that are passed on, and models that a plugin chose. */
export function* readAgain({ call, apiType, format }: Pick<Prepared, 'call' | 'apiType' | 'format'>, body: JsonBody): Steps<Call> {
  const read = yield* readCall({ apiType, format, body })
  return { ...read.call, passHeaders: call.passHeaders, models: call.models }
}
