/**
 * What a request asks of the model beside its conversation, under one name in the middle. Each setting remembers the
 * field that the client wrote it in, so that a warning names what the client knows.
 */
export interface SettingValues {
  readonly temperature: number
  readonly topP: number
  readonly topK: number
  readonly topA: number
  readonly minP: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly repetitionPenalty: number
  readonly seed: number
  readonly maxOutputTokens: number
  readonly stop: readonly string[]
  readonly logitBias: Readonly<Record<string, number>>
  readonly logprobs: boolean
  readonly topLogprobs: number
  readonly candidates: number
  readonly reasoning: ReasoningSetting
  readonly verbosity: string
  readonly serviceTier: string
  /** The end user, for abuse isolation. */
  readonly user: string
  /** The newer word for the end user, which says nothing of who it is; some providers take both. */
  readonly safetyIdentifier: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly parallelToolCalls: boolean
  readonly outputModalities: readonly string[]
  /** `{voice, format}` of spoken output. */
  readonly audioOutput: Readonly<Record<string, unknown>>
  readonly prediction: unknown
  readonly promptCacheKey: string
  /** Managed prompt caching of the last block: a cache mark for the whole request. */
  readonly cacheControl: unknown
  readonly truncation: string
  readonly include: readonly string[]
  readonly contextManagement: unknown
  readonly webSearchOptions: unknown
  readonly safeguards: unknown
  readonly imageConfig: unknown
  readonly promptCacheOptions: unknown
}

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

export type SettingName = keyof SettingValues

export type Settings = { readonly [Name in SettingName]?: { readonly value: SettingValues[Name]; readonly field: string } }
