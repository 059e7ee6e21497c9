import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** Reads a Chat Completions request. Throws `invalid_request` if it has no model or no messages. */
export const readCall = (body: JsonBody): Call => callOf('chat', body, { fallbacks: readTexts(body, 'models'), parsePrompt })
