/**
 * The settings of a request beside its conversation, under one canonical name each. Each setting remembers the field that the
 * client used, so that a warning names a field that the client knows.
 */
import { z } from 'zod'

const text = z.string()
// The schema's `readonly()` is avoided: it freezes the parsed value, which takes longer than parsing it.
const texts: z.ZodType<readonly string[]> = z.array(text)
const record: z.ZodType<Readonly<Record<string, unknown>>> = z.record(text, z.unknown())
const numbers: z.ZodType<Readonly<Record<string, number>>> = z.record(text, z.number())

/** Every setting, with the type of its value. The limits are those of the interfaces (request-fields). */
export const SETTINGS = {
  temperature: z.number(),
  topP: z.number(),
  topK: z.number(),
  topA: z.number(),
  minP: z.number(),
  frequencyPenalty: z.number(),
  presencePenalty: z.number(),
  repetitionPenalty: z.number(),
  seed: z.number(),
  maxOutputTokens: z.number(),
  stop: texts,
  logitBias: numbers,
  logprobs: z.boolean(),
  topLogprobs: z.number(),
  candidates: z.int().min(1),
  reasoning: z.custom<ReasoningSetting>((value) => typeof value === 'object' && value !== null),
  verbosity: text,
  serviceTier: text,
  /** The end user, for abuse isolation. */
  user: text,
  /** The newer field for the end user, which does not identify the person; some providers take both. */
  safetyIdentifier: text,
  metadata: record,
  parallelToolCalls: z.boolean(),
  outputModalities: texts,
  /** `{voice, format}` of spoken output. */
  audioOutput: record,
  prediction: z.unknown(),
  promptCacheKey: text,
  /** Automatic prompt caching of the last block: one cache mark for the whole request. */
  cacheControl: z.unknown(),
  truncation: text,
  include: texts,
  contextManagement: z.unknown(),
  /** The answer is to be a summary of the conversation, in Anthropic's own form, and nothing else. */
  compaction: z.unknown(),
  /** The only geography in which the model may run. */
  inferenceGeo: text,
  webSearchOptions: z.unknown(),
  safeguards: z.unknown(),
  imageConfig: z.unknown(),
  promptCacheOptions: z.unknown(),
  promptCacheRetention: text,
  /** The vendor moderates the request and its answer, and may block them. */
  moderation: record,
}

export type SettingName = keyof typeof SETTINGS

/**
 * Settings that change how a model writes, and neither what an answer holds nor what it may cost. A preset keeps them also for a client
 * whose interface has no field for them, since a provider of another dialect may take them (decisions/0230).
 */
export const CARRIED_SETTINGS = [
  'topA',
  'minP',
  'frequencyPenalty',
  'presencePenalty',
  'repetitionPenalty',
  'seed',
  'logitBias',
  'stop',
  'verbosity',
  // A provider that cannot moderate refuses the request; left out, it would pass for one that was found harmless.
  'moderation',
] as const satisfies readonly SettingName[]

export type CarriedSetting = (typeof CARRIED_SETTINGS)[number]

export type SettingValues = { readonly [Name in SettingName]: z.infer<(typeof SETTINGS)[Name]> }

export interface ReasoningSetting {
  readonly enabled?: boolean
  /** none, minimal, low, medium, high, xhigh, max. */
  readonly effort?: string
  /** Tokens that may be spent on reasoning. */
  readonly maxTokens?: number
  /** auto, concise or detailed: the wanted form of readable thinking. */
  readonly summary?: string
  /** Think, but do not show it. */
  readonly exclude?: boolean
}

export type Settings = { readonly [Name in SettingName]?: { readonly value: SettingValues[Name]; readonly field: string } }
