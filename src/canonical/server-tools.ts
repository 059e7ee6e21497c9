/**
 * Tools that the service runs itself, between the client and the model: their names, their calls and their outcomes. Each
 * interface shows them in its own form (docs/contract/tools.md#server-tools).
 */
import type { JsonObject } from '../lib/json/json.ts'
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
  /** The type by which the client asked for the tool, and which its answer uses: `openrouter:web_search`, `web_search_20250305`. */
  readonly askedAs: string
  /** Our id of the item or block that clients see, unique in the answer. */
  readonly id: string
  /** The model's own id of the call and the name that it called; both come back with the conversation. */
  readonly callId: string
  readonly name: string
  /** `arguments` is the JSON text that the model wrote; `input` is that object, empty if the text is not an object. */
  readonly arguments: string
  readonly input: JsonObject
  /** A proof of the thinking that led to the call; its maker wants it back with the call. */
  readonly proof?: ReasoningProof
  /** The client's name for this tool, if it declared several of the same kind. */
  readonly instance?: string
  /** For a search over withheld tools: the hash of the catalogue that is searched. */
  readonly catalog?: string
  /** The client asked for progress reports of the tool. */
  readonly reportsProgress?: true
}

/** Progress of a tool that calls models. A fusion calls a panel of models, and one model that compares their answers. */
export type ToolProgress =
  | { readonly step: 'advice'; readonly text: string }
  | { readonly step: 'panel-begun'; readonly model: string }
  | { readonly step: 'panel-text' | 'panel-reasoning'; readonly model: string; readonly text: string }
  | { readonly step: 'panel-answered'; readonly model: string; readonly text: string }
  | { readonly step: 'panel-failed'; readonly model: string; readonly error: string }
  | { readonly step: 'analysis-begun'; readonly model: string }
  | { readonly step: 'analysis-made'; readonly analysis: JsonObject }

/** Why a call has no result. Clients of Messages know these codes; the other interfaces show the message. */
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

/** The numbers of calls in an answer's usage. */
export interface ServerToolUse {
  readonly requested: number
  /** Calls that were passed to their tool. */
  readonly executed: number
  readonly searches: number
  readonly fetches: number
}

/** The outcome of a call. */
export interface ServerOutcome {
  /** Null if the tool did what was asked. */
  readonly fault: { readonly code: ServerToolFault; readonly message: string } | null
  /** The result, with the members that the tool defines (docs/contract/tools.md#server-tools). */
  readonly value: JsonObject
  /** The text that the model reads: the result as JSON text, cut to the maximum length of results. */
  readonly text: string
  /** Pages that the result was made from; an answer that names one of them cites it. */
  readonly sources: readonly Pick<UrlCitation, 'url' | 'title'>[]
  /** Images for the client, as data: URLs. The model is informed that they were made, but does not see them. */
  readonly pictures?: readonly string[]
  /** The text that the model read, sealed, for interfaces that do not show all of it to the client; it comes back with the conversation. */
  readonly sealed?: string
}
