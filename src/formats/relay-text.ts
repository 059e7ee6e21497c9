/** Passes an upstream's own JSON text to a client of the same dialect. */
import { JsonBody } from '../lib/json/json-body.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { textOf } from '../lib/json/json.ts'
import { LARGE_BYTES } from '../lib/steps.ts'
import type { Frame } from '../canonical/event.ts'
import type { ClientDialect } from '../canonical/call.ts'
import type { JsonChanges } from '../lib/json/json.ts'
import type { AnswerHead } from './format.ts'

/** Returns a frame's own text if it is in this dialect. */
export const nativeText = (frame: Frame, dialect: ClientDialect): string | null =>
  frame.native?.dialect === dialect ? frame.native.json : null

/** True if the frame's own text is passed on in steps. */
export const hasLargeText = ({ native }: Frame): boolean => native !== undefined && native.json.length > LARGE_BYTES

/** The members that identify an answer, as JSON texts; the service sets them in every dialect. An unknown provider is not named. */
export const identityMembers = (id: string, head: AnswerHead): JsonChanges => ({
  id: JSON.stringify(id),
  model: JSON.stringify(head.model),
  provider: head.provider === null ? undefined : JSON.stringify(head.provider),
})

/** Removes line ends, which in JSON text are only white space between tokens but in an event stream would end the data. */
export const oneLine = (json: string): string => (json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\r\n]/g, ' ') : json)

/** Reads the members of a JSON object that an adapter has parsed. If a member occurs twice, that parser's reading counts. */
export const bodyOfParsed = (json: string): JsonBody => {
  try {
    return JsonBody.ofParsed(json)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return JsonBody.ofParsed(JSON.stringify(JSON.parse(json)))
  }
}

/** Returns the `type` of a stream event. Upstreams write it first, so usually the rest is not examined. */
export const eventType = (json: string): string => {
  const first = TYPE_FIRST.exec(json)?.[1]
  if (first !== undefined) return first
  return textOf(bodyOfParsed(json).get('type'))
}

const TYPE_FIRST = /^\{\s*"type"\s*:\s*"([\w.]+)"/
