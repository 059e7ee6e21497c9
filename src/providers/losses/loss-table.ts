/**
 * The outcome of each setting of a request that is translated to a provider's dialect. This is the only place that defines it: encoders
 * read settings through it, warnings come from it, and docs/translation.md shows it. A request that stays in its dialect is not translated
 * and loses nothing.
 */
import type { ClientDialect } from '../../canonical/call.ts'
import { OWN_DIALECT } from '../../canonical/provider-dialects.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { FieldMeaning } from '../../request-fields/field.ts'
import { fieldMeanings, isForTheService, type ServiceMeaning } from '../../request-fields/request-fields.ts'

/** `kept`: the dialect has the same setting. `mapped`: it has another form for it. `dropped`: left out, with a warning. `refused`: 400. */
export type Outcome = 'kept' | 'mapped' | 'dropped' | 'refused'

export const TRANSLATED_DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock'] as const
export type TranslatedDialect = (typeof TRANSLATED_DIALECTS)[number]

const OUTCOMES = { K: 'kept', M: 'mapped', D: 'dropped', R: 'refused' } as const satisfies Record<string, Outcome>

/** A letter for each dialect, in the order of TRANSLATED_DIALECTS. */
const row = (letters: string): Readonly<Record<TranslatedDialect, Outcome>> => {
  const [chat, responses, anthropic, google, bedrock] = letters.split(' ').map((letter) => OUTCOMES[letter as keyof typeof OUTCOMES])
  return {
    'openai-chat': chat ?? 'dropped',
    'openai-responses': responses ?? 'dropped',
    anthropic: anthropic ?? 'dropped',
    google: google ?? 'dropped',
    bedrock: bedrock ?? 'dropped',
  }
}

export const SETTING_OUTCOMES: Readonly<Record<SettingName, Readonly<Record<TranslatedDialect, Outcome>>>> = {
  temperature: row('K K K K K'),
  topP: row('K K K K K'),
  topK: row('K D K K M'),
  topA: row('K D D D D'),
  minP: row('K D D D D'),
  // Every model that Google still serves refuses them ("Penalty is not enabled for this model").
  frequencyPenalty: row('K D D D D'),
  presencePenalty: row('K D D D D'),
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
  safetyIdentifier: row('K K M D D'),
  metadata: row('K K D D M'),
  parallelToolCalls: row('K K M D M'),
  // Only a wish for more than text is recorded as a setting.
  outputModalities: row('K D D M D'),
  audioOutput: row('K D D D D'),
  prediction: row('K D D D D'),
  promptCacheKey: row('K K D D D'),
  cacheControl: row('M D K D M'),
  truncation: row('D K D D D'),
  include: row('D K D D D'),
  contextManagement: row('D D D D D'),
  // Without it the answer is no summary, and would take the place of the conversation.
  compaction: row('R R R R R'),
  // The data may not leave the geography, and no other dialect can promise that.
  inferenceGeo: row('R R K R R'),
  webSearchOptions: row('K M M M D'),
  safeguards: row('D D D D D'),
  imageConfig: row('K D D M D'),
  promptCacheOptions: row('K K D D D'),
  promptCacheRetention: row('K K D D D'),
  // The verdict stands in a member of the vendor's own dialect, and without it an answer would pass for one that was found harmless.
  moderation: row('R R R R R'),
}

/** Outcomes of what an encoder reads besides the settings. For the parts of a conversation and for tools see PART_OUTCOMES. */
const OTHER_OUTCOMES: Readonly<
  Record<Exclude<FieldMeaning, SettingName | ServiceMeaning | 'written'>, Readonly<Record<TranslatedDialect, Outcome>>>
> = {
  conversation: row('M M M M M'),
  tools: row('M M M M M'),
  toolChoice: row('M M M M M'),
  outputFormat: row('M M M M M'),
  none: row('D D D D D'),
  refused: row('R R R R R'),
}

/**
 * Adds to the outcomes of settings. `bytes`: sent as the client wrote it. `service`: it is meant for this service and goes to no provider.
 */
export type FieldOutcome = Outcome | 'bytes' | 'service'

/** Fields that are not passed on unchanged even to a provider of the client's own dialect, because this interface extends them. */
const OWN_EXCEPTIONS: Readonly<Record<ClientDialect, Readonly<Record<string, FieldOutcome>>>> = {
  chat: {
    stream_options: 'mapped',
    reasoning: 'mapped',
    include_reasoning: 'mapped',
    functions: 'mapped',
    function_call: 'mapped',
  },
  responses: { store: 'mapped' },
  messages: { user: 'mapped', service_tier: 'mapped', output_format: 'mapped' },
}

/** The distinct outcomes of a client's top-level field at a provider of a dialect, one for each of its meanings. */
export const fieldOutcomes = (client: ClientDialect, field: string, dialect: TranslatedDialect): readonly FieldOutcome[] => {
  const meanings = fieldMeanings(client, field)
  const own = dialect === OWN_DIALECT[client]
  // OpenAI limits its own tools by this field; otherwise it limits the service's tools.
  if (field === 'max_tool_calls') return [own && client === 'responses' ? 'bytes' : 'service']
  return [...new Set(meanings.map((meaning) => outcomeOf(meaning, dialect, own ? (OWN_EXCEPTIONS[client][field] ?? 'bytes') : null)))]
}

/** `own`: the outcome of a field in a request that stays in its dialect; null for a translated request. */
const outcomeOf = (meaning: FieldMeaning, dialect: TranslatedDialect, own: FieldOutcome | null): FieldOutcome => {
  if (isForTheService(meaning)) return 'service'
  if (meaning === 'refused') return 'refused'
  if (meaning === 'written') return 'mapped'
  return own ?? (isOther(meaning) ? OTHER_OUTCOMES[meaning] : SETTING_OUTCOMES[meaning])[dialect]
}

const isOther = (meaning: FieldMeaning): meaning is keyof typeof OTHER_OUTCOMES => Object.hasOwn(OTHER_OUTCOMES, meaning)

/** The outcome of each kind of part, tool and format in a translated request, named in users' words. */
export const PART_OUTCOMES: Readonly<Record<string, Readonly<Record<TranslatedDialect, Outcome>>>> = {
  text: row('K K K K K'),
  'system message between turns': row('K K M M M'),
  'name of a speaker': row('K D D D D'),
  'image as data': row('K K K K K'),
  'image by its URL': row('K K K K R'),
  'file as data': row('K K K K M'),
  'file by its URL': row('K K K K R'),
  'name of a file': row('K K K D M'),
  audio: row('K R R K K'),
  'video as data': row('K R R K K'),
  refusal: row('M K M M M'),
  'sources of an earlier answer': row('D K D D D'),
  'thinking of the same model': row('D K K K K'),
  "another model's thinking": row('D D D D D'),
  'tool call and its result': row('K K K K K'),
  'picture from a tool': row('M K K M K'),
  'mark of a failed tool': row('D D K K K'),
  'cache mark': row('D D K D M'),
  'file by its id': row('R R R R R'),
  'part of an unknown type': row('R R R R R'),
  'function tool': row('K K K K K'),
  'custom tool': row('M K M M M'),
  'web search tool': row('D K M M D'),
  'tool that vendors alone have': row('R R R R R'),
  'tool of an unknown type': row('D D D D D'),
  'JSON without a schema': row('K K M K M'),
  'JSON with a schema': row('K K K K K'),
}
