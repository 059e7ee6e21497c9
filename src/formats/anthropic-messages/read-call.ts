import type { Call } from '../../canonical/call.ts'
import { invalidField } from '../../contract/validate.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { isObject } from '../../lib/json.ts'
import { callOf, readTexts } from '../call-reader.ts'
import { parsePrompt } from './parse-prompt.ts'

/** Reads a Messages request. Throws `invalid_request` if it has no model or no messages. */
export const readCall = (body: JsonBody): Call =>
  callOf('messages', body, { fallbacks: [...readTexts(body, 'models'), ...readFallbacks(body)], parsePrompt })

/** Reads this dialect's own list of further models: `[{"model": "…"}]` (docs/contract/routing.md#fallback-models). */
const readFallbacks = (body: JsonBody): string[] => {
  const value = body.value('fallbacks') ?? []
  if (!Array.isArray(value)) throw invalidField('fallbacks', 'Expected a list of objects.')
  return value.map((item: unknown, index) => {
    const model = isObject(item) ? item['model'] : undefined
    if (typeof model !== 'string' || model === '') throw invalidField(`fallbacks[${index}].model`, 'Expected a string that is not empty.')
    return model
  })
}
