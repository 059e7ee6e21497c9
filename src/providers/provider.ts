/**
 * A provider adapter is a function that sends one attempt and passes on what comes back in the canonical form. One adapter serves a
 * dialect, not a vendor: vendors are rows of data.
 */
import type { Call } from '../canonical/call.ts'
import type { TakeFrames } from '../canonical/event.ts'
import type { Part } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import type { Clock } from '../lib/clock.ts'
import type { Turn } from '../lib/steps.ts'
import type { AnswerSpace } from './transport/answer-room.ts'
import type { RefusedProofs } from './thinking/refused-proofs.ts'
import type { LearntRoleRules } from './roles/role-rules.ts'
import type { Upstream, UpstreamRequest } from './transport/upstream.ts'

/** The destination of an attempt: one provider's own name for a model, its address and a credential for it. */
export interface Target {
  /** Our slug of the provider and the name shown for it. */
  readonly provider: string
  readonly providerName: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Our id of the model, and the provider's. */
  readonly modelId: string
  readonly upstreamModel: string
  /** A client wrote `upstreamModel`, so it may be at most one segment of a path. */
  readonly unlisted?: boolean
  /** Requests may name what is stored in the account behind the key: it is the customer’s own, or the operator allows it. */
  readonly storedObjects?: boolean
  /** The kinds of input that the model reads (`text`, `audio`); absent or null if unknown. */
  readonly inputModalities?: readonly string[] | null
  /** The most output tokens that this endpoint gives, if known. */
  readonly maxCompletionTokens: number | null
  /** The most calls of the provider's own tools that are held for; absent or null if the request may say. */
  readonly maxToolCalls?: number | null
  /** The most tokens of input and output together; absent or null if unknown. */
  readonly contextLength?: number | null
}

export interface Attempt {
  readonly call: Call
  readonly target: Target
  /** 0 for the first attempt of a request. */
  readonly number: number
  /** Called with each loss of the translation to this provider; throws if the request is strict. */
  readonly warn: (warning: Warning) => void
  /** Returns our id of the model that signed a piece of thinking; null if unknown. */
  readonly makerOf?: ProofMakers['makerOf'] | undefined
  /** Aborted, with a GatewayError as its reason, when the client is gone or time has run out; an adapter's own deadlines abort it too. */
  readonly connection: AbortController
}

export interface ProviderContext {
  readonly upstream: Upstream
  readonly clock: Clock
  /** Lets other requests have their turn between two steps of the work on a large request. Absent: no other work waits. */
  readonly turn?: Turn | undefined
  /**
   * Called with each body before it is sent to a provider, and awaited: until then a failure is our own refusal. The upstream calls it for
   * every adapter that uses one. An error that it throws ends the attempt.
   */
  readonly sending?: ((body: UpstreamRequest['body']) => void | Promise<void>) | undefined
  /** Fetches media that a request names by its address, if the operator allows that. */
  readonly loadMedia?: LoadMedia | undefined
  /** Counts the bytes of a whole answer while they are kept. Absent: only the answer's own limit holds. */
  readonly answerSpace?: AnswerSpace | undefined
  /** Absent: no maker is known. */
  readonly proofMakers?: ProofMakers | undefined
  /** Absent: no rules are remembered between requests. */
  readonly roleRules?: LearntRoleRules | undefined
  /** Absent: no refused proof is remembered between requests. */
  readonly refusedProofs?: RefusedProofs | undefined
}

/**
 * Passes on frames in batches as they arrive; a whole answer is one batch. Resolves when the answer is complete. Rejects with a
 * GatewayError for every failure, also in the middle of an answer, and if the upstream ends before the answer is complete. If it rejects,
 * or if `take` throws, the upstream is closed.
 */
export type ProviderAdapter = (attempt: Attempt, context: ProviderContext, take: TakeFrames) => Promise<void>

/** Returns a provider's own count of a request's input tokens, and null where it has none. Throws a GatewayError for every failure. */
export type TokenCounter = (attempt: Attempt, context: ProviderContext) => Promise<number | null>

export type Media = Extract<Part, { type: 'image' | 'file' | 'video' }>

/** Returns a data: URL of at most `maxBytes` bytes. Throws UnsafeRequest. */
export type LoadMedia = (media: Media, limits: { readonly maxBytes: number; readonly signal: AbortSignal }) => Promise<string>

export interface ProofMakers {
  /** Returns our id of the model; null if unknown. */
  makerOf(proof: string): string | null
  remember(proof: string, model: string): void
}
