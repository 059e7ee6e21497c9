/** Encodes the settings of a request as top-level fields of the plain dialect; field-rules.ts adapts them to a vendor. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { settingFields } from '../../request-fields/request-fields.ts'
import type { Translation } from '../losses/translation.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { reasoningObject } from './encode-reasoning.ts'

export interface EncodedSettings {
  readonly fields: JsonObject
  /** The client's path of each field. */
  readonly paths: Readonly<Record<string, string>>
}

/** Another number would be another seed, and one rounded up to 2^63 is refused. */
const INEXACT_SEED = 'A seed beyond 2^53 keeps its digits only in a request that is passed on as it is; this one was left out.'

export const encodeSettings = (translation: Translation, { accepts, outputLimits }: Vendor): EncodedSettings => {
  const fields: Record<string, JsonValue> = {}
  const paths: Record<string, string> = {}
  // The order is that of the table, so that equal requests give equal texts.
  for (const [name, [usual]] of settingFields('chat')) {
    const field = name === 'maxOutputTokens' ? (outputLimits[0] ?? usual) : usual
    const value = translation.setting(name)
    // Without tools, a wish to call them one by one means nothing.
    if (value === undefined || (name === 'parallelToolCalls' && translation.prompt.tools.length === 0)) continue
    if (name === 'seed' && !Number.isSafeInteger(value)) {
      translation.lose(translation.prompt.settings.seed?.field ?? name, INEXACT_SEED)
      continue
    }
    fields[field] = (name === 'reasoning' ? reasoningObject(value as ReasoningSetting) : value) as JsonValue
    paths[field] = translation.prompt.settings[name]?.field ?? name
  }
  // Responses asks for the log probabilities of other tokens with the number alone; servers of this dialect, including vLLM, refuse that.
  // For known vendors that take the field, the field rules do the same.
  if (accepts === 'everything' && fields['top_logprobs'] !== undefined) fields['logprobs'] = true
  return { fields, paths }
}
