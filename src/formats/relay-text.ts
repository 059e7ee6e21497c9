/** An upstream's own JSON text on its way to a client of the same dialect. */
import { JsonBody } from '../lib/json-body.ts'
import { JsonTextError } from '../lib/json-limits.ts'
import type { Frame } from '../canonical/event.ts'
import type { ClientDialect } from '../canonical/call.ts'
import type { AnswerHead } from './format.ts'

/** A frame's own text, where it is of this dialect. */
export const nativeText = (frame: Frame, dialect: ClientDialect): string | null =>
  frame.native?.dialect === dialect ? frame.native.json : null

/** JSON texts of the members that name an answer: they are ours in every dialect. A provider that is not known is not named. */
export const identityMembers = (id: string, head: AnswerHead): Readonly<Record<string, string>> => ({
  id: JSON.stringify(id),
  model: JSON.stringify(head.model),
  ...(head.provider === null ? {} : { provider: JSON.stringify(head.provider) }),
})

/** A line end in JSON text can only be white space between tokens; in an event stream it would end the data. */
export const oneLine = (json: string): string => (json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\r\n]/g, ' ') : json)

/** The members of a JSON object that an adapter has parsed. A member that it names twice counts as that parser read it. */
export const bodyOfParsed = (json: string): JsonBody => {
  try {
    return JsonBody.ofParsed(json)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return JsonBody.ofParsed(JSON.stringify(JSON.parse(json)))
  }
}

/** The `type` of a stream event. Upstreams write it first, so that it is read without a look at the rest. */
export const eventType = (json: string): string => {
  const first = TYPE_FIRST.exec(json)?.[1]
  if (first !== undefined) return first
  const type = bodyOfParsed(json).get('type')
  return typeof type === 'string' ? type : ''
}

const TYPE_FIRST = /^\{\s*"type"\s*:\s*"([\w.]+)"/
