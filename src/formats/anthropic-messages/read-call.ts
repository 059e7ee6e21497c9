import type { Call } from '../../canonical/call.ts'
import { invalidField } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject } from '../../lib/json/json.ts'
import { DEFAULT_FALLBACKS } from '../../request-fields/schemas/routing.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** Reads a Messages request. Throws `invalid_request` if it has no model or no messages, and `not_found` if it continues a thread. */
export const readCall = (body: JsonBody): Call => {
  refuseContinuation(body)
  return callOf('messages', body, { fallbacks: [...readTexts(body, 'models'), ...readFallbacks(body)], parsePrompt })
}

/** A continuation has only the new messages. On this error code, Anthropic's clients send the whole conversation again (docs/contract/messages.md#threads). */
const refuseContinuation = (body: JsonBody): void => {
  const thread = body.value('thread')
  if (!isObject(thread) || thread['type'] !== 'continue') return
  throw new GatewayError('not_found', 'thread: No thread is kept here. Send the whole conversation in messages.', {
    metadata: { details: { error_code: 'thread_not_found' } },
  })
}

/** Reads this dialect's own list of further models: `[{"model": "…"}]` (docs/contract/routing.md#fallback-models). */
const readFallbacks = (body: JsonBody): string[] => {
  const value = body.value('fallbacks') ?? []
  if (value === DEFAULT_FALLBACKS) return []
  if (!Array.isArray(value)) throw invalidField('fallbacks', 'Expected a list of objects.')
  return value.map((item: unknown, index) => {
    const model = isObject(item) ? item['model'] : undefined
    if (typeof model !== 'string' || model === '') throw invalidField(`fallbacks[${index}].model`, 'Expected a string that is not empty.')
    return model
  })
}
