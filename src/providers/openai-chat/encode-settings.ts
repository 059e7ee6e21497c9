/** The settings of a request as top-level fields, under the names that the vendor knows. */
import type { SettingName } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonValue } from '../../lib/json.ts'
import type { Translation } from '../translation.ts'
import type { Vendor } from '../vendor.ts'
import { encodeReasoning } from './encode-reasoning.ts'

export interface VendorContext {
  readonly vendor: Vendor
  readonly providerName: string
  readonly warn: (warning: Warning) => void
}

/** In this order, so that equal requests are equal texts. `reasoning` and `cacheControl` are the vendor's in form too. */
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
  metadata: 'metadata',
  parallelToolCalls: 'parallel_tool_calls',
  outputModalities: 'modalities',
  audioOutput: 'audio',
  prediction: 'prediction',
  promptCacheKey: 'prompt_cache_key',
  webSearchOptions: 'web_search_options',
  imageConfig: 'image_config',
  promptCacheOptions: 'prompt_cache_options',
}

export const encodeSettings = (translation: Translation, { vendor, providerName, warn }: VendorContext): Record<string, JsonValue> => {
  const fields: Record<string, JsonValue> = {}
  const pathOf = (name: SettingName): string => translation.prompt.settings[name]?.field ?? name
  const lose = (name: SettingName): void =>
    translation.lose(pathOf(name), `${providerName} does not take ${pathOf(name)}; it was left out.`)

  for (const [name, field] of Object.entries(FIELDS) as [SettingName, string][]) {
    const value = translation.setting(name)
    if (value === undefined) continue
    // Without tools it asks for nothing, and is refused.
    if (name === 'parallelToolCalls' && translation.prompt.tools.length === 0) continue
    if (vendor.unsupported.has(field)) lose(name)
    else fields[nameOf(field, vendor)] = value as JsonValue
  }

  const reasoning = translation.setting('reasoning')
  if (reasoning !== undefined) Object.assign(fields, encodeReasoning(reasoning, pathOf('reasoning'), vendor, warn))

  const cacheControl = translation.setting('cacheControl')
  if (cacheControl !== undefined && vendor.cacheMarks?.request === true) fields['cache_control'] = cacheControl as JsonValue
  else if (cacheControl !== undefined) lose('cacheControl')
  return fields
}

const nameOf = (field: string, vendor: Vendor): string =>
  field === 'max_completion_tokens' ? vendor.maxTokensField : (vendor.names[field] ?? field)
