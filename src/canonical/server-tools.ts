/**
 * Tools that the service runs itself, between the client and the model: what they are called, what a model asked of one,
 * and what came of it. Each interface shows them in its own words (docs/contract/tools.md#server-tools).
 */
import type { JsonObject } from '../lib/json.ts'
import type { UrlCitation } from './prompt.ts'
import type { ReasoningProof } from './reasoning.ts'

export const SERVER_TOOLS = [
  'datetime',
  'experimental__search_models',
  'web_search',
  'web_fetch',
  'advisor',
  'subagent',
  'fusion',
  'image_generation',
  'apply_patch',
  'tool_search',
  'files',
  'shell',
  'bash',
] as const

export type ServerTool = (typeof SERVER_TOOLS)[number]

export const isServerTool = (name: string | null): name is ServerTool => SERVER_TOOLS.some((tool) => tool === name)

/** One call, as a model made it. */
export interface ServerCall {
  readonly tool: ServerTool
  /** The type under which the client asked for the tool, and in which it is answered: `openrouter:web_search`, `web_search_20250305`. */
  readonly askedAs: string
  /** Ours: of the item or block that clients see, unique in the answer. */
  readonly id: string
  /** The model's own id of the call, and the name by which it called: they come back with the conversation. */
  readonly callId: string
  readonly name: string
  /** JSON text, as the model wrote it; and the object that it is, empty where it is none. */
  readonly arguments: string
  readonly input: JsonObject
  /** Stands for the thinking that led to it: its maker wants it back with the call. */
  readonly proof?: ReasoningProof
  /** One of several tools of a kind: the name that the client gave it. */
  readonly instance?: string
  /** For a search over withheld tools: the catalogue that is searched, by its hash. */
  readonly catalog?: string
  /** The client asked for reports of how the tool gets on. */
  readonly reportsProgress?: true
}

/** How a tool that asks models gets on. A fusion asks a panel of models, and one that compares what these said. */
export type ToolProgress =
  | { readonly step: 'advice'; readonly text: string }
  | { readonly step: 'panel-begun'; readonly model: string }
  | { readonly step: 'panel-text' | 'panel-reasoning'; readonly model: string; readonly text: string }
  | { readonly step: 'panel-answered'; readonly model: string; readonly text: string }
  | { readonly step: 'panel-failed'; readonly model: string; readonly error: string }
  | { readonly step: 'analysis-begun'; readonly model: string }
  | { readonly step: 'analysis-made'; readonly analysis: JsonObject }

/** Why a call has no result. Messages clients know these codes; the other interfaces show the sentence. */
export type ServerToolFault =
  | 'invalid_tool_input'
  | 'unknown_tool'
  | 'unavailable'
  | 'max_uses_exceeded'
  | 'too_many_requests'
  | 'query_too_long'
  | 'request_too_large'
  | 'url_too_long'
  | 'url_not_allowed'
  | 'url_not_in_prior_context'
  | 'url_not_accessible'
  | 'unsupported_content_type'
  | 'content_too_large'
  | 'execution_time_exceeded'
  | 'blocked_by_guardrail'
  | 'model_not_found'
  | 'prompt_too_long'

/** How many calls an answer's usage counts. */
export interface ServerToolUse {
  readonly requested: number
  /** Calls that were given to their tool. */
  readonly executed: number
  readonly searches: number
  readonly fetches: number
}

/** The outcome of a call. */
export interface ServerOutcome {
  /** Null where the tool did what was asked. */
  readonly fault: { readonly code: ServerToolFault; readonly message: string } | null
  /** The result, in the members that its tool has (docs/contract/tools.md#server-tools). */
  readonly value: JsonObject
  /** The text that the model reads: the result as JSON text, cut to the bound of results. */
  readonly text: string
  /** Pages that the result is made of; an answer that names one of them cites it. */
  readonly sources: readonly Pick<UrlCitation, 'url' | 'title'>[]
  /** Pictures for the client, as data: addresses. The model hears that they were made, and does not see them. */
  readonly pictures?: readonly string[]
  /** The text that the model read, sealed, for interfaces on which a client does not see all of it: it comes back with the conversation. */
  readonly sealed?: string
}
