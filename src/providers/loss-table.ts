/**
 * What becomes of each setting of a request when it is translated to a provider's dialect. The one place that says so:
 * encoders read settings through it, warnings come from it, and docs/translation.md shows it. A request that stays in its
 * dialect is not translated and loses nothing.
 */
import type { SettingName } from '../canonical/settings.ts'

/** `kept`: the dialect has the same word. `mapped`: another word for it. `dropped`: left out, with a warning. `refused`: 400. */
export type Fate = 'kept' | 'mapped' | 'dropped' | 'refused'

export const TRANSLATED_DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock'] as const
export type TranslatedDialect = (typeof TRANSLATED_DIALECTS)[number]

const FATES = { K: 'kept', M: 'mapped', D: 'dropped', R: 'refused' } as const satisfies Record<string, Fate>

/** A letter for each dialect, in the order of TRANSLATED_DIALECTS. */
const row = (letters: string): Readonly<Record<TranslatedDialect, Fate>> => {
  const [chat, responses, anthropic, google, bedrock] = letters.split(' ').map((letter) => FATES[letter as keyof typeof FATES])
  return {
    'openai-chat': chat ?? 'dropped',
    'openai-responses': responses ?? 'dropped',
    anthropic: anthropic ?? 'dropped',
    google: google ?? 'dropped',
    bedrock: bedrock ?? 'dropped',
  }
}

export const SETTING_FATES: Readonly<Record<SettingName, Readonly<Record<TranslatedDialect, Fate>>>> = {
  temperature: row('K K K K K'),
  topP: row('K K K K K'),
  topK: row('K D K K M'),
  topA: row('K D D D D'),
  minP: row('K D D D D'),
  frequencyPenalty: row('K D D K D'),
  presencePenalty: row('K D D K D'),
  repetitionPenalty: row('K D D D D'),
  seed: row('K D D K D'),
  maxOutputTokens: row('K K K K K'),
  stop: row('K D K K K'),
  logitBias: row('K D D D D'),
  logprobs: row('K M D K D'),
  topLogprobs: row('K K D K D'),
  // Only chat clients can read more than one answer.
  candidates: row('K R R R R'),
  reasoning: row('M M M M M'),
  verbosity: row('K M D D D'),
  serviceTier: row('K K M M M'),
  user: row('K M M D D'),
  metadata: row('K K D D M'),
  parallelToolCalls: row('K K M D D'),
  outputModalities: row('K D M M M'),
  audioOutput: row('K D D D D'),
  prediction: row('K D D D D'),
  promptCacheKey: row('K K D D D'),
  cacheControl: row('M D K D M'),
  truncation: row('D K D D D'),
  include: row('D K D D D'),
  contextManagement: row('D D D D D'),
  webSearchOptions: row('K M M D D'),
  safeguards: row('D D D D D'),
  imageConfig: row('K D D M D'),
  promptCacheOptions: row('K K D D D'),
}
