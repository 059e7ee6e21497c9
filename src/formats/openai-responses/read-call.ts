import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** Reads a Responses request. Throws `invalid_request` if it has no model or no input. */
export const readCall = (body: JsonBody): Call => callOf('responses', body, { fallbacks: readTexts(body, 'models'), parsePrompt })
