import type { Call } from '../canonical/call.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Prepared } from './stages.ts'

/** The call of a body that changed on its way. What the body does not say stays: headers that are passed on, and models that a plugin chose. */
export const readAgain = ({ call, format }: Pick<Prepared, 'call' | 'format'>, body: JsonBody): Call => ({
  ...format.parseCall(body).call,
  passHeaders: call.passHeaders,
  models: call.models,
})
