/**
 * A conversation and what goes with it, whatever dialect it came in. Parsed only where a translation needs it. Optional
 * members are marks that most parts do not have.
 */
import type { JsonObject } from '../lib/json.ts'
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
  /** Top-level fields of the request that have no word in the middle: they reach a provider of the same dialect only. */
  readonly otherFields: readonly string[]
}

/** Messages keep their places, system messages too: to hoist one would break the provider's prompt cache (docs/contract/requests.md#order-of-messages). */
export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly Part[]
  /** Where it stands in the request: `messages[3]`. */
  readonly at?: string
  readonly name?: string
  /** The same turn as its provider wrote it; `parts` is for all others. */
  readonly own?: OwnWords
}

/** A turn in which a provider's own tools were at work, in words that mean something to that provider alone. */
export interface OwnWords {
  /** Our slug of the provider, and our id of the model. */
  readonly provider: string
  readonly modelId: string
  readonly blocks: readonly OwnBlock[]
}

export interface OwnBlock {
  readonly type: string
  readonly json: string
  /** The id of a call of the provider's own tools: `calls` where the block makes the call, `answers` where it is the result. */
  readonly calls?: string
  readonly answers?: string
}

/** A provider may cache the prompt up to here. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h'
}

interface Marked {
  readonly cache?: CacheMark
}

export type Part =
  /** `phase`: of the assistant's, where the client says it. */
  | ({
      readonly type: 'text'
      readonly text: string
      readonly annotations?: readonly UrlCitation[]
      readonly phase?: MessagePhase
    } & Marked)
  | { readonly type: 'refusal'; readonly text: string }
  /** A block of thinking: what can be read of it, and what its maker wants back. Either may be missing. */
  | { readonly type: 'reasoning'; readonly text: string; readonly summary?: boolean; readonly proof?: ReasoningProof }
  /** `url` is https:// or data:. */
  | ({ readonly type: 'image'; readonly url: string; readonly detail?: string } & Marked)
  /** `data` is base64; `format` as in `wav`, `mp3`. */
  | { readonly type: 'audio'; readonly data: string; readonly format: string }
  | { readonly type: 'video'; readonly url: string }
  | ({ readonly type: 'file'; readonly url: string; readonly filename: string | null } & Marked)
  /** `arguments` is JSON text; of a `custom` call any text. */
  | ({
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      /** The tool's namespace, where the client keeps it in one. */
      readonly namespace?: string
      readonly builtIn?: BuiltInTool
      readonly arguments: string
      readonly custom?: true
      readonly proof?: ReasoningProof
      /** The service ran it, for an answer that the client brings back: in this place of that answer. */
      readonly ran?: PlaceOfCall
      /** For a search over withheld tools: the catalogue that was searched, by its hash. */
      readonly catalog?: string
      /** It has not ended yet: its result, which comes next, only holds its place. */
      readonly waiting?: WaitingAgent
    } & Marked)
  | ({
      readonly type: 'tool-result'
      readonly callId: string
      readonly text: string
      /** All of what the model read, as the service sealed it: `text` is the part that the client was shown. */
      readonly sealed?: string
      /** Media that a tool returned beside text; in dialects whose results hold text only they follow in the same message. */
      readonly media?: readonly Part[]
      readonly isError?: boolean
    } & Marked)
  /**
   * A part without a word in the middle, by its type in the client's dialect: translations warn of it. `content`: it is
   * something that the model is asked about, such as a file by its id (`fileId`), so that a request without it would be another.
   */
  | { readonly type: 'unknown'; readonly kind: string; readonly at: string; readonly content?: true; readonly fileId?: string }

/** Says whether words of the assistant come between calls of tools, or answer. */
export type MessagePhase = 'commentary' | 'final_answer'

export interface UrlCitation {
  readonly url: string
  readonly title: string | null
  readonly content: string | null
  readonly start: number | null
  readonly end: number | null
}

export type Tool = FunctionTool | CustomTool | ProviderTool

/** A set of tools that a client keeps together, such as those of one MCP server. Its tools are named within it. */
export interface ToolNamespace {
  readonly name: string
  readonly description: string | null
}

export interface FunctionTool extends Marked {
  readonly type: 'function'
  readonly name: string
  readonly namespace?: ToolNamespace
  /** The client knows it by a type of its own, and its calls as items of their own. */
  readonly builtIn?: BuiltInTool
  /** The form that Claude's own API has for the tool, which Claude knows by heart. */
  readonly knownToClaude?: JsonObject
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: unknown
  readonly strict?: boolean
  /** The client marks it `defer_loading`: the model is to search for it before it is shown. */
  readonly deferred?: true
}

/** A tool of the client's that takes any text, as OpenAI has them; elsewhere it is a function (providers/text-calls.ts). */
export interface CustomTool {
  readonly type: 'custom'
  readonly kind: 'custom'
  readonly at: string
  readonly name: string
  readonly namespace?: ToolNamespace
  readonly description: string | null
  /** The language that the text must be of; null for any. */
  readonly grammar: { readonly syntax: string; readonly definition: string } | null
}

/** A tool that the provider runs itself, or of a kind without a word in the middle; `raw` is the client's own. */
export interface ProviderTool {
  readonly type: 'provider'
  readonly kind: string
  readonly at: string
  readonly raw: unknown
}

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
