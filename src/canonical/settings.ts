/**
 * The settings of a request beside its conversation, under one name in the middle. Each setting remembers the
 * field that the client wrote it in, so that a warning names what the client knows.
 */
import { z } from 'zod'

const text = z.string()
// Not `readonly()` of the schema: it freezes what it reads, which takes longer than to read it.
const texts: z.ZodType<readonly string[]> = z.array(text)
const record: z.ZodType<Readonly<Record<string, unknown>>> = z.record(text, z.unknown())
const numbers: z.ZodType<Readonly<Record<string, number>>> = z.record(text, z.number())

/** Every setting there is, with what its value is. Limits are those of the interfaces (request-fields). */
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
  /** The newer word for the end user, which does not identify the person; some providers take both. */
  safetyIdentifier: text,
  metadata: record,
  parallelToolCalls: z.boolean(),
  outputModalities: texts,
  /** `{voice, format}` of spoken output. */
  audioOutput: record,
  prediction: z.unknown(),
  promptCacheKey: text,
  /** Managed prompt caching of the last block: a cache mark for the whole request. */
  cacheControl: z.unknown(),
  truncation: text,
  include: texts,
  contextManagement: z.unknown(),
  /** The answer is to be a summary of the conversation, in Anthropic's own form, and nothing else. */
  compaction: z.unknown(),
  webSearchOptions: z.unknown(),
  safeguards: z.unknown(),
  imageConfig: z.unknown(),
  promptCacheOptions: z.unknown(),
}

export type SettingName = keyof typeof SETTINGS

export type SettingValues = { readonly [Name in SettingName]: z.infer<(typeof SETTINGS)[Name]> }

export interface ReasoningSetting {
  readonly enabled?: boolean
  /** none, minimal, low, medium, high, xhigh, max. */
  readonly effort?: string
  /** Tokens that may be spent on it. */
  readonly maxTokens?: number
  /** auto, concise, detailed: how readable thinking is wanted. */
  readonly summary?: string
  /** Think, but do not show it. */
  readonly exclude?: boolean
}

export type Settings = { readonly [Name in SettingName]?: { readonly value: SettingValues[Name]; readonly field: string } }
