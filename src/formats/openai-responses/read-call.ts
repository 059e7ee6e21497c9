import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** A Responses request. Throws `invalid_request` without a model or without input. */
export const readCall = (body: JsonBody): Call => callOf('responses', body, { fallbacks: readTexts(body, 'models'), parsePrompt })
