/**
 * A conversation with its tools and settings, independent of the dialect. It is parsed only if a translation needs it. Optional
 * members are marks that most parts do not have.
 */
import type { JsonObject } from '../lib/json/json.ts'
import type { BuiltInTool } from './built-in-tools.ts'
import type { PlaceOfCall } from './place-of-call.ts'
import type { ReasoningProof } from './reasoning.ts'
import type { Settings } from './settings.ts'
import type { WaitingAgent } from './waiting-agent.ts'

export interface Prompt {
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  readonly outputFormat: OutputFormat
  readonly settings: Settings
  /** Top-level fields of the request without a canonical form; they reach only a provider of the same dialect. */
  readonly otherFields: readonly string[]
}

/**
 * Messages keep their order, system messages included: hoisting one would break the provider's prompt cache
 * (docs/contract/requests.md#order-of-messages).
 */
export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly Part[]
  /** The path in the request: `messages[3]`. */
  readonly at?: string
  readonly name?: string
  /** A system message may change the effort of the turns that follow (providers/thinking/effort-changes.ts), and say nothing (`parts`). */
  readonly effort?: string
  /** The same turn as its provider wrote it; `parts` is for all other providers. */
  readonly own?: OwnWords
}

/** A turn in which a provider's own tools ran, in blocks that only that provider understands. */
export interface OwnWords {
  /** Our slug of the provider, and our id of the model. */
  readonly provider: string
  readonly modelId: string
  readonly blocks: readonly OwnBlock[]
}

export interface OwnBlock {
  readonly type: string
  readonly json: string
  /** The id of a call of the provider's own tools: `calls` if the block makes the call, `answers` if it is the result. */
  readonly calls?: string
  readonly answers?: string
}

/** A provider may cache the prompt up to here. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h'
  /** The lifetime of an OpenAI client's breakpoint (`12h`), which no other dialect has. */
  readonly breakpointTtl?: string
}

interface Marked {
  readonly cache?: CacheMark
}

export type Part =
  /** `phase`: set on text of the assistant if the client states it. */
  | ({
      readonly type: 'text'
      readonly text: string
      readonly annotations?: readonly UrlCitation[]
      readonly phase?: MessagePhase
    } & Marked)
  | { readonly type: 'refusal'; readonly text: string }
  /** A block of thinking: its readable text, and the proof that its provider wants back. Either may be missing. */
  | { readonly type: 'reasoning'; readonly text: string; readonly summary?: boolean; readonly proof?: ReasoningProof }
  /** `url` is https:// or data:. */
  | ({ readonly type: 'image'; readonly url: string; readonly detail?: string } & Marked)
  /** `data` is base64; `format` as in `wav`, `mp3`. */
  | { readonly type: 'audio'; readonly data: string; readonly format: string }
  | { readonly type: 'video'; readonly url: string }
  | ({ readonly type: 'file'; readonly url: string; readonly filename: string | null } & Marked)
  /** `arguments` is JSON text, or any text for a `custom` call. */
  | ({
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      /** The tool's namespace, if the client puts it in one. */
      readonly namespace?: string
      readonly builtIn?: BuiltInTool
      readonly arguments: string
      readonly custom?: true
      readonly proof?: ReasoningProof
      /** The service ran the call in an earlier answer that the client brings back; this is its place in that answer. */
      readonly ran?: PlaceOfCall
      /** For a search over withheld tools: the hash of the catalogue that was searched. */
      readonly catalog?: string
      /** The call has not ended yet: the result that follows is only a placeholder. */
      readonly waiting?: WaitingAgent
    } & Marked)
  | ({
      readonly type: 'tool-result'
      readonly callId: string
      readonly text: string
      /**
       * The texts of which `text` consists, and the media that the tool returned with them, in its order; absent if it returned one text
       * alone. Read by canonical/result-pieces.ts.
       */
      readonly pieces?: readonly Part[]
      /** Everything that the model read, sealed by the service; `text` is the part that the client was shown. */
      readonly sealed?: string
      readonly isError?: boolean
    } & Marked)
  /**
   * A part without a canonical form, with its type in the client's dialect; translations warn about it. `content`: the model is
   * asked about it, as about a file given by its id (`fileId`), so the request would mean something else without it.
   */
  | { readonly type: 'unknown'; readonly kind: string; readonly at: string; readonly content?: true; readonly fileId?: string }

/** Distinguishes the assistant's commentary between tool calls from its final answer. */
export type MessagePhase = 'commentary' | 'final_answer'

export interface UrlCitation {
  readonly url: string
  readonly title: string | null
  readonly content: string | null
  readonly start: number | null
  readonly end: number | null
}

/** The first two are `barred` if the request lists them, but its choice of tools does not allow their calls (canonical/allowed-tools.ts). */
export type Tool = FunctionTool | CustomTool | ProviderTool

/** A group of tools that a client keeps together, such as those of one MCP server. Tool names are relative to it. */
export interface ToolNamespace {
  readonly name: string
  readonly description: string | null
}

export interface FunctionTool extends Marked {
  readonly type: 'function'
  readonly name: string
  readonly namespace?: ToolNamespace
  /** The client declares the tool by a type of its own, and expects its calls as items of their own. */
  readonly builtIn?: BuiltInTool
  /** The form of the tool in Claude's own API, on which Claude is trained. */
  readonly knownToClaude?: JsonObject
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: unknown
  readonly strict?: boolean
  /** The client marks the tool `defer_loading`: the model must search for it before it is shown. */
  readonly deferred?: true
  readonly barred?: true
}

/** A client tool that takes any text, as OpenAI has them; for other providers it becomes a function (providers/tools/text-calls.ts). */
export interface CustomTool {
  readonly type: 'custom'
  readonly kind: 'custom'
  readonly at: string
  readonly name: string
  readonly namespace?: ToolNamespace
  readonly description: string | null
  /** The grammar that the text must follow; null for any text. */
  readonly grammar: { readonly syntax: string; readonly definition: string } | null
  readonly barred?: true
}

/** A tool that the provider runs itself, or one of a kind without a canonical form; `raw` is the client's own JSON. */
export interface ProviderTool extends Marked {
  readonly type: 'provider'
  readonly kind: string
  readonly at: string
  readonly raw: unknown
}

/** The name under which a choice demands the provider's own web search. */
export const WEB_SEARCH = 'web_search'

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string; readonly namespace?: string; readonly builtIn?: BuiltInTool }

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema'
      readonly name: string
      readonly schema: unknown
      readonly strict?: boolean
      readonly description?: string
    }
