/** What vendors of the Chat Completions dialect differ in. */

export interface Vendor {
  /** The header that the key goes in: `Authorization: Bearer`, or Azure's own. */
  readonly keyHeader: 'authorization' | 'api-key'
  /** The name that a translated limit of output tokens gets. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Fields of the dialect that the vendor knows under another name only. */
  readonly names: Readonly<Record<string, string>>
  /** Fields of the dialect that the vendor refuses or says it passes over. */
  readonly unsupported: ReadonlySet<string>
  /** Takes `stream_options`; where not, usage comes unasked. */
  readonly streamOptions: boolean
  readonly developerRole: boolean
  /** Text alone may be a list of parts; where not, it is sent as one string. */
  readonly textParts: boolean
  /** Refuses members of messages that it does not know, and nulls. */
  readonly strictMessages: boolean
  /** Has `refusal` in its messages; where not, it is text. */
  readonly refusals: boolean
  /** Wants content, if empty, beside calls. */
  readonly contentBesideCalls: boolean
  readonly callIds: 'any' | 'at-most-40' | 'nine-alphanumeric'
  /** `file` as OpenAI writes it, with data only or also with an address; or Mistral's part. */
  readonly files: 'data' | 'any' | 'document_url'
  readonly video: boolean
  /** Where it takes cache marks; null: it caches by itself. */
  readonly cacheMarks: CacheMarks | null
  readonly reasoning: ReasoningWords | 'object'
  /** The thinking of earlier turns that it wants back; `untouched`: nothing is known. */
  readonly thinkingBack: 'details' | ThinkingField | 'none' | 'untouched'
  /** Its answers show thinking, so that a wish for a summary is met. */
  readonly showsThinking: boolean
  readonly jsonSchema: boolean
  readonly requiredToolChoice: boolean
  /** Has tools that take any text. */
  readonly customTools: boolean
  readonly webSearch: 'openrouter:web_search' | 'web_search_options' | 'enable_search' | null
  /** Null: it has none. */
  readonly embeddings: Pick<Vendor, 'names' | 'unsupported'> | null
}

interface CacheMarks {
  readonly ttl: boolean
  readonly tools: boolean
  /** A mark for the request as a whole, as a field of it. */
  readonly request: boolean
}

export interface ReasoningWords {
  /** The efforts it knows; `any`: it depends on the model. */
  readonly efforts: readonly string[] | 'any'
  /** What turns thinking on and off; null: the effort `none` does. */
  readonly toggle: 'thinking' | 'enable_thinking' | 'reasoning' | null
  /** The toggle stands beside an effort, or is refused there. */
  readonly toggleBesideEffort: boolean
  readonly budgetField: string | null
}

interface ThinkingField {
  readonly field: 'reasoning_content'
  /** For a turn with calls that has no thinking, as one that another model made. */
  readonly filler: string
}
