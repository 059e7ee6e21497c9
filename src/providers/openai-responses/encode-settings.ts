/** The settings of a request and the shape of its answer as top-level fields. Every kept or mapped setting is read here, and no other. */
import type { OutputFormat } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import type { Translation } from '../translation.ts'
import { encodeReasoning, thinksNot } from './encode-reasoning.ts'
import type { OpenAiModel } from '../openai-model.ts'

export interface SettingsContext {
  readonly warn: (warning: Warning) => void
  readonly family: OpenAiModel
  /** The history hands thinking back to the model. */
  readonly replaysThinking: boolean
}

export const encodeSettings = (translation: Translation, context: SettingsContext): JsonObject => {
  const { setting } = translation
  return present({
    temperature: setting('temperature'),
    top_p: setting('topP'),
    max_output_tokens: outputTokens(translation, context),
    top_logprobs: setting('topLogprobs'),
    reasoning: reasoning(translation, context),
    text: text(translation, context),
    include: include(translation, context),
    parallel_tool_calls: setting('parallelToolCalls'),
    service_tier: serviceTier(translation, context),
    metadata: metadata(translation),
    ...user(translation),
    prompt_cache_key: setting('promptCacheKey'),
    prompt_cache_options: setting('promptCacheOptions') as JsonValue | undefined,
    truncation: setting('truncation'),
  })
}

/** The API refuses a smaller cap. */
const OUTPUT_TOKENS_MIN = 16

const outputTokens = (translation: Translation, { warn }: SettingsContext): number | undefined => {
  const tokens = translation.setting('maxOutputTokens')
  if (tokens === undefined || tokens >= OUTPUT_TOKENS_MIN) return tokens
  const message = `${tokens} became ${OUTPUT_TOKENS_MIN}, the least that this provider accepts.`
  warn({ code: 'mapped_field', field: fieldOf(translation, 'maxOutputTokens'), message })
  return OUTPUT_TOKENS_MIN
}

const reasoning = (translation: Translation, { family, warn }: SettingsContext): JsonObject | undefined => {
  const value = translation.setting('reasoning')
  if (value === undefined) return undefined
  const members = encodeReasoning({ value, field: fieldOf(translation, 'reasoning') }, family, warn)
  return Object.keys(members).length === 0 ? undefined : members
}

const text = (translation: Translation, { warn }: SettingsContext): JsonObject | undefined => {
  const asked = translation.setting('verbosity')
  const verbosity = asked === 'xhigh' || asked === 'max' ? 'high' : asked
  if (verbosity !== asked)
    warn({
      code: 'mapped_field',
      field: fieldOf(translation, 'verbosity'),
      message: `${asked} became high, the most that this provider knows.`,
    })
  const format = outputFormat(translation.prompt.outputFormat)
  return format === undefined && verbosity === undefined ? undefined : present({ format, verbosity })
}

const outputFormat = (format: OutputFormat): JsonObject | undefined => {
  if (format.type === 'text') return undefined
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return present({ type: 'json_schema', name, description, schema: schema as JsonValue, strict })
}

/**
 * Thinking is always asked for in its encrypted form, so that the next request can hand it back; but the API refuses the
 * word where the model does not think.
 */
const include = (translation: Translation, { family, replaysThinking }: SettingsContext): readonly string[] | undefined => {
  const asked = translation.setting('reasoning')
  const reasons = family.reasons ?? (replaysThinking || (asked !== undefined && !thinksNot(asked)))
  const logprobs = translation.setting('logprobs') === true || translation.setting('topLogprobs') !== undefined
  const list = new Set(translation.setting('include'))
  if (reasons) list.add('reasoning.encrypted_content')
  if (logprobs) list.add('message.output_text.logprobs')
  return list.size === 0 ? undefined : [...list]
}

const TIERS: Readonly<Record<string, string>> = { fast: 'priority', standard: 'default', standard_only: 'default' }

/** Other dialects' names of the same tiers (contract 2.4, 3.5). */
const serviceTier = (translation: Translation, { warn }: SettingsContext): string | undefined => {
  const asked = translation.setting('serviceTier')
  if (asked === undefined || !Object.hasOwn(TIERS, asked)) return asked
  warn({
    code: 'mapped_field',
    field: fieldOf(translation, 'serviceTier'),
    message: `${asked} became ${TIERS[asked]}, this provider's name for it.`,
  })
  return TIERS[asked]
}

const PAIRS_MAX = 16
const KEY_MAX = 64
const VALUE_MAX = 512

/** Strings only, within the API's limits: one pair beyond them would fail the whole request. */
const metadata = (translation: Translation): JsonObject | undefined => {
  const asked = translation.setting('metadata')
  if (!isObject(asked)) return undefined
  const fits = Object.entries(asked).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[0].length <= KEY_MAX && pair[1].length <= VALUE_MAX,
  )
  const kept = Object.fromEntries(fits.slice(0, PAIRS_MAX))
  for (const key of Object.keys(asked)) {
    if (!Object.hasOwn(kept, key))
      translation.lose(
        `${fieldOf(translation, 'metadata')}.${key}`,
        'This provider takes at most 16 pairs of strings; this one was left out.',
      )
  }
  return kept
}

const IDENTIFIER_MAX = 64

/** `user` is the older word for the same, and takes what is too long for the newer one. */
const user = (translation: Translation): JsonObject => {
  const asked = translation.setting('user')
  if (asked === undefined) return {}
  return asked.length <= IDENTIFIER_MAX ? { safety_identifier: asked } : { user: asked }
}

const fieldOf = (translation: Translation, name: 'maxOutputTokens' | 'reasoning' | 'verbosity' | 'serviceTier' | 'metadata'): string =>
  translation.prompt.settings[name]?.field ?? name

const present = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((member): member is [string, JsonValue] => member[1] !== undefined))
