/** Reads the call from a request's body, in steps if the body is large. */
import type { Call, CarriedSettings } from '../canonical/call.ts'
import type { ParsedCall } from '../formats/format.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { once } from '../lib/once.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../lib/steps.ts'
import { readFields } from './read-fields.ts'
import type { Prepared, Received } from './request.ts'

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
 * Reads the call again from a body that changed on its way. Keeps what the body does not contain: headers that are passed on, models that
 * a plugin chose, and settings that the client's dialect lacks.
 */
export function* readAgain({ call, apiType, format }: Pick<Prepared, 'call' | 'apiType' | 'format'>, body: JsonBody): Steps<Call> {
  const read = yield* readCall({ apiType, format, body })
  const { passHeaders, models, replaced } = call
  return withCarried({ ...read.call, passHeaders, models, replaced }, call.carried)
}

/** The same call, whose prompt has the settings of a preset that its body cannot have. */
export const withCarried = (call: Call, carried: CarriedSettings | undefined): Call => {
  if (carried === undefined) return call
  const prompt = once(() => {
    const read = call.prompt()
    const outputFormat = read.outputFormat.type === 'text' ? (carried.outputFormat ?? read.outputFormat) : read.outputFormat
    return { ...read, outputFormat, settings: { ...carried.settings, ...read.settings } }
  })
  return { ...call, carried, prompt }
}
