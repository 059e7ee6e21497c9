import type { Call } from '../../canonical/call.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { callOf, readTexts, readTokenLimit, requireMessages } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** A Chat Completions request. Throws `invalid_request` without a model or without messages. */
export const readCall = (body: JsonBody): Call => {
  requireMessages(body)
  return callOf('chat', body, {
    fallbacks: readTexts(body, 'models'),
    // The older name counts where the newer one is absent.
    maxOutputTokens: readTokenLimit(body, 'max_completion_tokens') ?? readTokenLimit(body, 'max_tokens'),
    parsePrompt,
  })
}
