import type { z } from 'zod'

import { type SettingName, SETTINGS, type SettingValues } from './settings.ts'

/** Values other than the setting's default, for settings whose type alone does not determine one. */
const KNOWN: { readonly [Name in SettingName]?: SettingValues[Name] } = {
  temperature: 0.5,
  topP: 0.5,
  topK: 5,
  topA: 0.5,
  minP: 0.5,
  frequencyPenalty: 1,
  presencePenalty: 1,
  repetitionPenalty: 1.5,
  seed: 7,
  maxOutputTokens: 99,
  stop: ['END'],
  logitBias: { '1': 1 },
  logprobs: true,
  topLogprobs: 2,
  candidates: 2,
  reasoning: { effort: 'low' },
  verbosity: 'low',
  serviceTier: 'priority',
  user: 'u-1',
  safetyIdentifier: 's-1',
  metadata: { a: 'b' },
  parallelToolCalls: false,
  outputModalities: ['text', 'image'],
  audioOutput: { voice: 'alloy', format: 'wav' },
  prediction: { type: 'content', content: 'foretold' },
  promptCacheKey: 'k',
  cacheControl: { type: 'ephemeral' },
  truncation: 'auto',
  include: ['file_search_call.results'],
  contextManagement: {},
  compaction: { type: 'summarize' },
  inferenceGeo: 'us',
  webSearchOptions: { search_context_size: 'low' },
  safeguards: [],
  imageConfig: { aspect_ratio: '16:9' },
  promptCacheOptions: { mode: 'explicit' },
  promptCacheRetention: '24h',
  moderation: { model: 'omni-moderation-latest' },
}

/** Sample values of all other settings, by type. A setting of another type needs an entry above: `sampleOf` throws without one. */
const BY_TYPE: Readonly<Record<string, unknown>> = { number: 1, boolean: true, string: 's-1', array: ['s-1'], record: { a: 'b' } }

const sampleOf = (name: SettingName): unknown => {
  const { type }: z.core.$ZodTypeDef = SETTINGS[name].def
  const sample = KNOWN[name] ?? BY_TYPE[type]
  if (sample === undefined) throw new Error(`Setting "${name}" needs a sample in setting-samples.test-kit.ts.`)
  return sample
}

/** One value for each setting, different from its default. */
export const SETTING_SAMPLES = Object.fromEntries(
  (Object.keys(SETTINGS) as SettingName[]).map((name) => [name, sampleOf(name)]),
) as SettingValues
