import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** A Chat Completions request. Throws `invalid_request` without a model or without messages. */
export const readCall = (body: JsonBody): Call => callOf('chat', body, { fallbacks: readTexts(body, 'models'), parsePrompt })
