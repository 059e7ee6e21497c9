/** The facts of a finished request, for destinations of traces. Nothing in it changes any more. */
import type { JsonObject } from '../lib/json/json.ts'
import type { TraceParent } from './trace-ids.ts'

export interface RequestTrace {
  readonly generationId: string
  readonly requestId: string
  readonly workspaceId: string
  readonly keyHash: string
  /** The name of its key; null if the key was deleted. */
  readonly keyName: string | null
  readonly presetSlug: string | null
  readonly presetVersion: number | null
  readonly operation: 'chat' | 'embeddings'
  /** The model that the client named, and the model that answered or was asked last. */
  readonly requestedModel: string
  readonly model: string
  /** The slug of the provider; null if none was asked. */
  readonly provider: string | null
  readonly sessionId: string | null
  readonly user: string | null
  readonly referer: string | null
  readonly userAgent: string | null
  readonly settings: TracedSettings
  readonly finishReason: string | null
  readonly error: TracedError | null
  readonly isCancelled: boolean
  /** By the wall clock, in milliseconds. */
  readonly startedMs: number
  readonly endedMs: number
  /** Seconds until the first content; null if none came. */
  readonly firstContentSeconds: number | null
  readonly usage: {
    readonly input: number
    readonly output: number
    readonly cacheRead: number
    readonly cacheWrite: number
    readonly reasoning: number
  }
  /** Null if no cost is known. */
  readonly costUsd: number | null
  readonly attempts: readonly TracedAttempt[]
  readonly innerAttempts: readonly TracedAttempt[]
  readonly toolCalls: readonly TracedToolCall[]
  readonly guardrails: readonly TracedGuardrail[]
  /** The client's own `trace`; null if it sent none. */
  readonly named: JsonObject | null
  readonly parent: TraceParent | null
  /** The question and the answer; null if nobody wants them, if they may not be sent, or if they were too large. */
  readonly content: TracedContent | null
  /** The content was wanted but too large: the trace is sent without it. */
  readonly contentLeftOut: boolean
  /** Nobody may keep the content (zero data retention). */
  readonly isPrivate: boolean
}

export interface TracedError {
  readonly type: string
  /** Null if it may quote the content. */
  readonly message: string | null
}

export interface TracedSettings {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly maxTokens?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly candidates?: number | undefined
  readonly stream: boolean
  readonly outputType?: 'text' | 'json' | undefined
}

export interface TracedAttempt {
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
  readonly startedMs: number
  readonly endedMs: number
  readonly status: number | null
  readonly error: TracedError | null
}

export interface TracedToolCall {
  readonly name: string
  readonly callId: string
  readonly startedMs: number
  readonly endedMs: number
  readonly isFailed: boolean
}

export interface TracedGuardrail {
  readonly name: string
  readonly guardrailId: string
  readonly scope: string
  readonly action: string | null
}

export interface TracedContent {
  readonly system: readonly TracedPart[]
  readonly input: readonly TracedMessage[]
  readonly output: readonly TracedPart[]
  /** JSON text; null if there are no tools. */
  readonly tools: string | null
  /** By the id of the call. */
  readonly toolCalls: ReadonlyMap<string, { readonly arguments: string; readonly result: string | null }>
}

export interface TracedMessage {
  readonly role: string
  readonly parts: readonly TracedPart[]
}

/** In the form of the GenAI conventions. Media are replaced by a note of what they were. */
export type TracedPart =
  | { readonly type: 'text' | 'reasoning'; readonly content: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'tool_call_response'; readonly id: string; readonly response: string }
