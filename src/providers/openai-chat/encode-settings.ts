/** The settings of a request as top-level fields of the dialect; what becomes of them at a vendor, field-rules.ts says. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { settingFields } from '../../request-fields/request-fields.ts'
import type { Translation } from '../translation.ts'
import type { Vendor } from '../vendor.ts'
import { reasoningObject } from './encode-reasoning.ts'

export interface EncodedSettings {
  readonly fields: JsonObject
  /** Where the client wrote each of them. */
  readonly paths: Readonly<Record<string, string>>
}

export const encodeSettings = (translation: Translation, { accepts, outputLimits }: Vendor): EncodedSettings => {
  const fields: Record<string, JsonValue> = {}
  const paths: Record<string, string> = {}
  // In the order of the table, so that equal requests are equal texts.
  for (const [name, [usual]] of settingFields('chat')) {
    const field = name === 'maxOutputTokens' ? (outputLimits[0] ?? usual) : usual
    const value = translation.setting(name)
    // Without tools, to call them one by one asks for nothing.
    if (value === undefined || (name === 'parallelToolCalls' && translation.prompt.tools.length === 0)) continue
    fields[field] = (name === 'reasoning' ? reasoningObject(value as ReasoningSetting) : value) as JsonValue
    paths[field] = translation.prompt.settings[name]?.field ?? name
  }
  // Responses asks for the chances of other tokens with the number alone; servers of this dialect, vLLM too, refuse it so.
  // The rules of known vendors do the same where they take the field.
  if (accepts === 'everything' && fields['top_logprobs'] !== undefined) fields['logprobs'] = true
  return { fields, paths }
}
