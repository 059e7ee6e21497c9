import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { callOf, readTexts, readTokenLimit } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** A Responses request; its `input` may be absent. Throws `invalid_request` without a model. */
export const readCall = (body: JsonBody): Call =>
  callOf('responses', body, {
    fallbacks: readTexts(body, 'models'),
    maxOutputTokens: readTokenLimit(body, 'max_output_tokens'),
    parsePrompt,
  })
