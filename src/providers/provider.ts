/**
 * A provider adapter is a function that sends one attempt and yields what comes back, in the language of the
 * middle. One adapter serves a dialect, not a vendor: vendors are rows of data.
 */
import type { Call } from '../canonical/call.ts'
import type { TakeFrames } from '../canonical/event.ts'
import type { Part } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import type { Clock } from '../lib/clock.ts'
import type { Turn } from '../lib/steps.ts'
import type { LearntRoleRules } from './role-rules.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'

/** Where an attempt goes: one provider's own name for a model, its address and a credential for it. */
export interface Target {
  /** Our slug of the provider and the name shown for it. */
  readonly provider: string
  readonly providerName: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** Our id of the model, and the provider's. */
  readonly modelId: string
  readonly upstreamModel: string
  /** A client wrote it: it is one segment of a path at most. */
  readonly unlisted?: boolean
  /** Requests may name what is stored in the account behind the key: it is the customer’s own, or the operator allows it. */
  readonly storedObjects?: boolean
  /** The kinds that the model reads (`text`, `audio`); absent or null where it is not known. */
  readonly inputModalities?: readonly string[] | null
  /** The most output tokens that this endpoint gives, where it is known. */
  readonly maxCompletionTokens: number | null
  /** The most tokens of input and output together; absent or null where it is not known. */
  readonly contextLength?: number | null
}

export interface Attempt {
  readonly call: Call
  readonly target: Target
  /** 0 for the first attempt of a request. */
  readonly number: number
  /** Called with what the translation to this provider loses; throws where the request is strict. */
  readonly warn: (warning: Warning) => void
  /** Our id of the model that signed a piece of thinking; null where it is not known. */
  readonly makerOf?: ProofMakers['makerOf'] | undefined
  /** Aborted, with a GatewayError for reason, when the client is gone or time has run out; an adapter's own deadlines abort it too. */
  readonly connection: AbortController
}

export interface ProviderContext {
  readonly upstream: Upstream
  readonly clock: Clock
  /** Lets others have their turn between two steps of the work on a large request. Absent: no other work waits. */
  readonly turn?: Turn | undefined
  /**
   * Called with each body before it goes to a provider, and awaited: until then a failure is our own refusal. The upstream
   * calls it for every adapter that has one. What it throws ends the attempt.
   */
  readonly sending?: ((body: UpstreamRequest['body']) => void | Promise<void>) | undefined
  /** Fetches what a request names by its address, where the operator allows that. */
  readonly loadMedia?: LoadMedia | undefined
  /** Absent: no maker is known. */
  readonly proofMakers?: ProofMakers | undefined
  /** Absent: every request learns anew. */
  readonly roleRules?: LearntRoleRules | undefined
}

/**
 * Hands over frames in batches as they arrive; a whole answer is one batch. Resolves when the answer is complete. Rejects with
 * a GatewayError for every failure, also in the middle, and where the upstream ends without having finished; then, and
 * where `take` throws, the upstream is closed.
 */
export type ProviderAdapter = (attempt: Attempt, context: ProviderContext, take: TakeFrames) => Promise<void>

/** A provider's own count of a request's input tokens. Throws a GatewayError for every failure. */
export type TokenCounter = (attempt: Attempt, context: ProviderContext) => Promise<number>

export type Media = Extract<Part, { type: 'image' | 'file' | 'video' }>

/** Answers with a data: URL of at most `maxBytes` bytes. Throws UnsafeRequest. */
export type LoadMedia = (media: Media, limits: { readonly maxBytes: number; readonly signal: AbortSignal }) => Promise<string>

export interface ProofMakers {
  /** Our id of the model; null where it is not known. */
  makerOf(proof: string): string | null
  remember(proof: string, model: string): void
}
