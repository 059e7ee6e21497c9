/** Differences between vendors of the Chat Completions and Responses dialects. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { PatternForm } from '../tools/schema-patterns.ts'
import type { ToolNameForm } from '../tools/tool-name-form.ts'

export interface Vendor {
  /** The header that the key goes in: `Authorization: Bearer`, or Azure's own. */
  readonly keyHeader: 'authorization' | 'api-key'
  /**
   * The fields of this service's interfaces that the vendor accepts, in each dialect that it speaks; any other is left out. Reasoning and
   * the limit of output have rules of their own, below. A field that no interface knows is passed on as it is.
   */
  readonly accepts: Readonly<Partial<Record<ClientDialect, ReadonlySet<string>>>> | 'everything'
  /** Its models are OpenAI's; each accepts fields of its own in addition to `accepts` (openai-model.ts). */
  readonly openAiModels: boolean
  /** Names of the limit of output tokens that it accepts; a translated limit gets the first. */
  readonly outputLimits: readonly OutputLimit[]
  /** Fields that the vendor knows only under another name. */
  readonly names: Readonly<Record<string, string>>
  /** The most stop sequences; null: unknown. */
  readonly stopMax: number | null
  /** The greatest length of the identifiers of an end user and of a cached prompt; null: unknown. */
  readonly identifierMax: number | null
  /** Its name of the ordinary service tier. */
  readonly ordinaryTier: 'default' | 'on_demand'
  /** Takes `stream_options`; a vendor that does not sends usage unasked. */
  readonly streamOptions: boolean
  readonly developerRole: boolean
  /** Its models' templates may refuse any system message except a single one before all others. */
  readonly systemFirst: boolean
  /** The messages in which a text may be a list of parts; in others it is sent as one string. */
  readonly textParts: 'any' | 'user' | 'none'
  /** A tool's result may hold pictures and files. */
  readonly toolMedia: boolean
  /** Roles whose messages may bear a name. */
  readonly namedRoles: 'any' | readonly string[]
  /**
   * Refuses messages of the user or the system after a tool's result, system messages also after the assistant's and at the end, and a last
   * message of the assistant that is not marked as the beginning of the answer.
   */
  readonly strictOrder: boolean
  /** Refuses unknown members of messages, and nulls. */
  readonly strictMessages: boolean
  /** Has `prefix` in the assistant's messages and `index` in calls, which others that are strict do not know. */
  readonly prefixes: boolean
  /** Has `refusal` in its messages; for other vendors a refusal becomes text. */
  readonly refusals: boolean
  /** Requires content, even if empty, beside calls. */
  readonly contentBesideCalls: boolean
  readonly callIds: 'any' | 'at-most-40' | 'nine-alphanumeric'
  /** The names of tools that the vendor takes; null: any. */
  readonly toolNames: ToolNameForm | null
  /** Refuses schemas of tools that are not those of an object, without alternatives at the top. */
  readonly objectSchemas: boolean
  /** Refuses a type beside alternatives or a reference in such a schema. */
  readonly typesInside: boolean
  /** The patterns that it takes in schemas of tools. */
  readonly patterns: PatternForm
  /** Knows tools in namespaces, if it speaks Responses. */
  readonly toolNamespaces: boolean
  /** Knows the shells and the patches of Responses (canonical/built-in-tools.ts), if it speaks Responses. */
  readonly builtInTools: boolean
  /**
   * `data` and `any`: `file` as OpenAI writes it, with data only or also with an address. `document_url`: Mistral's part. `file_url`:
   * Perplexity's part, whose data have no prefix.
   */
  readonly files: 'data' | 'any' | 'document_url' | 'file_url'
  readonly video: boolean
  /** The places at which the vendor takes cache marks; null: it caches by itself. */
  readonly cacheMarks: CacheMarks | null
  readonly reasoning: VendorsReasoning | 'object'
  /** The thinking of earlier turns that the vendor wants back; `untouched`: unknown (decisions/0131). */
  readonly thinkingBack: 'details' | ThinkingField | 'none' | 'untouched'
  /** Its answers show thinking, which fulfils a wish for a summary. */
  readonly showsThinking: boolean
  readonly jsonSchema: boolean
  /** The form of its field `structured_outputs`, if `accepts` has it. */
  readonly structuredOutputs: 'flag' | 'object'
  /** Matches its models that refuse the choice `required`; null: none. */
  readonly neverRequired: RegExp | null
  /** Matches its models that think unless thinking is turned off, and that refuse a demanded call while they think; null: none. */
  readonly unforcedThinkers: RegExp | null
  /** Fields that some of its models refuse although others accept them. */
  readonly refusedFields: readonly RefusedFields[]
  /** Has tools that take free text. */
  readonly customTools: boolean
  readonly webSearch: 'openrouter:web_search' | 'web_search_options' | 'enable_search' | null
  /** Its answers say exactly what it charges for them (decisions/0146). */
  readonly reportsCharge: boolean
  /** Null if the vendor has no embeddings. */
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
  /** The fields it accepts among those that not every vendor has. */
  readonly accepts: ReadonlySet<string>
}

interface CacheMarks {
  readonly ttl: boolean
  readonly tools: boolean
}

/** The words of a vendor; some of its models, by the names that it gives them, have other ones. */
export interface VendorsReasoning extends ReasoningWords {
  readonly others?: readonly { readonly models: RegExp; readonly words: Partial<ReasoningWords> }[]
}

export interface ReasoningWords {
  /** The efforts that the vendor knows; `any`: it depends on the model. */
  readonly efforts: readonly string[] | 'any'
  /** False: the model does not think, so a wish that it may not is met. */
  readonly thinks?: false
  /** The switch that turns thinking on and off; null: the effort `none` turns it off. */
  readonly toggle: 'thinking' | 'enable_thinking' | 'reasoning' | null
  /** True if the toggle may go beside an effort; false if it is refused there. */
  readonly toggleBesideEffort: boolean
  readonly budgetField: string | null
}

export interface ThinkingField {
  /** The member of a message that holds it; `content`: parts of the type `thinking`, among the words. */
  readonly field: 'reasoning' | 'reasoning_content' | 'content'
  /** The thinking to send for a turn with calls that has none, such as one of another model; null: none is needed. */
  readonly filler: string | null
  /** Matches the models that take it, if others refuse it. */
  readonly models?: RegExp
}
