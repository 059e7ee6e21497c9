/** Differences between vendors of the Chat Completions and Responses dialects. */
import type { ClientDialect } from '../canonical/call.ts'
import type { ToolNameForm } from './tool-name-form.ts'

export interface Vendor {
  /** The header that the key goes in: `Authorization: Bearer`, or Azure's own. */
  readonly keyHeader: 'authorization' | 'api-key'
  /**
   * The fields of this service's interfaces that the vendor accepts, in each dialect that it speaks:
   * any other is left out. How much to think and the limit of output have rules of their own, below. A field that no
   * interface knows is passed on as it is.
   */
  readonly accepts: Readonly<Partial<Record<ClientDialect, ReadonlySet<string>>>> | 'everything'
  /** Its models are OpenAI's; each accepts fields of its own beside these (openai-model.ts). */
  readonly openAiModels: boolean
  /** Names of the limit of output tokens that it accepts; a translated limit gets the first. */
  readonly outputLimits: readonly OutputLimit[]
  /** Fields that the vendor knows under another name only. */
  readonly names: Readonly<Record<string, string>>
  /** How many sequences may end an answer; null: unknown. */
  readonly stopMax: number | null
  /** How long the names of an end user and of a cached prompt may be; null: unknown. */
  readonly identifierMax: number | null
  /** Takes `stream_options`; where not, usage comes unasked. */
  readonly streamOptions: boolean
  readonly developerRole: boolean
  /** Its models' templates may refuse any system message but one before all others. */
  readonly systemFirst: boolean
  /** The messages in which text alone may be a list of parts; elsewhere it is sent as one string. */
  readonly textParts: 'any' | 'user' | 'none'
  /** A tool's result may hold pictures and files. */
  readonly toolMedia: boolean
  /** Roles whose messages may bear a name. */
  readonly namedRoles: 'any' | readonly string[]
  /**
   * Refuses words of the user or the system behind a tool's result, the system's also behind the assistant's and at the
   * end, and an assistant's last word that is not marked as the beginning of the answer.
   */
  readonly strictOrder: boolean
  /** Refuses members of messages that it does not know, and nulls. */
  readonly strictMessages: boolean
  /** Has `refusal` in its messages; where not, it is text. */
  readonly refusals: boolean
  /** Wants content, if empty, beside calls. */
  readonly contentBesideCalls: boolean
  readonly callIds: 'any' | 'at-most-40' | 'nine-alphanumeric'
  /** The names of tools that it takes; null: any. */
  readonly toolNames: ToolNameForm | null
  /** Knows tools in namespaces, where it speaks Responses. */
  readonly toolNamespaces: boolean
  /** Knows the shells and the patches of Responses (canonical/built-in-tools.ts), where it speaks it. */
  readonly builtInTools: boolean
  /** `file` as OpenAI writes it, with data only or also with an address; or Mistral's part. */
  readonly files: 'data' | 'any' | 'document_url'
  readonly video: boolean
  /** Where it takes cache marks; null: it caches by itself. */
  readonly cacheMarks: CacheMarks | null
  readonly reasoning: ReasoningWords | 'object'
  /** The thinking of earlier turns that it wants back; `untouched`: nothing is known (decisions/0131). */
  readonly thinkingBack: 'details' | ThinkingField | 'none' | 'untouched'
  /** Its answers show thinking, so that a wish for a summary is met. */
  readonly showsThinking: boolean
  readonly jsonSchema: boolean
  readonly requiredToolChoice: boolean
  /** Its models that think unless they are told not to, and refuse a demanded call while they do; null: none. */
  readonly unforcedThinkers: RegExp | null
  /** Fields that some of its models refuse, although others accept them. */
  readonly refusedFields: readonly RefusedFields[]
  /** Has tools that take any text. */
  readonly customTools: boolean
  readonly webSearch: 'openrouter:web_search' | 'web_search_options' | 'enable_search' | null
  /** Null: it has none. */
  readonly embeddings: EmbeddingWords | null
}

interface RefusedFields {
  /** The vendor's own names of the models. */
  readonly models: RegExp
  readonly fields: readonly string[]
}

export type OutputLimit = 'max_tokens' | 'max_completion_tokens'

interface EmbeddingWords {
  readonly names: Readonly<Record<string, string>>
  /** Fields that not every vendor has. */
  readonly accepts: ReadonlySet<string>
}

interface CacheMarks {
  readonly ttl: boolean
  readonly tools: boolean
}

export interface ReasoningWords {
  /** The efforts it knows; `any`: it depends on the model. */
  readonly efforts: readonly string[] | 'any'
  /** The switch that turns thinking on and off; null: the effort `none` does. */
  readonly toggle: 'thinking' | 'enable_thinking' | 'reasoning' | null
  /** The toggle stands beside an effort, or is refused there. */
  readonly toggleBesideEffort: boolean
  readonly budgetField: string | null
}

interface ThinkingField {
  readonly field: 'reasoning' | 'reasoning_content'
  /** For a turn with calls that has no thinking, as one that another model made; null: it needs none. */
  readonly filler: string | null
}
