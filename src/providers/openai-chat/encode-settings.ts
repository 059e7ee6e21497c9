/** The settings of a request as top-level fields of the dialect; what becomes of them at a vendor, field-rules.ts says. */
import type { ReasoningSetting, SettingName } from '../../canonical/settings.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { Translation } from '../translation.ts'
import type { Vendor } from '../vendor.ts'
import { wholeObject } from './encode-reasoning.ts'

export interface EncodedSettings {
  readonly fields: JsonObject
  /** Where the client wrote each of them. */
  readonly paths: Readonly<Record<string, string>>
}

/** In this order, so that equal requests are equal texts. */
const FIELDS: Readonly<Partial<Record<SettingName, string>>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  topA: 'top_a',
  minP: 'min_p',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  repetitionPenalty: 'repetition_penalty',
  seed: 'seed',
  maxOutputTokens: 'max_completion_tokens',
  stop: 'stop',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  candidates: 'n',
  verbosity: 'verbosity',
  serviceTier: 'service_tier',
  user: 'user',
  safetyIdentifier: 'safety_identifier',
  metadata: 'metadata',
  parallelToolCalls: 'parallel_tool_calls',
  outputModalities: 'modalities',
  audioOutput: 'audio',
  prediction: 'prediction',
  promptCacheKey: 'prompt_cache_key',
  webSearchOptions: 'web_search_options',
  imageConfig: 'image_config',
  promptCacheOptions: 'prompt_cache_options',
  reasoning: 'reasoning',
  cacheControl: 'cache_control',
}

export const encodeSettings = (translation: Translation, { outputLimits }: Vendor): EncodedSettings => {
  const fields: Record<string, JsonValue> = {}
  const paths: Record<string, string> = {}
  for (const [name, usual] of Object.entries(FIELDS) as [SettingName, string][]) {
    const field = name === 'maxOutputTokens' ? (outputLimits[0] ?? usual) : usual
    const value = translation.setting(name)
    // Without tools, to call them one by one asks for nothing.
    if (value === undefined || (name === 'parallelToolCalls' && translation.prompt.tools.length === 0)) continue
    fields[field] = (name === 'reasoning' ? wholeObject(value as ReasoningSetting) : value) as JsonValue
    paths[field] = translation.prompt.settings[name]?.field ?? name
  }
  return { fields, paths }
}
